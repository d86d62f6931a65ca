package run

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/record"
)

// told is an arm with one process, which says what is done with them.
type told struct {
	name string
	said *[]string
	done chan struct{}
	exit environment.Exit
}

func (a *told) say(what string) error {
	*a.said = append(*a.said, what+" "+a.name)
	return nil
}

func (a *told) Start(context.Context, environment.Process) (environment.Running, error) {
	return a, nil
}
func (a *told) Place() wire.Place                     { return wire.Place{} }
func (a *told) Settings() ([]record.Setting, error)   { return nil, nil }
func (a *told) Reproduction() (name string, _ []byte) { return "", nil }
func (a *told) Close() error                          { return a.say("close") }
func (a *told) Pid() int                              { return 0 }
func (a *told) Done() <-chan struct{}                 { return a.done }
func (a *told) Exit() environment.Exit                { return a.exit }
func (a *told) Kill() error                           { return a.say("kill") }

// A neighbour that has ended is killed with what it has left, and stays open until its
// site is closed: others are measured meanwhile.
func TestNeighbourIsClosedWithItsSite(t *testing.T) {
	var said []string
	arms := &told{name: "arm", said: &said, done: make(chan struct{})}
	its := &told{name: "neighbour", said: &said, done: make(chan struct{}), exit: environment.Exit{Code: 3}}
	close(its.done)
	memory := func() *counter.Memory {
		m, err := counter.Create(1)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	n := &neighbour{Neighbour: &plan.Neighbour{}, opened: its, load: its, log: log}
	n.part.Memory, n.part.Ended = memory(), n.died
	s := &site{name: "alone", opened: arms, load: arms, neighbour: n}
	s.parts.Memory, s.parts.Neighbour = memory(), &n.part
	written, err := record.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer written.Close()
	l := &loadRun{
		runner: &runner{record: written}, load: &plan.Load{Workload: record.Workload{Baseline: "alone"}}, sites: []*site{s},
		arms:     []*arm{{Arm: record.Arm{Name: "alone"}, site: s}, {Arm: record.Arm{Name: "none", Neighbour: "other"}, site: s}},
		failures: map[string]int{}, gaveUp: map[string]bool{},
	}
	if err := l.reviveNeighbour(s); err != nil {
		t.Fatal(err)
	}
	if len(l.arms) != 1 || l.arms[0].Name != "alone" || s.parts.Neighbour != nil {
		t.Errorf("%d arms are left", len(l.arms))
	}
	if want := []string{"kill neighbour"}; !slices.Equal(said, want) {
		t.Errorf("between windows: %v, want %v", said, want)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(said, ", "); got != "kill neighbour, close arm, close neighbour" {
		t.Error(got)
	}
}

// Every second block is for the question alone, but not in a launch in which its arm has
// ended: nothing of such a block would be of use.
func TestBlocksWithoutTheQuestion(t *testing.T) {
	var arms []plan.PlannedArm
	for _, name := range []string{"host", plan.TwinName, "cgroup", "rootfs", "container"} {
		arms = append(arms, plan.PlannedArm{Arm: record.Arm{Name: name, Remainder: name == "container"}})
	}
	l := &loadRun{
		runner: &runner{Config: Config{Plan: &plan.Plan{}}}, gaveUp: map[string]bool{},
		load: &plan.Load{Workload: record.Workload{Baseline: "host", Question: "container"}, Subject: "container", Arms: arms},
	}
	for _, a := range arms {
		l.arms = append(l.arms, &arm{Arm: a.Arm})
	}
	if n, other := len(l.ofBlock(0)), len(l.ofBlock(1)); n != 5 || other != 3 {
		t.Errorf("%d and %d arms", n, other)
	}
	l.arms = l.arms[:4]
	if n, other := len(l.ofBlock(0)), len(l.ofBlock(1)); n != 4 || other != 4 {
		t.Errorf("without the question: %d and %d arms", n, other)
	}
}
