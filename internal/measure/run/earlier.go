package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// Earlier is a record that is continued. It is locked: nobody else writes to it
// until Close.
type Earlier struct {
	*record.Result
	lock *os.File
}

// ErrRunning means that another process is writing the record.
var ErrRunning = errors.New("a run is still measuring into it")

// Reopen reads and locks a record. It changes nothing.
func Reopen(dir string) (*Earlier, error) {
	if err := own(dir); err != nil {
		return nil, err
	}
	lock, err := lockRecord(dir)
	if err != nil {
		return nil, err
	}
	r, err := record.Read(dir)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &Earlier{Result: r, lock: lock}, nil
}

// Close gives up the lock, for a record that is not continued after all.
func (e *Earlier) Close() error { return e.lock.Close() }

// own refuses a result directory in which another user can put links. It need not be there.
func own(dir string) error {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err == nil && int(st.Uid) != os.Geteuid() {
		return hint.New(fmt.Errorf("the result directory %s is of user %d, who can put links in it", dir, st.Uid),
			"run tare as that user, or measure anew into a directory that is not there (-o)")
	}
	return nil
}

// lockRecord locks the record in a directory for as long as the file is open.
func lockRecord(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, record.RecordFile), os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w (no %s)", dir, record.ErrNoRecord, record.RecordFile)
	}
	if err != nil {
		return nil, err
	}
	if err := lockNow(f); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrRunning
		}
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), f.Close())
	}
	return f, nil
}

// lockNow takes the lock of a record. Who reads a record asks for a moment whether it is
// locked, and must not keep a run from beginning.
func lockNow(f *os.File) (err error) {
	for range 20 {
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// openRecord begins the record, or goes on with the earlier one after its last
// whole line.
func (r *runner) openRecord() (err error) {
	if e := r.Earlier; e != nil {
		r.lock = e.lock
		r.origin = sched.Monotonic() - int64(e.end()*1e9)
		r.Manifest.Started = e.Manifest.Started
		r.record, err = record.Open(r.Dir, e.Whole)
		return err
	}
	if err := own(r.Dir); err != nil {
		return err
	}
	if r.record, err = record.Create(r.Dir); err != nil {
		return hint.New(err, "name another directory with -o")
	}
	r.origin = sched.Monotonic()
	r.lock, err = lockRecord(r.Dir)
	return err
}

// end is when the last window ended, in seconds.
func (e *Earlier) end() (last float64) {
	for _, l := range e.Lines {
		if l.Block == nil {
			continue
		}
		for _, w := range l.Block.Windows {
			last = max(last, w.Start+w.Seconds)
		}
	}
	return last
}

// plan is what was asked for, of both runs together.
func (e *Earlier) plan(now record.Plan) record.Plan {
	if e == nil {
		return now
	}
	all := e.Plan
	all.Budget += now.Budget
	return all
}

// resume takes over what the earlier run has of a workload: its blocks, and the
// lengths that it measured by. Launches are numbered on, so that no order of the
// arms comes again.
func (l *loadRun) resume(e *Earlier) {
	if e == nil {
		return
	}
	l.question, l.passes = nil, 1
	for _, line := range e.Lines {
		switch {
		case line.Generation != nil && line.Generation.Workload == l.load.Name:
			l.generation = max(l.generation, line.Generation.Number+1)
			l.from = l.generation
		case line.Pilot != nil && line.Pilot.Workload == l.load.Name:
			p := line.Pilot
			l.lengths = plan.Lengths{Window: seconds(p.Window), Discard: seconds(p.Discard), Blocks: p.Blocks}
			l.observed = plan.Observed{Pause: p.Pause, Arms: len(l.load.Arms), Least: l.load.Shortest(), Settle: l.settle()}
			l.noise = plan.NoiseOf(p.Slots, l.lengths.Window)
			l.lines, l.halves = nil, plan.Halves{}
			l.keepLine(line)
		case line.Block != nil && line.Block.Workload == l.load.Name:
			l.halves.Add(line.Block, l.load.Baseline, plan.TwinName)
			l.observed.Switch = l.switched(line.Block)
			l.keepLine(line)
		case line.Check != nil && line.Check.Workload == l.load.Name:
			l.keepLine(line)
		}
	}
	if l.lengths.Discard < l.settle() {
		// An earlier tare did not know of it: a pilot begins anew, and what was measured
		// no longer counts.
		l.lengths, l.lines, l.halves = plan.Lengths{}, nil, plan.Halves{}
	}
}

// switched is what the windows of a block took beyond their lengths, on average.
func (l *loadRun) switched(b *record.Block) time.Duration {
	n := len(b.Windows)
	if n < 2 {
		return l.observed.Switch
	}
	each := (b.Windows[n-1].Start - b.Windows[0].Start) / float64(n-1)
	return max(0, seconds(each)-l.lengths.Window-l.lengths.Discard)
}
