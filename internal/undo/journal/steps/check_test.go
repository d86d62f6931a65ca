package steps

import (
	"testing"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/testing/journaltest"
	"github.com/tarelab/tare/internal/undo/journal"
)

// A plan of the run, changed to do harm.
func groupBut(change func(*cgroup.Plan)) Group {
	p := cgroup.Plan{Dirs: []string{"/sys/fs/cgroup/tare-r"}, Enable: []string{"cpu"}, EnableAt: "/sys/fs/cgroup"}
	change(&p)
	return Group{p}
}

func groups(dirs ...string) Group { return Group{cgroup.Plan{Dirs: dirs}} }

func TestCheckGroup(t *testing.T) {
	own := []journal.Step{
		groups("/sys/fs/cgroup/cpu/tare-r", "/sys/fs/cgroup/cpu/tare-r/host"),
		groups("/sys/fs/cgroup/user.slice/tare-r-plain", "/sys/fs/cgroup/user.slice/tare-r-plain/prepare"),
		groups("/sys/fs/cgroup/kubepods.slice/pod1/c/tare-r"),
		Group{cgroup.Plan{
			Dirs: []string{"/sys/fs/cgroup/tare-r-host.neighbour"}, Enable: []string{"cpu", "net_cls"},
			EnableAt: "/sys/fs/cgroup", Leaf: "/sys/fs/cgroup/tare-self",
			Pinned: []cgroup.Pinned{{TID: 7, Start: 3, CPUs: []int{0, 1023}}},
		}},
	}
	journaltest.Checks(t, own, []journal.Step{
		Group{}, groups("/sys/fs/cgroup/system.slice"), groups("/sys/fs/cgroup/tare-r2/host"), groups("tare-r"),
		groups("/sys/fs/cgroup/tare-r/../system.slice"), groups("/sys/fs/cgroup/tare-r", "/sys/fs/cgroup/user.slice"),
		groups("/sys/fs/cgroup/tare-self"),
		groupBut(func(p *cgroup.Plan) { p.EnableAt = "" }), groupBut(func(p *cgroup.Plan) { p.EnableAt = "/sys/fs/cgroup/system.slice" }),
		groupBut(func(p *cgroup.Plan) { p.EnableAt = "/sys/fs/cgroup/../cgroup" }),
		groupBut(func(p *cgroup.Plan) { p.Leaf = "/sys/fs/cgroup/system.slice" }),
		groupBut(func(p *cgroup.Plan) { p.Enable = []string{"cpu +memory"} }), groupBut(func(p *cgroup.Plan) { p.Enable = []string{""} }),
		groupBut(func(p *cgroup.Plan) { p.Pinned = []cgroup.Pinned{{TID: 1, CPUs: []int{0}}} }),
		groupBut(func(p *cgroup.Plan) { p.Pinned = []cgroup.Pinned{{Start: 1}} }),
		groupBut(func(p *cgroup.Plan) { p.Pinned = []cgroup.Pinned{{TID: 1, Start: 1, CPUs: []int{-1}}} }),
	})
}

func TestCheckPaths(t *testing.T) {
	journaltest.Checks(t, []journal.Step{
		Mount{"/run/tare/tare-r-host.volume"}, Mount{"/var/tmp/tare-r/tare-r-host.volume/mnt"},
		Directory{"/var/tmp/tare-r"}, Directory{"/var/tmp/tare-r/tare-r-host"}, Runtime{"/tmp/tare-r-0badcafe"},
	}, []journal.Step{
		Mount{"/x/tare-r2/mnt"}, Mount{"/x/tare-/mnt"}, Mount{"/x/tare-r/../mnt"}, Mount{"/x/not-tare-r/mnt"}, Mount{"x/tare-r"}, Mount{""},
		Mount{"/home"}, Directory{"/x/tare-r/"}, Directory{"/x/tare-r/../tare-r"}, Directory{"/x/tare-r/.."}, Directory{""},
		Directory{"tare-r"}, Directory{"/x/tare-r2"}, Directory{"/x/tare-r/etc"}, Runtime{"/tmp/tare-r2"}, Runtime{"/tmp"}, Runtime{"tare-r"},
	})
}

// A process has no name with the run's id: only its pid and its start identify it.
func TestCheckProcess(t *testing.T) {
	if err := (Process{Pid: 2, Start: 1}).Check("r"); err != nil {
		t.Error(err)
	}
	journaltest.Checks(t, nil, []journal.Step{Process{Pid: 2}, Process{Pid: 1, Start: 1}, Process{Pid: -2, Start: 1}, Process{Start: 1}, Process{}})
}
