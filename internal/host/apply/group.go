package apply

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/record"
)

// groupThing is a control group whose owner is whoever made it: the kernel's files are the interface.
type groupThing struct {
	path string
	dirs cgroup.Group
}

// managed are paths of groups with an owner that writes the files itself, with the target to use instead.
var managed = [...]struct {
	path    *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(^|/)kubepods`), "pod:NAMESPACE/NAME"},
	{regexp.MustCompile(`(^|[/-])[0-9a-f]{64}(\.scope)?$`), "container:NAME"},
	{regexp.MustCompile(`\.(service|scope|slice)$`), "unit:NAME"},
}

func openGroup(path string) (groupThing, error) {
	tree, err := cgroup.Detect("/")
	if err != nil {
		return groupThing{}, err
	}
	path = belowMount(tree, path)
	if path = filepath.Clean("/" + path); path == "/" {
		return groupThing{}, hint.New(errors.New(rootGroup), seeGroups)
	}
	for _, m := range managed {
		if m.path.MatchString(path) && !strings.HasPrefix(filepath.Base(path), cgroup.Prefix) {
			return groupThing{}, hint.New(errors.New(ownedGroup(path)), m.instead)
		}
	}
	g := groupAt(tree, func(string) string { return path })
	if len(g.Dirs) == 0 {
		return groupThing{path: path}, noTarget(seeGroups, noGroup, path)
	}
	g.Path = path
	return groupThing{path, g}, nil
}

// belowMount is a path below a hierarchy, for a path in the file system.
func belowMount(tree *cgroup.Tree, path string) string {
	points := []string{tree.V2}
	for _, p := range tree.V1 {
		points = append(points, p)
	}
	slices.SortFunc(points, func(a, b string) int { return len(b) - len(a) })
	for _, p := range points {
		if rest, ok := strings.CutPrefix(path, p+"/"); ok && p != "" {
			return rest
		}
	}
	return path
}

// groupAt is a group that exists, with the directories that are there; of gives the path in the hierarchy of a
// controller.
func groupAt(tree *cgroup.Tree, of func(controller string) string) cgroup.Group {
	g := cgroup.Group{Tree: tree, Dirs: map[string]string{}}
	add := func(controller, point, path string) {
		dir := filepath.Join(point, path)
		if info, err := os.Stat(dir); point != "" && path != "" && path != "/" && err == nil && info.IsDir() {
			g.Dirs[controller] = dir
		}
	}
	for controller, point := range tree.V1 {
		add(controller, point, of(controller))
	}
	add(cgroup.Unified, tree.V2, of(""))
	if dir := g.Dirs[cgroup.Unified]; dir != "" {
		for _, c := range []string{"cpu", "cpuset", "io", "memory", "pids"} {
			if tree.V1[c] == "" && (c != "io" || tree.V1["blkio"] == "") {
				g.Dirs[c] = dir
			}
		}
	}
	return g
}

// controlFile is a file of a group.
type controlFile struct{ in, name string }

// fileNames are the controller of a key and its files in version 2 and 1.
func fileNames() map[record.SettingKey][3]string {
	return map[record.SettingKey][3]string{
		record.KeyCPUIdle: {"cpu", "cpu.idle", "cpu.idle"}, record.KeyCPUWeight: {"cpu", "cpu.weight", "cpu.shares"},
		record.KeyCPUMax: {"cpu", "cpu.max", "cpu.cfs_quota_us"}, record.KeyCPUBurst: {"cpu", "cpu.max.burst", "cpu.cfs_burst_us"},
		record.KeyCPUSet: {"cpuset", "cpuset.cpus", "cpuset.cpus"}, record.KeyMemoryMax: {"memory", "memory.max", "memory.limit_in_bytes"},
		record.KeyMemoryHigh: {"memory", "memory.high", ""}, record.KeyIOWeight: {"io", "io.weight", ""},
	}
}

// fileOf is the file with a setting.
func fileOf(g cgroup.Group, key record.SettingKey) (controlFile, bool) {
	v2 := func(controller string) bool { return g.Dirs[controller] == g.Dirs[cgroup.Unified] }
	n, ok := fileNames()[key]
	if !ok || g.Dirs[n[0]] == "" {
		return controlFile{}, false
	}
	name := n[1]
	if !v2(n[0]) {
		name = n[2]
	}
	if name == "" {
		return controlFile{}, false
	}
	_, err := os.Stat(filepath.Join(g.Dirs[n[0]], name))
	return controlFile{n[0], name}, err == nil
}

func (t groupThing) change(_ context.Context, s record.RemedySetting) (Step, error) {
	if err := never(s.Key); err != nil {
		return Step{}, err
	}
	f, ok := fileOf(t.dirs, s.Key)
	if !ok {
		return Step{}, errors.New(noFile)
	}
	path := filepath.Join(t.dirs.Dirs[f.in], f.name)
	if err := unix.Access(path, unix.W_OK); err != nil {
		return Step{}, hint.New(fmt.Errorf("%s: %w", path, err), asOwner)
	}
	from, err := t.dirs.Read(f.in, f.name)
	if err != nil {
		return Step{}, err
	}
	out := Step{Name: f.name, In: f.in, From: from, Back: from, Same: t.same(f.in)}
	if out.To, err = t.text(f, s); err != nil {
		return Step{}, err
	}
	return out, t.wayBack(&out, s.Key)
}

// wayBack completes what takes a step back.
func (t groupThing) wayBack(s *Step, key record.SettingKey) error {
	switch {
	case key == record.KeyCPUSet && s.From == "": // the kernel takes no empty list while processes are in the group
		all, err := t.dirs.Read(s.In, s.Name+".effective")
		if err != nil {
			return err
		}
		s.Back = all
	case key == record.KeyCPUIdle:
		weight, _ := fileOf(t.dirs, record.KeyCPUWeight)
		text, err := t.dirs.Read(weight.in, weight.name)
		if err != nil {
			return err
		}
		if s.From == "0" {
			s.Then = text
		}
	case key == record.KeyMemoryMax:
		return fitsMemory(t.dirs, s.To)
	}
	return nil
}

// fitsMemory refuses a limit below the memory in use: the kernel would kill processes, which no one takes back.
func fitsMemory(g cgroup.Group, to string) error {
	file := "memory.current"
	if g.Dirs["memory"] != g.Dirs[cgroup.Unified] {
		file = "memory.usage_in_bytes"
	}
	limit, err := strconv.ParseInt(to, 10, 64)
	if err != nil || limit < 0 {
		return nil
	}
	text, err := g.Read("memory", file)
	if err != nil {
		return err
	}
	if used, err := strconv.ParseInt(text, 10, 64); err != nil || used > limit {
		return errors.New(wouldKill(text))
	}
	return nil
}

// text is a value in the words of a file.
func (t groupThing) text(f controlFile, s record.RemedySetting) (string, error) {
	removed := s.Value == ""
	x, err := strconv.ParseFloat(s.Value, 64)
	numeric := s.Key != record.KeyCPUSet
	if !removed && numeric && err != nil {
		return "", fmt.Errorf("value %q: %w", s.Value, err)
	}
	switch s.Key {
	case record.KeyCPUMax, record.KeyCPUBurst:
		_, period, err := quotaOf(t.dirs, "")
		if err != nil {
			return "", err
		}
		n := strconv.FormatInt(int64(math.Round(x*float64(period))), 10)
		switch {
		case f.name == "cpu.max" && removed:
			return fmt.Sprint("max ", period), nil
		case f.name == "cpu.max":
			return fmt.Sprint(n, " ", period), nil
		case removed && s.Key == record.KeyCPUMax:
			return "-1", nil
		}
		return n, nil
	case record.KeyCPUWeight:
		if removed {
			x = 100
		}
		if f.name == "cpu.shares" {
			return strconv.FormatUint(cgroup.Shares(uint64(x)), 10), nil
		}
	case record.KeyIOWeight:
		if removed {
			x = 100
		}
		return fmt.Sprintf("default %d", int(x)), nil
	case record.KeyMemoryMax, record.KeyMemoryHigh:
		if removed && f.name == "memory.limit_in_bytes" {
			return strconv.FormatInt(math.MaxInt64/int64(os.Getpagesize())*int64(os.Getpagesize()), 10), nil
		}
		if removed {
			return "max", nil
		}
		page := int64(os.Getpagesize())
		return strconv.FormatInt(int64(x)/page*page, 10), nil
	case record.KeyCPUSet:
		if removed {
			return "", errors.New(noEmptyList)
		}
		return s.Value, nil
	}
	return strconv.FormatInt(int64(x), 10), nil
}

// same is the identity of the group's directory.
func (t groupThing) same(controller string) string {
	info, err := os.Stat(t.dirs.Dirs[controller])
	if err != nil {
		return ""
	}
	return fmt.Sprintf("inode %d of %s", info.Sys().(*syscall.Stat_t).Ino, t.path)
}

func (t groupThing) read(_ context.Context, s Step) (string, error) {
	if t.same(s.In) != s.Same {
		return "", errGone
	}
	text, err := t.dirs.Read(s.In, s.Name)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENODEV) {
		return "", errGone
	}
	return text, err
}

func (t groupThing) write(_ context.Context, s Step, value string) error {
	return t.dirs.Write(s.In, s.Name, value)
}

func (t groupThing) restore(ctx context.Context, s Step) error {
	if err := t.write(ctx, s, s.Back); err != nil || s.Then == "" {
		return err
	}
	weight, ok := fileOf(t.dirs, record.KeyCPUWeight)
	if !ok {
		return nil
	}
	return t.dirs.Write(weight.in, weight.name, s.Then)
}

func (t groupThing) group(context.Context) (cgroup.Group, error) { return t.dirs, nil }
