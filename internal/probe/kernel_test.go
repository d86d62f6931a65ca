package probe

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/testneed"
	"github.com/tarelab/tare/record"
)

// loadEnv makes the test binary a load instead: a kind, and a directory.
const loadEnv = "TARE_PROBE_LOAD"

func TestMain(m *testing.M) {
	if kind := os.Getenv(loadEnv); kind != "" {
		_, _ = io.ReadFull(os.Stdin, make([]byte, 1)) // until it is in its group
		load(kind, os.Getenv("TARE_PROBE_DIR"))
	}
	os.Exit(m.Run())
}

// load does one thing until it is killed.
func load(kind, dir string) {
	switch kind {
	case "idle":
		time.Sleep(time.Hour)
	case "spin":
		for i := 0; ; i++ {
		}
	case "spin two on one CPU":
		var one unix.CPUSet
		one.Set(0)
		for range 2 {
			go func() {
				runtime.LockOSThread()
				_ = unix.SchedSetaffinity(0, &one)
				for i := 0; ; i++ {
				}
			}()
		}
		time.Sleep(time.Hour)
	case "sleep often":
		for {
			time.Sleep(100 * time.Microsecond)
		}
	case "sync", "sync a device":
		name, flags := filepath.Join(dir, "synced"), os.O_CREATE
		if kind != "sync" {
			name, flags = dir, unix.O_DIRECT
		}
		f, err := os.OpenFile(name, os.O_WRONLY|flags, 0o644)
		page, mapErr := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE) // aligned
		for err = errors.Join(err, mapErr); err == nil; {
			_, err = f.WriteAt(page, 0)
			err = errors.Join(err, unix.Fdatasync(int(f.Fd())))
		}
		panic(err)
	case "read":
		for buf := make([]byte, 1<<20); ; {
			f, err := os.Open(filepath.Join(dir, "big"))
			for err == nil {
				_, err = f.Read(buf)
			}
			f.Close()
		}
	}
	panic("no such load: " + kind)
}

// groupHere makes a group on this machine, in every hierarchy there is.
func groupHere(t testing.TB) cgroup.Group {
	t.Helper()
	testneed.Root(t)
	const fs = "/sys/fs/cgroup"
	name := fmt.Sprintf("tare-probe-%d", os.Getpid())
	tree := &cgroup.Tree{V1: map[string]string{}}
	g := cgroup.Group{Tree: tree, Path: name, Dirs: map[string]string{}}
	add := func(mount string, names ...string) {
		dir := filepath.Join(mount, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			testneed.Feature(t, "control groups", err)
		}
		t.Cleanup(func() { removeGroup(t, dir) })
		for _, n := range names {
			g.Dirs[n] = dir
		}
	}
	if exists(fs + "/cgroup.controllers") {
		add(fs, cgroup.Unified, "cpu", "cpuacct", "memory", "io", "blkio")
		return g
	}
	for _, c := range []string{"cpu", "cpuacct", "memory", "blkio", cgroup.Unified} {
		if mount := filepath.Join(fs, c); exists(filepath.Join(mount, "cgroup.procs")) {
			add(mount, c)
			tree.V1[c] = mount
		}
	}
	return g
}

// removeGroup waits for the kernel to notice that the last process is gone.
func removeGroup(t testing.TB, dir string) {
	var err error
	for range 200 {
		if err = unix.Rmdir(dir); err == nil || err == unix.ENOENT {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("remove %s: %v", dir, err)
}

// set writes a setting of the group and reads it back.
func set(t testing.TB, g cgroup.Group, controller, file, value string) {
	t.Helper()
	path := filepath.Join(g.Dirs[controller], file)
	err := os.WriteFile(path, []byte(value), 0)
	testneed.Feature(t, controller+" control group of version 1", err)
}

// start starts a load in the group and lets it go.
func start(t testing.TB, g cgroup.Group, kind, dir string) (pid int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), loadEnv+"="+kind, "TARE_PROBE_DIR="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for _, d := range g.Dirs {
		if err := os.WriteFile(filepath.Join(d, "cgroup.procs"), []byte(strconv.Itoa(cmd.Process.Pid)), 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := in.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

// grows waits until each of the metrics has grown beyond its bound.
func grows(t *testing.T, target Target, bounds map[string]float64) {
	t.Helper()
	s := open(t, target)
	before := s.Read(nil)
	var values map[string]record.Value
	for range 150 {
		time.Sleep(100 * time.Millisecond)
		values = s.Values(before, s.Read(nil))
		left := 0
		for name, bound := range bounds {
			if x, ok := values[name].Get(); !ok || x <= bound {
				left++
			}
		}
		if left == 0 {
			checkExplained(t, values)
			return
		}
	}
	for name, bound := range bounds {
		t.Errorf("%s is %v after 15 s, want more than %v", name, values[name], bound)
	}
}

func here(g cgroup.Group, pids ...int) Target {
	return Target{Root: "/", Group: g, Pids: pids, Host: true}
}

func TestSpinningIsCPUTime(t *testing.T) {
	g := groupHere(t)
	pid := start(t, g, "spin", "")
	want := map[string]float64{"cpu.time": 0.3, "cpu.user": 0.2, "cpu.turns": 0}
	t.Run("by group", func(t *testing.T) { grows(t, here(g, pid), want) })
	t.Run("by group, processes unknown", func(t *testing.T) { grows(t, here(g), want) })
	t.Run("by process", func(t *testing.T) { grows(t, here(cgroup.Group{}, pid), want) })
	v1 := g
	v1.Dirs = map[string]string{"cpuacct": g.Dirs["cpuacct"], "cpu": g.Dirs["cpu"]}
	t.Run("by cpuacct", func(t *testing.T) {
		testneed.Feature(t, "cpuacct control group of version 1", v1Only(g, "cpuacct"))
		grows(t, here(v1), want)
	})
}

func v1Only(g cgroup.Group, controller string) error {
	_, err := g.Dir(controller)
	if err == nil && g.Dirs[controller] == g.Dirs[cgroup.Unified] {
		err = fmt.Errorf("the %s controller is one of version 2", controller)
	}
	return err
}

func TestStrangersAreForeign(t *testing.T) {
	g := groupHere(t)
	idle := start(t, g, "idle", "")
	start(t, cgroup.Group{}, "spin", "")
	t.Run("by group", func(t *testing.T) { grows(t, here(g, idle), map[string]float64{"cpu.foreign": 0.3}) })
	t.Run("by process", func(t *testing.T) { grows(t, here(cgroup.Group{}, idle), map[string]float64{"cpu.foreign": 0.3}) })
}

func TestQuotaThrottles(t *testing.T) {
	g := groupHere(t)
	if v1Only(g, "cpu") == nil {
		set(t, g, "cpu", "cpu.cfs_period_us", "100000")
		set(t, g, "cpu", "cpu.cfs_quota_us", "20000")
	} else {
		set(t, g, "cpu", "cpu.max", "20000 100000")
	}
	pid := start(t, g, "spin", "")
	grows(t, here(g, pid), map[string]float64{"cpu.throttled": 0.1, "cpu.throttled_periods": 2, "cpu.periods": 2})
}

func TestTwoOnOneCPUWait(t *testing.T) {
	g := groupHere(t)
	pid := start(t, g, "spin two on one CPU", "")
	want := map[string]float64{"cpu.wait": 0.2, "cpu.turns": 5, "switches.involuntary": 2}
	if exists(filepath.Join(g.Dirs[cgroup.Unified], "cpu.pressure")) {
		want["pressure.cpu.some"] = 0.2
	}
	t.Run("pids", func(t *testing.T) { grows(t, here(g, pid), want) })
	t.Run("group", func(t *testing.T) { grows(t, here(g), want) })
}

func TestSleepingSwitches(t *testing.T) {
	g := groupHere(t)
	grows(t, here(g, start(t, g, "sleep often", "")), map[string]float64{"switches.voluntary": 50})
}

func TestSyncedWritesReachTheDisk(t *testing.T) {
	g := groupHere(t)
	pid := start(t, g, "sync", onDisk(t))
	grows(t, here(g, pid), map[string]float64{"disk.written": 1 << 16, "disk.flushes": 1, "pressure.io.some": 0})
}

// TestWritesAreBlockIO uses a loop device: version 1 counts by group only on a
// disk on which some group has a limit, and goes on when the limit is gone.
func TestWritesAreBlockIO(t *testing.T) {
	g := groupHere(t)
	device, number := loopDevice(t)
	if v1Only(g, "blkio") == nil {
		set(t, g, "blkio", "blkio.throttle.write_bps_device", number+" 1099511627776")
	}
	pid := start(t, g, "sync a device", device)
	grows(t, here(g, pid), map[string]float64{"io.written": 1 << 16, "io.writes": 16})
}

// loopDevice makes a block device out of a file and gives its number, "7:0".
func loopDevice(t *testing.T) (path, number string) {
	losetup := testneed.Tool(t, "losetup")
	file := filepath.Join(onDisk(t), "image")
	if err := os.WriteFile(file, make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(losetup, "--find", "--show", file).Output()
	testneed.Feature(t, "loop device", err)
	path = strings.TrimSpace(string(out))
	t.Cleanup(func() {
		if out, err := exec.Command(losetup, "--detach", path).CombinedOutput(); err != nil {
			t.Errorf("detach %s: %v: %s", path, err, out)
		}
	})
	b, err := os.ReadFile(filepath.Join("/sys/block", filepath.Base(path), "dev"))
	testneed.Feature(t, "loop device", err)
	return path, strings.TrimSpace(string(b))
}

// onDisk is a directory on a real file system.
func onDisk(t *testing.T) string {
	dir := t.TempDir()
	var st unix.Statfs_t
	err := unix.Statfs(dir, &st)
	if err == nil && st.Type == unix.TMPFS_MAGIC {
		err = fmt.Errorf("%s is a tmpfs: set TMPDIR", dir)
	}
	testneed.Feature(t, "disk", err)
	return dir
}

func TestSmallMemoryRefaults(t *testing.T) {
	g := groupHere(t)
	dir := onDisk(t)
	if err := os.WriteFile(filepath.Join(dir, "big"), make([]byte, 96<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	dropCache(t, filepath.Join(dir, "big"))
	want := map[string]float64{"memory.refaulted": 1 << 20, "memory.limit_hits": 10, "memory.used": 1 << 20}
	if v1Only(g, "memory") == nil {
		set(t, g, "memory", "memory.limit_in_bytes", strconv.Itoa(48<<20))
	} else {
		set(t, g, "memory", "memory.max", strconv.Itoa(48<<20))
		want["memory.reclaimed"], want["memory.scanned"] = 1<<20, 1<<20
	}
	grows(t, here(g, start(t, g, "read", dir)), want)
}

// dropCache writes a file out and has the kernel forget its pages, which would
// stay charged to this process.
func dropCache(t *testing.T, path string) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)); err != nil {
		t.Fatal(err)
	}
}

func TestIdleGroupIsStill(t *testing.T) {
	g := groupHere(t)
	pid := start(t, g, "idle", "")
	time.Sleep(50 * time.Millisecond) // its runtime settles
	s := open(t, here(g, pid))
	before := s.Read(nil)
	time.Sleep(100 * time.Millisecond)
	values := s.Values(before, s.Read(nil))
	checkExplained(t, values)
	for name, bound := range map[string]float64{
		"cpu.time": 0.05, "cpu.throttled": 0, "faults.major": 0,
		"io.read": 0, "io.written": 0, "memory.refaulted": 0, "memory.limit_hits": 0, "memory.oom_kills": 0,
		"pressure.memory.some": 0, "pressure.io.some": 0,
	} {
		if x, ok := values[name].Get(); ok && x > bound {
			t.Errorf("%s of an idle group is %v", name, x)
		}
	}
}

func TestAnEndedProcessIsAReason(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := open(t, here(cgroup.Group{}, cmd.Process.Pid))
	before := s.Read(nil)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	values := s.Values(before, s.Read(nil))
	for _, name := range []string{"cpu.time", "cpu.wait", "switches.voluntary", "faults.minor"} {
		if v := values[name]; !strings.Contains(v.Reason(), "ended") && v.Reason() != noneLeft {
			t.Errorf("%s of an ended process is %v", name, v)
		}
	}
}

func TestReadAllocatesNothing(t *testing.T) {
	g := groupHere(t)
	target := here(g, start(t, g, "spin two on one CPU", ""))
	time.Sleep(50 * time.Millisecond)
	for _, p := range All() {
		r, err := p.Open(target)
		if err != nil {
			t.Errorf("%s: %v", p.Name(), err)
			continue
		}
		dst := make([]float64, 0, 16)
		r.Read(dst)
		if n := testing.AllocsPerRun(50, func() { r.Read(dst) }); n != 0 {
			t.Errorf("%s: %v allocations per reading", p.Name(), n)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	g := groupHere(b)
	target := here(g, start(b, g, "idle", ""))
	time.Sleep(50 * time.Millisecond)
	bench := func(name string, probes []Probe) {
		b.Run(name, func(b *testing.B) {
			s := OpenAll(probes, target)
			defer s.Close()
			dst := make([]float64, 0, 64)
			b.ReportAllocs()
			for b.Loop() {
				dst = s.Read(dst[:0])
			}
		})
	}
	for _, p := range All() {
		bench(p.Name(), []Probe{p})
	}
	bench("all", All())
}
