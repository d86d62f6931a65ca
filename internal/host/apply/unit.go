package apply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/record"
)

// unitThing is a unit of systemd, which is told by systemctl set-property --runtime. A lasting property would
// outlive the timer of its deadline, which a restart of the machine ends.
type unitThing struct {
	name string
}

// properties are the properties of a unit for each key, as in systemctl set-property.
func properties() map[record.SettingKey]string {
	return map[record.SettingKey]string{
		record.KeyCPUIdle: "CPUWeight", record.KeyCPUWeight: "CPUWeight", record.KeyCPUMax: "CPUQuota", record.KeyCPUSet: "AllowedCPUs",
		record.KeyIOWeight: "IOWeight", record.KeyMemoryHigh: "MemoryHigh", record.KeyMemoryMax: "MemoryMax",
	}
}

// systemdRuns says whether systemd is process 1.
func systemdRuns() error {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return hint.New(errors.New(noSystemd), otherTargets)
	}
	return nil
}

// openUnit finds a loaded unit: root's of the system, another user's of the user's own manager.
func openUnit(ctx context.Context, name string) (unitThing, error) {
	if err := systemdRuns(); err != nil {
		return unitThing{}, err
	}
	if !strings.Contains(name, ".") {
		name += ".service"
	}
	t := unitThing{name}
	state, err := t.show(ctx, "LoadState")
	if err != nil {
		return t, err
	}
	if state != "loaded" {
		return t, noTarget(seeUnits, "no unit %s (%s)", name, state)
	}
	return t, nil
}

// manager are the arguments that choose the manager of this user.
func manager() []string {
	if os.Geteuid() == 0 {
		return []string{"--system"}
	}
	return []string{"--user"}
}

func systemctl(ctx context.Context, args ...string) (string, error) {
	return called(ctx, "systemctl", append(manager(), args...)...)
}

// called runs a program of systemd.
func called(ctx context.Context, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var stderr bytes.Buffer
	cmd.Stderr, cmd.Env = &stderr, append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

func (t unitThing) show(ctx context.Context, name string) (string, error) {
	return systemctl(ctx, "show", "--value", "--property", name, "--", t.name)
}

func (t unitThing) change(ctx context.Context, s record.RemedySetting) (Step, error) {
	if err := never(s.Key); err != nil {
		return Step{}, err
	}
	name, ok := properties()[s.Key]
	if !ok {
		return Step{}, errors.New(noUnitBurst)
	}
	if state, err := t.show(ctx, "ActiveState"); err != nil || state != "active" {
		return Step{}, errors.Join(err, hint.New(fmt.Errorf("the unit is %s", state), "systemctl start "+t.name))
	}
	out := Step{Name: name, Had: there(t.file(runtimeDir(), name))}
	if lasting := t.file(lastingDir(), name); there(lasting) {
		return Step{}, errors.New(wins(lasting))
	}
	var err error
	if out.From, err = t.read(ctx, out); err != nil {
		return Step{}, err
	}
	out.Back = out.From
	if out.To, err = unitValue(s); err != nil {
		return Step{}, err
	}
	if s.Key == record.KeyMemoryMax {
		g, err := t.group(ctx)
		if err == nil {
			err = fitsMemory(g, out.To)
		}
		return out, err
	}
	return out, nil
}

// unitValue is a value as read shows it.
func unitValue(s record.RemedySetting) (string, error) {
	switch {
	case s.Key == record.KeyCPUIdle && s.Value == "1":
		return "idle", nil
	case s.Key == record.KeyCPUIdle:
		return "100", nil
	case s.Value == "" && (s.Key == record.KeyCPUWeight || s.Key == record.KeyIOWeight):
		return "100", nil // the default, which the kernel shows too
	case s.Value == "" || s.Key == record.KeyCPUSet:
		return s.Value, nil
	}
	x, err := strconv.ParseFloat(s.Value, 64)
	switch s.Key {
	case record.KeyCPUMax:
		return decimal(x), err
	case record.KeyMemoryMax, record.KeyMemoryHigh:
		page := int64(os.Getpagesize())
		return strconv.FormatInt(int64(x)/page*page, 10), err
	}
	return strconv.FormatInt(int64(x), 10), err
}

// file is the file of set-property for a property.
func (t unitThing) file(dir, name string) string {
	return filepath.Join(dir, t.name+".d", "50-"+name+".conf")
}

func runtimeDir() string {
	if os.Geteuid() == 0 {
		return "/run/systemd/system.control"
	}
	return filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "systemd/user.control")
}

func lastingDir() string {
	if os.Geteuid() == 0 {
		return "/etc/systemd/system.control"
	}
	dir, _ := os.UserConfigDir()
	return filepath.Join(dir, "systemd/user.control")
}

func there(path string) bool { _, err := os.Stat(path); return err == nil }

// read is a property: a number, CPUs, a list, idle, or empty for the default.
func (t unitThing) read(ctx context.Context, s Step) (string, error) {
	state, err := t.show(ctx, "LoadState")
	if err != nil {
		return "", err
	}
	if state == "not-found" {
		return "", errGone
	}
	name := s.Name
	if name == "CPUQuota" {
		name = "CPUQuotaPerSecUSec"
	}
	text, err := t.show(ctx, name)
	return canonical(s.Name, text), err
}

// canonical is a value of systemctl show without systemd's words for defaults.
func canonical(name, text string) string {
	switch text {
	case "infinity", "[not set]", "18446744073709551615":
		return ""
	case "0":
		if name == "CPUWeight" {
			return "idle"
		}
	}
	switch name {
	case "CPUQuota":
		if d, err := time.ParseDuration(strings.NewReplacer(" ", "", "min", "m").Replace(text)); err == nil {
			return decimal(d.Seconds())
		}
	case "AllowedCPUs":
		return strings.Join(strings.Fields(text), ",")
	}
	return text
}

// assignment is a value for set-property.
func assignment(name, value string) string {
	if x, err := strconv.ParseFloat(value, 64); name == "CPUQuota" && err == nil {
		value = strconv.FormatFloat(100*x, 'f', -1, 64) + "%"
	}
	return name + "=" + value
}

func (t unitThing) write(ctx context.Context, s Step, value string) error {
	if _, err := systemctl(ctx, "set-property", "--runtime", "--", t.name, assignment(s.Name, value)); err != nil {
		return err
	}
	_, err := systemctl(ctx, "daemon-reload") // a file of the unit's that wins over tare's is seen now
	return err
}

// restore sets the earlier value, then removes the file that set-property made.
func (t unitThing) restore(ctx context.Context, s Step) error {
	if s.Name == "AllowedCPUs" && s.Back == "" {
		if err := t.allCPUs(ctx); err != nil {
			return err
		}
	} else if _, err := systemctl(ctx, "set-property", "--runtime", "--", t.name, assignment(s.Name, s.Back)); err != nil {
		return err
	}
	if file := t.file(runtimeDir(), s.Name); !s.Had {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		_ = os.Remove(filepath.Dir(file)) // fails while it has other files
	}
	_, err := systemctl(ctx, "daemon-reload")
	return err
}

// allCPUs sets all CPUs of the parent group: the kernel takes no empty list while processes are in the group.
func (t unitThing) allCPUs(ctx context.Context) error {
	g, err := t.group(ctx)
	if err != nil {
		return err
	}
	all, err := os.ReadFile(filepath.Join(filepath.Dir(g.Dirs["cpuset"]), "cpuset.cpus.effective"))
	if err != nil {
		return err
	}
	_, err = systemctl(ctx, "set-property", "--runtime", "--", t.name, assignment("AllowedCPUs", strings.TrimSpace(string(all))))
	return err
}

func (t unitThing) group(ctx context.Context) (cgroup.Group, error) {
	path, err := t.show(ctx, "ControlGroup")
	if err != nil {
		return cgroup.Group{}, err
	}
	tree, err := cgroup.Detect("/")
	if err != nil {
		return cgroup.Group{}, err
	}
	g := groupAt(tree, func(string) string { return path })
	g.Path = path
	return g, nil
}
