package beside

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/layers"
	"github.com/tarelab/tare/internal/catalog/bodies"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/measure/session"
	"github.com/tarelab/tare/internal/testing/launchtest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/readback"
	"github.com/tarelab/tare/record"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == load.Command {
		os.Exit(bodies.Main(os.Args[2:]))
	}
	os.Exit(launchtest.Main(m))
}

func asNeighbour(s *environment.Spec) {
	s.Neighbour = &environment.Neighbour{
		Controllers: []string{"cpu"}, Limits: cgroup.Limits{Memory: 256 << 20, Pids: 64}, Time: time.Minute,
	}
}

// The neighbour runs as nobody in its own directory, its limits are read back, and Close of the frozen arm
// leaves nothing.
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
	if sid, err := unix.Getsid(v.Pid); err != nil || sid != v.Pid {
		t.Errorf("process %d is in session %d, want its own: %v", v.Pid, sid, err)
	}
	if score := read(t, fmt.Sprintf("/proc/%d/oom_score_adj", v.Pid)); score != "1000" {
		t.Errorf("when memory runs out it goes with %s", score)
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

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// spinning starts a load in an arm and waits until it counts.
func spinning(t *testing.T, a environment.OpenArm) *counter.Memory {
	t.Helper()
	memory, err := counter.Create(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { memory.Close() })
	said, err := readback.Create()
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	p, err := a.Start(t.Context(), environment.Process{
		Args: []string{load.Command, load.KindSpin, `{"rounds":1000}`}, Files: []*os.File{memory.File(), said},
	})
	if err != nil {
		t.Fatal(err)
	}
	for memory.Ops() == 0 {
		if environment.Ended(p) {
			t.Fatalf("it ended: %+v", p.Exit())
		}
		time.Sleep(time.Millisecond)
	}
	return memory
}

// The neighbour is frozen and thawed, alone and together with its arm.
func TestFreeze(t *testing.T) {
	testneed.Root(t)
	its := launchtest.Open(t, Host{}, asNeighbour)
	arm := launchtest.Open(t, layers.Cgroup, nil)
	alone := its.Place().Pause
	both := session.Joint(alone, arm.Place().Pause)
	counted := []*counter.Memory{spinning(t, its), spinning(t, arm)}
	ops := func() [2]uint64 { return [2]uint64{counted[0].Ops(), counted[1].Ops()} }
	goesOn := func(i int) {
		t.Helper()
		for before := ops(); ops()[i] == before[i]; {
			time.Sleep(time.Millisecond)
		}
	}
	for range 3 {
		if err := alone.Freeze(time.Minute); err != nil {
			t.Fatal(err)
		}
		before := ops()
		goesOn(1)
		time.Sleep(20 * time.Millisecond)
		if now := ops(); now[0] != before[0] {
			t.Errorf("it goes on while frozen: %d, %d before", now[0], before[0])
		}
		if err := both.Thaw(); err != nil {
			t.Fatal(err)
		}
		goesOn(0)
		if err := both.Freeze(time.Minute); err != nil {
			t.Fatal(err)
		}
		before = ops()
		time.Sleep(20 * time.Millisecond)
		if now := ops(); now != before {
			t.Errorf("they go on while frozen: %d, %d before", now, before)
		}
		if err := both.Thaw(); err != nil {
			t.Fatal(err)
		}
		goesOn(0)
		goesOn(1)
	}
	if err := both.Freeze(time.Minute); err != nil { // and closed so
		t.Error(err)
	}
}

// Kill also kills the descendants of the process, even when it has ended, and keeps the group.
func TestKill(t *testing.T) {
	testneed.Root(t)
	a := launchtest.Open(t, Host{}, asNeighbour)
	memory, err := counter.Create(1)
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	said, err := readback.Create()
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	p, err := a.Start(t.Context(), environment.Process{
		Args:  []string{load.Command, load.KindProgram, `{"args":["/bin/sh","-c","setsid sleep 1000 & exit"]}`},
		Files: []*os.File{memory.File(), said},
	})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	g := a.Place().Group
	if left, err := g.Pids(); err != nil || len(left) == 0 {
		t.Fatalf("it has left nothing behind: %v", err)
	}
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
	if left, err := g.Pids(); err != nil || len(left) > 0 {
		t.Errorf("in its group: %v %v", left, err)
	}
}

// A neighbour without limits is refused.
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
	if _, err := a.Start(t.Context(), environment.Process{Outside: true}); !errors.Is(err, facts.ErrUnsupported) {
		t.Errorf("beside a neighbour: %v", err)
	}
}

// tree is a host with these controllers of version 1.
func tree(t *testing.T, controllers ...string) *cgroup.Tree {
	t.Helper()
	root := t.TempDir()
	var mounts, own string
	for i, c := range append(controllers, "freezer") {
		if err := os.MkdirAll(filepath.Join(root, "cg", c), 0o755); err != nil {
			t.Fatal(err)
		}
		mounts += fmt.Sprintf("%d 1 0:%d / /cg/%s rw - cgroup cgroup rw,%s\n", 30+i, 30+i, c, c)
		own += fmt.Sprintf("%d:%s:/\n", i+1, c)
	}
	self := filepath.Join(root, "proc", "self")
	err := errors.Join(os.MkdirAll(self, 0o755), os.WriteFile(filepath.Join(self, "mountinfo"), []byte(mounts), 0o644),
		os.WriteFile(filepath.Join(self, "cgroup"), []byte(own), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	found, err := cgroup.Detect(root)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The group has the controllers that isolation needs, or the error names the missing one. Only controllers
// that count, and those of containers, may be missing.
func TestControllers(t *testing.T) {
	for _, c := range []struct {
		has  []string
		n    environment.Neighbour
		want []string // nil: it cannot be
		says string
	}{
		{[]string{"memory", "pids"}, environment.Neighbour{Grouped: true}, []string{"memory", "pids"}, ""},
		{[]string{"memory", "pids", "cpu", "cpuacct", "blkio"}, environment.Neighbour{}, []string{"memory", "pids", "cpuacct", "blkio"}, ""},
		{[]string{"memory", "pids", "cpu"}, environment.Neighbour{Grouped: true}, []string{"memory", "pids", "cpu"}, ""},
		{[]string{"memory", "pids", "cpu", "blkio"}, environment.Neighbour{Service: true}, []string{"memory", "pids", "blkio", "cpu"}, ""},
		{[]string{"memory", "pids", "cpu"}, environment.Neighbour{Grouped: true, Controllers: []string{"memory", "cpu"}}, []string{"memory", "pids", "cpu"}, ""},
		{[]string{"memory", "pids", "cpu"}, environment.Neighbour{Controllers: []string{"cpuset", "cpu"}}, nil, "no cpuset controller"},
		{[]string{"memory", "pids"}, environment.Neighbour{Grouped: true, Controllers: []string{"cpu"}}, nil, "no cpu controller"},
		{[]string{"memory", "pids"}, environment.Neighbour{Controllers: []string{"io"}}, nil, "no blkio controller"},
		{[]string{"memory"}, environment.Neighbour{}, nil, "no pids controller"},
	} {
		g, err := groups(tree(t, c.has...), c.n)
		switch {
		case c.want == nil && (!errors.Is(err, facts.ErrUnsupported) || !strings.Contains(err.Error(), c.says)):
			t.Errorf("with %v, %+v: %v", c.has, c.n, err)
		case c.want != nil && (err != nil || !slices.Equal(g.Controllers, c.want)):
			t.Errorf("with %v, %+v: %v, %v", c.has, c.n, g.Controllers, err)
		}
	}
}
