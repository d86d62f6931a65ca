package ungrouped

import (
	"os"
	"strconv"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/testing/launchtest"
	"github.com/tarelab/tare/internal/testing/testneed"
)

func TestMain(m *testing.M) { os.Exit(launchtest.Main(m, Process{})) }

func TestArm(t *testing.T) {
	testneed.Root(t)
	launchtest.Arm(t, Process{}, false)
}

func TestKilled(t *testing.T) {
	testneed.Root(t)
	launchtest.Killed(t, Process{})
}

// The process is in the root group of every controller; only the groups that freeze and observe are
// tare's.
func TestRootGroup(t *testing.T) {
	testneed.Root(t)
	a := launchtest.Open(t, Process{}, nil)
	p, _ := launchtest.Start(t, a, environment.Process{})
	pid := strconv.Itoa(p.Pid())
	group, err := cgroup.CPUGroup("/", pid)
	if err != nil || group != "/" && group != "" {
		t.Errorf("it competes for CPUs in %q, %v; want the root group", group, err)
	}
	all, err := proc.FS("/").Cgroups(pid)
	if err != nil {
		t.Fatal(err)
	}
	for controller, group := range all {
		if group != "/" && controller != "" && controller != "freezer" {
			t.Errorf("%s: it is in %s", controller, group)
		}
	}
	if len(a.Place().Group.Controllers) > 0 {
		t.Errorf("its group has %v", a.Place().Group.Controllers)
	}
}
