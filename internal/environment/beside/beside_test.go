package beside

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/environment/launch/launchtest"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/testneed"
	"github.com/tarelab/tare/record"
)

func TestMain(m *testing.M) { os.Exit(launchtest.Main(m)) }

func asNeighbour(s *environment.Spec) {
	s.Neighbour = &environment.Neighbour{
		Controllers: []string{"cpu"}, Limits: cgroup.Limits{Memory: 256 << 20, Pids: 64}, Time: time.Minute,
	}
}

// What runs is nobody, in a directory that is its own, with limits that are read back;
// and nothing is left of it, frozen as it is.
func TestNeighbour(t *testing.T) {
	testneed.Root(t)
	a := launchtest.Open(t, Host{}, asNeighbour)
	p := a.Place()
	running, v := launchtest.Start(t, a, environment.Process{})
	if uid := strings.Fields(v.Status["Uid"]); len(uid) == 0 || slices.ContainsFunc(uid, func(s string) bool { return s != "65534" }) {
		t.Errorf("it is user %v", uid)
	}
	if v.Status["NoNewPrivs"] != "1" || v.Status["CapEff"] != "0000000000000000" {
		t.Errorf("new privileges %s, capabilities %s", v.Status["NoNewPrivs"], v.Status["CapEff"])
	}
	if v.Dir != p.Volume || !slices.Equal(v.Volume, []string{"table"}) {
		t.Errorf("in %s, with %v; want %s, with its data", v.Dir, v.Volume, p.Volume)
	}
	if st, err := os.Stat(p.HostVolume); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("others see its directory: %v %v", st, err)
	}
	group, err := os.ReadFile("/proc/self/cgroup")
	if err != nil || strings.Contains(string(group), p.Group.Path) {
		t.Errorf("tare is in its group: %s %v", group, err)
	}
	settings, err := a.Settings()
	if err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{"memory.limit": "268435456", "pids.limit": "64"} {
		if !slices.ContainsFunc(settings, func(s record.Setting) bool { return s.Name == name && s.Got == want }) {
			t.Errorf("%s is not %s: %+v", name, want, settings)
		}
	}
	if !slices.Contains(p.Group.Controllers, "cpu") {
		t.Errorf("its isolation needs cpu, it has %v", p.Group.Controllers)
	}
	if p.Pause == nil {
		t.Fatal("it cannot be frozen")
	}
	if err := p.Pause.Freeze(time.Second); err != nil {
		t.Error(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	<-running.Done()
	for _, dir := range append([]string{p.HostVolume}, p.Group.Dirs[cgroup.Unified]) {
		if _, err := os.Stat(dir); dir != "" && !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	}
}

// One without bounds is none.
func TestWithoutBounds(t *testing.T) {
	for _, n := range []*environment.Neighbour{nil, {Time: time.Minute}, {Limits: cgroup.Limits{Memory: 1 << 20, Pids: 1}}} {
		s := launchtest.Spec(t, Host{}, t.TempDir())
		s.Neighbour = n
		if _, err := (Host{}).Open(t.Context(), s); err == nil {
			t.Errorf("%+v", n)
		}
	}
	testneed.Root(t)
	a := launchtest.Open(t, Host{}, asNeighbour)
	if _, err := a.Start(t.Context(), environment.Process{Outside: true}); !errors.Is(err, environment.ErrUnsupported) {
		t.Errorf("beside a neighbour: %v", err)
	}
}
