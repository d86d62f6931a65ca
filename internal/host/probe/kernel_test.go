package probe

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/perf"
	"github.com/tarelab/tare/internal/testing/testneed"
)

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

// TestWritesAreBlockIO uses a loop device: version 1 counts by group only on a disk with a
// limit for some group, and goes on when the limit is gone.
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

// dropCache writes a file out and drops its pages from the cache, which would stay charged to
// this process.
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
		if v := values[name]; !strings.Contains(said.English(v.Reason()), "ended") && v.Reason() != noneLeft {
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
		if errors.Is(err, perf.ErrNone) {
			r, err = hardware{}.count(target, perf.TaskClock, perf.ContextSwitches)
		}
		if errors.Is(err, errNothing) {
			continue
		}
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
