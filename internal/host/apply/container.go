package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/outside/engine"
	"github.com/tarelab/tare/internal/undo/trust"
	"github.com/tarelab/tare/record"
)

// containerThing is a container of Docker or Podman, which are told by their command update.
type containerThing struct {
	engine engine.Engine
	name   string
}

// findContainer asks the engines of this host which of them has a container.
func findContainer(ctx context.Context, t Target) (containerThing, error) {
	var have []containerThing
	var errs []error
	for _, e := range engine.Here() {
		if t.Kind != kindContainer && t.Kind != e.Name() {
			continue
		}
		_, err := e.Resources(ctx, t.Name)
		switch {
		case err == nil:
			have = append(have, containerThing{e, t.Name})
		case !errors.Is(err, engine.ErrNone):
			errs = append(errs, err)
		}
	}
	switch {
	case len(have) == 1:
		return have[0], nil
	case len(have) > 1:
		return containerThing{}, hint.New(errors.New(bothEngines(t.Name)), fmt.Sprintf("docker:%s or podman:%s", t.Name, t.Name))
	case len(errs) > 0:
		return containerThing{}, fmt.Errorf("no container %s: %w", t.Name, errors.Join(errs...))
	}
	return containerThing{}, noTarget(seeContainers, "no container %s", t.Name)
}

// openContainer opens a container of a step, whose engine is at owner.
func openContainer(t Target, owner string) (containerThing, error) {
	if filepath.IsAbs(owner) {
		if err := trust.Program(owner, t.Kind+" update "+t.Name); err != nil {
			return containerThing{}, err
		}
	}
	e, err := engine.Open(t.Kind, owner)
	return containerThing{e, t.Name}, err
}

// The flags of update, which are also the names of the settings.
const (
	flagCPUs   = "--cpus"
	flagQuota  = "--cpu-quota"
	flagShares = "--cpu-shares"
	flagSet    = "--cpuset-cpus"
	flagMemory = "--memory"
)

// flagNames are the flags of a key.
func flagNames() map[record.SettingKey][]string {
	return map[record.SettingKey][]string{
		record.KeyCPUMax: {flagCPUs, flagQuota}, record.KeyCPUWeight: {flagShares}, record.KeyCPUSet: {flagSet}, record.KeyMemoryMax: {flagMemory},
	}
}

const usualPeriod = 100_000 // microseconds

func (t containerThing) change(ctx context.Context, s record.RemedySetting) (Step, error) {
	if err := never(s.Key); err != nil {
		return Step{}, err
	}
	r, err := t.engine.Resources(ctx, t.name)
	if err != nil {
		return Step{}, err
	}
	if err := t.records(ctx); err != nil {
		return Step{}, err
	}
	if !r.Running {
		return Step{}, hint.New(errors.New(notRunning), startIt)
	}
	out := Step{Same: r.ID, Owner: t.engine.Host()}
	if out.Name, out.To, err = flagOf(s, r); err != nil {
		return Step{}, err
	}
	out.From = shownBy(out.Name, r)
	if out.Back, err = t.back(ctx, out, r); err != nil {
		return Step{}, err
	}
	if s.Key == record.KeyMemoryMax {
		g, err := t.group(ctx)
		if err == nil {
			err = fitsMemory(g, s.Value)
		}
		return out, err
	}
	return out, nil
}

// records refuses Podman 4, whose update leaves inspect as it was and removes no quota.
func (t containerThing) records(ctx context.Context) error {
	i, err := t.engine.Info(ctx)
	if err == nil && t.engine.Name() == kindPodman && strings.HasPrefix(i.Version.Version, "4.") {
		return errors.New(noPodman4)
	}
	return err
}

// flagOf is the flag that sets a key, with its value.
func flagOf(s record.RemedySetting, r engine.Resources) (flag, value string, err error) {
	x, err := strconv.ParseFloat(s.Value, 64)
	if s.Value != "" && s.Key != record.KeyCPUSet && err != nil {
		return "", "", fmt.Errorf("value %q: %w", s.Value, err)
	}
	switch s.Key {
	case record.KeyCPUMax:
		if s.Value == "" { // the engine removes no limit: that of all CPUs throttles nothing
			x = float64(cpusHere())
		}
		if r.NanoCpus > 0 {
			return flagCPUs, decimal(x), nil
		}
		if s.Value == "" {
			return flagQuota, "", nil
		}
		period := int64(usualPeriod)
		if r.CPUPeriod > 0 {
			period = r.CPUPeriod
		}
		return flagQuota, fmt.Sprint(int64(math.Round(x*float64(period))), " ", period), nil
	case record.KeyCPUWeight:
		if s.Value == "" {
			x = 100
		}
		return flagShares, strconv.FormatInt(sharesOf(x), 10), nil
	case record.KeyCPUSet:
		if s.Value != "" {
			return flagSet, s.Value, nil
		}
		return "", "", errors.New(noRemoveLimit)
	case record.KeyMemoryMax:
		if s.Value == "" || r.Memory == 0 || r.MemorySwap > 0 && r.MemorySwap < int64(x) {
			return "", "", errors.New(noRemoveLimit)
		}
		return flagMemory, strconv.FormatInt(int64(x), 10), nil
	}
	return "", "", errors.New(noUpdate)
}

// sharesOf is a weight in the unit of version 1. With version 2 the OCI runtime turns it into a weight:
// 1 + (shares - 2) * 9999 / 262142.
func sharesOf(weight float64) int64 {
	if onlyV2() {
		return 2 + int64(math.Ceil((weight-1)*262142/9999))
	}
	return int64(cgroup.Shares(uint64(weight)))
}

// onlyV2 says whether control groups have version 2 alone.
func onlyV2() bool {
	tree, err := cgroup.Detect("/")
	return err == nil && tree.Layout == cgroup.V2
}

func cpusHere() int {
	b, err := proc.FS("/").Text("proc/stat")
	if err != nil {
		return 1
	}
	return proc.CPUs(b)
}

// shownBy is what inspect shows for a flag; empty: the engine's default.
func shownBy(flag string, r engine.Resources) string {
	number := func(n int64) string {
		if n <= 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	switch flag {
	case flagCPUs:
		return decimal(float64(r.NanoCpus) / 1e9)
	case flagQuota:
		if r.CPUQuota <= 0 {
			return ""
		}
		period := r.CPUPeriod
		if period == 0 {
			period = usualPeriod
		}
		return fmt.Sprint(r.CPUQuota, " ", period)
	case flagShares:
		return number(r.CPUShares)
	case flagMemory:
		return number(r.Memory)
	}
	return r.CPUSet
}

// back is what takes a step back. The engine takes no default, so the same value is written out.
func (t containerThing) back(ctx context.Context, s Step, r engine.Resources) (string, error) {
	if s.From != "" || s.Name == flagQuota {
		return s.From, nil
	}
	switch s.Name {
	case flagShares:
		return strconv.FormatInt(sharesOf(100), 10), nil
	case flagSet:
		g, err := t.group(ctx)
		if err != nil {
			return "", err
		}
		file := "cpuset.cpus.effective"
		if g.Dirs["cpuset"] != g.Dirs[cgroup.Unified] {
			file = "cpuset.cpus"
		}
		return g.Read("cpuset", file)
	}
	return "", errors.New(noRemoveLimit)
}

func (t containerThing) read(ctx context.Context, s Step) (string, error) {
	r, err := t.engine.Resources(ctx, t.name)
	if errors.Is(err, engine.ErrNone) || err == nil && r.ID != s.Same {
		return "", errGone
	}
	return shownBy(s.Name, r), err
}

func (t containerThing) write(ctx context.Context, s Step, value string) error {
	if s.Name != flagQuota {
		return t.engine.Update(ctx, t.name, s.Name, value)
	}
	// Without the period, which no update removes, and which excludes a later --cpus.
	quota, _, _ := strings.Cut(value, " ")
	return t.engine.Update(ctx, t.name, flagQuota, cmp.Or(quota, "-1"))
}

func (t containerThing) restore(ctx context.Context, s Step) error { return t.write(ctx, s, s.Back) }

func (t containerThing) group(ctx context.Context) (cgroup.Group, error) {
	r, err := t.engine.Resources(ctx, t.name)
	if err != nil {
		return cgroup.Group{}, err
	}
	return groupOf(r.Pid)
}

// groupOf is the control group of a process.
func groupOf(pid int) (cgroup.Group, error) {
	tree, err := cgroup.Detect("/")
	if err != nil {
		return cgroup.Group{}, err
	}
	in, err := proc.FS("/").Cgroups(strconv.Itoa(pid))
	if err != nil {
		return cgroup.Group{}, err
	}
	g := groupAt(tree, func(c string) string { return in[c] })
	g.Path = in["cpu"]
	return g, nil
}
