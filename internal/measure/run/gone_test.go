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

// told is an environment with one process; said lists the calls.
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

// A neighbour that ended is killed with its children, and is closed together with its instance: until
// then other arms are measured.
func TestNeighbourIsClosedWithItsInstance(t *testing.T) {
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
	n := &neighbour{planned: &plan.Neighbour{}, opened: its, load: its, log: log}
	n.process.Memory, n.process.Ended = memory(), n.died
	s := &instance{name: "alone", opened: arms, load: arms, neighbour: n}
	s.processes.Memory, s.processes.Neighbour = memory(), &n.process
	written, err := record.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer written.Close()
	r := &runner{rec: recorder{writer: written}, config: Config{Plan: &plan.Plan{}}}
	l := newLoadRun(r, &plan.Load{Workload: record.Workload{Baseline: "alone"}}, 0)
	l.instances.all = []*instance{s}
	l.instances.add(plan.PlannedArm{Arm: record.Arm{Name: "alone"}}, s)
	l.instances.add(plan.PlannedArm{Arm: record.Arm{Name: "none"}, Neighbour: n.planned}, s)
	if err := l.removeEndedNeighbour(s); err != nil {
		t.Fatal(err)
	}
	if arms := l.instances.arms; len(arms) != 1 || arms[0].planned.Name != "alone" || s.processes.Neighbour != nil {
		t.Errorf("%d arms are left", len(arms))
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

// Every second block measures the question's arms only, unless the question itself has ended in
// this launch: such a block would be of no use.
func TestBlocksWithoutTheQuestion(t *testing.T) {
	var arms []plan.PlannedArm
	for _, name := range []string{"host", plan.TwinName, "cgroup", "rootfs", "container"} {
		arms = append(arms, plan.PlannedArm{Arm: record.Arm{Name: name, Remainder: name == "container"}})
	}
	load := &plan.Load{Workload: record.Workload{Baseline: "host", Question: "container"}, Subject: "container", Arms: arms}
	s := newSchedule(&plan.Plan{}, load)
	s.beginSecondPass(1)
	var running []*arm
	for _, a := range arms {
		running = append(running, &arm{planned: a})
	}
	if n, other := len(s.armsOfBlock(0, running)), len(s.armsOfBlock(1, running)); n != 5 || other != 3 {
		t.Errorf("%d and %d arms", n, other)
	}
	running = running[:4]
	if n, other := len(s.armsOfBlock(0, running)), len(s.armsOfBlock(1, running)); n != 4 || other != 4 {
		t.Errorf("without the question: %d and %d arms", n, other)
	}
}
