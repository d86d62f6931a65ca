package enforce

import (
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/record"
)

// threads sets the scheduling of all threads of a side. They are frozen, so none starts another
// meanwhile. Threads that they start later inherit the settings; undo gives those threads the
// settings that the first thread had.
func (e *Enforced) threads(at Sides, t isolation.Threads) error {
	groups := at.groups(t.Of)
	tids, err := threadsOf(groups)
	if err != nil {
		return err
	}
	if len(tids) == 0 {
		return fmt.Errorf("schedule the %s: it has no thread", t.Of)
	}
	before := map[int]scheduling{}
	for _, tid := range tids {
		if before[tid], err = readThread(tid, t); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	usual := before[tids[0]]
	want := scheduling{turn: t.Turn}
	if t.CPUs != nil {
		want.cpus = &unix.CPUSet{}
		for _, c := range t.CPUs {
			want.cpus.Set(c)
		}
	}
	s := step{
		check: func() (record.Setting, error) { return checkThreads(groups, t, want) },
		undo: func() error {
			return everyThread(groups, func(tid int) error {
				was, ok := before[tid]
				if !ok {
					was = usual
				}
				return was.set(tid)
			})
		},
	}
	e.steps = append(e.steps, s) // before the change, so that undo follows also if eachThread fails half-way
	return eachThread(groups, want.set)
}

// scheduling is how one thread is scheduled; a nil part is not changed.
type scheduling struct {
	turn *isolation.Turn
	cpus *unix.CPUSet
}

func readThread(tid int, which isolation.Threads) (s scheduling, err error) {
	if which.Turn != nil {
		a, err := unix.SchedGetAttr(tid, 0)
		if err != nil {
			return s, fmt.Errorf("read the scheduling of thread %d: %w", tid, err)
		}
		s.turn = &isolation.Turn{Policy: a.Policy, Nice: int(a.Nice)}
	}
	if which.CPUs != nil {
		s.cpus = &unix.CPUSet{}
		if err := unix.SchedGetaffinity(tid, s.cpus); err != nil {
			return s, fmt.Errorf("read the CPUs of thread %d: %w", tid, err)
		}
	}
	return s, nil
}

func (s scheduling) set(tid int) error {
	if s.turn != nil {
		a := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: s.turn.Policy, Nice: int32(s.turn.Nice)}
		if err := unix.SchedSetAttr(tid, &a, 0); err != nil {
			return fmt.Errorf("schedule thread %d: %w", tid, err)
		}
	}
	if s.cpus != nil {
		if err := unix.SchedSetaffinity(tid, s.cpus); err != nil {
			return fmt.Errorf("choose the CPUs of thread %d: %w", tid, err)
		}
	}
	return nil
}

// checkThreads reads every thread back.
func checkThreads(groups []cgroup.Group, t isolation.Threads, want scheduling) (record.Setting, error) {
	out := record.Setting{Name: t.Of.String() + ".threads", Wanted: want.String()}
	n := 0
	err := eachThread(groups, func(tid int) error {
		got, err := readThread(tid, t)
		if err != nil {
			return err
		}
		if n++; got.String() != want.String() {
			out.Got = got.String()
			return fmt.Errorf("thread %d of the %s: wanted %s, the kernel says %s", tid, t.Of, want, got)
		}
		return nil
	})
	if err == nil {
		out.Got = want.String()
	}
	return out, err
}

var policies = map[uint32]string{unix.SCHED_NORMAL: "SCHED_OTHER", unix.SCHED_BATCH: "SCHED_BATCH", unix.SCHED_IDLE: "SCHED_IDLE"}

func (s scheduling) String() string {
	text := ""
	if s.turn != nil {
		name, ok := policies[s.turn.Policy]
		if !ok {
			name = "policy " + strconv.Itoa(int(s.turn.Policy))
		}
		text = name
		if s.turn.Policy != unix.SCHED_IDLE { // the kernel ignores nice of SCHED_IDLE and keeps it as it was
			text += " nice " + strconv.Itoa(s.turn.Nice)
		}
	}
	if s.cpus != nil {
		text += "CPUs"
		for i, left := 0, s.cpus.Count(); left > 0; i++ {
			if s.cpus.IsSet(i) {
				text += " " + strconv.Itoa(i)
				left--
			}
		}
	}
	return text
}

func threadsOf(groups []cgroup.Group) ([]int, error) {
	var all []int
	for _, g := range groups {
		if g.Tree == nil {
			continue
		}
		tids, err := g.Threads()
		if err != nil {
			return nil, err
		}
		all = append(all, tids...)
	}
	return all, nil
}

// rounds is the largest number of searches for new threads by everyThread.
const rounds = 20

// everyThread is eachThread for threads that may run: a thread started during one round is
// found in the next.
func everyThread(groups []cgroup.Group, do func(tid int) error) error {
	done := map[int]bool{}
	for range rounds {
		fresh := false
		err := eachThread(groups, func(tid int) error {
			if done[tid] {
				return nil
			}
			done[tid], fresh = true, true
			return do(tid)
		})
		if err != nil || !fresh {
			return err
		}
	}
	return nil
}

// eachThread calls do for every thread, also after an error, and returns the first error. It ignores
// threads that have ended.
func eachThread(groups []cgroup.Group, do func(tid int) error) error {
	tids, err := threadsOf(groups)
	if err != nil {
		return err
	}
	var first error
	for _, tid := range tids {
		if err := do(tid); err != nil && !errors.Is(err, unix.ESRCH) && first == nil {
			first = err
		}
	}
	return first
}
