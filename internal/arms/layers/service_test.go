package layers

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/testing/launchtest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// The host is a service: two groups deep, of the default weight, without limits, with the controllers of
// the host's services. Only the rung cgroup has limits.
func TestHostIsAService(t *testing.T) {
	testneed.Root(t)
	tree, err := cgroup.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	want := tree.ServiceControllers()
	if !slices.Contains(want, "cpu") {
		testneed.Feature(t, "cpu controller of services", os.ErrNotExist)
	}
	var run string
	a := launchtest.Open(t, Host, func(s *environment.Spec) { run = s.Run })
	p, _ := launchtest.Start(t, a, environment.Process{})
	g := a.Place().Group
	if g.Path != "tare-"+run+"-host.parent/host" || !slices.Equal(g.Controllers, want) {
		t.Errorf("group %s with %v, want tare-%s-host.parent/host with %v", g.Path, g.Controllers, run, want)
	}
	if in, err := cgroup.CPUGroup("/", strconv.Itoa(p.Pid())); err != nil || !strings.HasSuffix(in, "/"+g.Path) {
		t.Errorf("the process competes in %q, %v; want %s", in, err, g.Path)
	}
	file, weight := "cpu.shares", "1024"
	if tree.Version("cpu") == 2 {
		file, weight = "cpu.weight", "100"
	}
	for _, dir := range []string{g.Dirs["cpu"], g.Dirs["cpu"] + "/.."} {
		if b, err := os.ReadFile(dir + "/" + file); err != nil || strings.TrimSpace(string(b)) != weight {
			t.Errorf("%s/%s is %q, %v; want %s", dir, file, b, err, weight)
		}
	}
	limit := func(a environment.OpenArm) string {
		all, err := a.Settings()
		if err != nil {
			t.Error(err)
		}
		i := slices.IndexFunc(all, func(s record.Setting) bool { return s.Name == "memory.limit" })
		if i < 0 {
			return "no memory controller"
		}
		return all[i].Got
	}
	if got := limit(a); got != "none" {
		t.Errorf("memory limit of the host: %s", got)
	}
	if got := limit(launchtest.Open(t, Cgroup, nil)); got == "none" {
		t.Error("the rung cgroup has no limit")
	}
	if as := launch.RunsAs(tree); as != record.AsService {
		t.Errorf("the plan says %s", as)
	}
}

// Without groups the host has a session of its own, as all arms have.
func TestOrdinaryHostHasASession(t *testing.T) {
	launchtest.AsOrdinary(t, func(t *testing.T) {
		a := launchtest.Open(t, Host, nil)
		p, _ := launchtest.Start(t, a, environment.Process{})
		if sid, err := unix.Getsid(p.Pid()); err != nil || sid != p.Pid() {
			t.Errorf("process %d is in session %d: %v", p.Pid(), sid, err)
		}
		if as := launch.RunsAs(nil); as != record.AsSession {
			t.Errorf("the plan says %s", as)
		}
		mine, err := proc.FS("/").Autogroup(os.Getpid())
		if err != nil {
			return // this kernel has no autogroups
		}
		if its, err := proc.FS("/").Autogroup(p.Pid()); err != nil || its.ID == mine.ID {
			t.Errorf("autogroup %+v, %v; the test is in %+v", its, err, mine)
		}
	})
}
