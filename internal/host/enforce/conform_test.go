package enforce

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// TestMain makes the test binary a process to act on, or the child that the inspection of this
// host starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "__sleep" {
		time.Sleep(time.Minute)
		os.Exit(0)
	}
	if code, ok := hidden.Run(launch.Roles(), os.Args[1:]); ok {
		os.Exit(code)
	}
	if len(os.Args) > 1 && os.Args[1] == launch.GuardCommand {
		os.Exit(launch.GuardMain(steps.Kinds()))
	}
	os.Exit(m.Run())
}

// sides are two groups with a living process each, frozen.
func sides(t *testing.T, h facts.Host, s isolation.Settings) Sides {
	t.Helper()
	make := func(name string, controllers []string) cgroup.Group {
		g, err := h.Groups.Make(fmt.Sprintf("tare-enforce%d-%s", os.Getpid(), name), controllers)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := g.Remove(); err != nil {
				t.Error(err)
			}
		})
		if err := g.Add(sleeper(t)); err != nil {
			t.Fatal(err)
		}
		f, err := g.Freezer()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		if err := f.Freeze(10 * time.Second); err != nil {
			t.Fatal(err)
		}
		return g
	}
	return Sides{Neighbour: make("neighbour", s.Neighbour), Arm: []cgroup.Group{make("arm", s.Arm)}}
}

func sleeper(t *testing.T) int {
	cmd := exec.Command("/proc/self/exe", "__sleep")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd.Process.Pid
}

// state is everything of a side that a mechanism may change.
func state(t *testing.T, at Sides) string {
	var b strings.Builder
	for _, g := range []cgroup.Group{at.Neighbour, at.Arm[0]} {
		for _, dir := range slices.Compact(slices.Sorted(maps.Values(g.Dirs))) {
			files, _ := filepath.Glob(filepath.Join(dir, "*"))
			for _, f := range files {
				switch base := filepath.Base(f); {
				case base == "cpuset.cpus" && exists(f+".effective"): // empty, it says nothing
				case strings.HasPrefix(base, "cpu.") && !strings.Contains(base, "stat") && !strings.Contains(base, "pressure"),
					strings.HasPrefix(base, "cpuset.cpus"), strings.HasSuffix(base, "_device"), strings.HasSuffix(base, ".weight"),
					strings.HasPrefix(base, "memory.") && strings.Contains(base, "limit"),
					slices.Contains([]string{"memory.max", "memory.high", "memory.low", "io.max"}, base):
					text, _ := os.ReadFile(f)
					fmt.Fprintf(&b, "%s: %s\n", f, strings.TrimSpace(string(text)))
				}
			}
		}
		tids, err := g.Threads()
		if err != nil || len(tids) == 0 {
			t.Fatalf("threads %v, %v", tids, err)
		}
		for _, tid := range tids {
			all := isolation.Threads{Turn: &isolation.Turn{}, CPUs: []int{}}
			s, err := readThread(tid, all)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&b, g.Path, s)
		}
	}
	return b.String()
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// Every mechanism that this host has is set, read back, seen in the kernel, and taken back
// without a trace.
func TestConformOnThisKernel(t *testing.T) {
	testneed.Root(t)
	h := inspect.Host("/")
	if h.Groups == nil {
		testneed.Feature(t, "cgroup", fmt.Errorf("%s", h.NoGroups.Reason))
	}
	h.Control.Scheduler = "bfq" // its files are there whichever scheduler is chosen
	for _, m := range isolation.All() {
		d := m.Describe()
		t.Run(d.Name, func(t *testing.T) {
			support := m.Support(h)
			if support.Answer != facts.Yes {
				if support.Reason.IsZero() || support.Answer == facts.No && support.Remedy.IsZero() {
					t.Errorf("a no without reason or remedy: %+v", support)
				}
				t.Skipf("not on this host: %s (%s)", support.Reason, support.Remedy)
			}
			s, err := m.Settings(d.Level.Default, h)
			if err != nil {
				t.Fatal(err)
			}
			at := sides(t, h, s)
			before := state(t, at)
			for range 2 {
				e, err := Set(at, []isolation.Settings{s})
				if err != nil {
					t.Fatal(err)
				}
				got, err := e.Check()
				if err != nil || len(got) != len(s.Files)+len(s.Threads) {
					t.Errorf("read back %+v, %v", got, err)
				}
				if changed := state(t, at) != before; changed != (len(got) > 0) {
					t.Errorf("the kernel shows a change: %v; settings: %+v", changed, got)
				}
				if !s.Live && len(s.Threads) == 0 { // the mechanism needs a launch of its own, so it need not be taken back
					return
				}
				if err := e.Undo(); err != nil {
					t.Fatal(err)
				}
				if after := state(t, at); after != before {
					t.Errorf("left behind: before\n%s\nafter\n%s", before, after)
				}
			}
		})
	}
}

// Check notices that others have changed a setting.
func TestCheckNotices(t *testing.T) {
	testneed.Root(t)
	h := inspect.Host("/")
	m, level, err := isolation.Parse("cpu.weight=5")
	if err != nil {
		t.Fatal(err)
	}
	testneed.Feature(t, "cgroup", unsupported(m.Support(h)))
	s, err := m.Settings(level, h)
	if err != nil {
		t.Fatal(err)
	}
	at := sides(t, h, s)
	e, err := Set(at, []isolation.Settings{s})
	if err != nil {
		t.Fatal(err)
	}
	f := s.Files[0]
	if err := at.Neighbour.Write(f.Controller, f.Name, "333"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Check(); err == nil || !strings.Contains(err.Error(), "did not take") {
		t.Errorf("check: %v", err)
	}
}

func unsupported(s facts.Support) error {
	if s.Answer == facts.Yes {
		return nil
	}
	return fmt.Errorf("%s", s.Reason)
}
