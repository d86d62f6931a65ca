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

// Earlier is a record that is continued. It is locked: nobody else writes to it until Close.
type Earlier struct {
	*record.Result
	lock *os.File
}

// ErrRunning means that another process is writing the record.
var ErrRunning = errors.New("a run is still measuring into it")

// Reopen reads and locks a record. It changes nothing.
func Reopen(dir string) (*Earlier, error) {
	if err := checkOwner(dir); err != nil {
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

// Close unlocks a record that is not continued after all.
func (e *Earlier) Close() error { return e.lock.Close() }

// checkOwner refuses a result directory of another user, who could put links into it. A directory
// that does not exist is fine.
func checkOwner(dir string) error {
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

// lockNow locks a record. It tries for 200 ms: a reader holds the lock for a moment to see whether
// a run does.
func lockNow(f *os.File) (err error) {
	for range 20 {
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// openRecord begins the record, or goes on with the earlier one after its last whole line.
func (r *runner) openRecord() (err error) {
	rec := &r.rec
	if e := r.config.Earlier; e != nil {
		rec.lock = e.lock
		rec.origin = sched.Monotonic() - int64(e.end()*1e9)
		rec.manifest.Started = e.Manifest.Started
		rec.writer, err = record.Open(rec.dir, e.Whole)
		return err
	}
	if err := checkOwner(rec.dir); err != nil {
		return err
	}
	if rec.writer, err = record.Create(rec.dir); err != nil {
		return hint.New(err, "name another directory with -o")
	}
	rec.origin = sched.Monotonic()
	rec.lock, err = lockRecord(rec.dir)
	return err
}

// end is when the last window ended, in seconds from the start of the record.
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

// plan is the plan of both runs together: the earlier plan, with the budgets added. e may be nil.
func (e *Earlier) plan(now record.Plan) record.Plan {
	if e == nil {
		return now
	}
	all := e.Plan
	all.Budget += now.Budget
	return all
}

// layersIn says whether a record has windows of arms that wait for the question.
func layersIn(e *Earlier, load *plan.Load) bool {
	for _, line := range e.Lines {
		if line.Block == nil || line.Block.Workload != load.Name {
			continue
		}
		for _, w := range line.Block.Windows {
			if w.Arm != load.Baseline && w.Arm != plan.TwinName && w.Arm != load.Workload.Question {
				return true
			}
		}
	}
	return false
}

// resume takes over what the earlier run recorded of a workload: its blocks, and the lengths of its
// windows. Launches are numbered on, so that no order of the arms comes twice.
func (l *loadRun) resume(e *Earlier) {
	if e == nil {
		return
	}
	s := &l.schedule
	s.passes = 1
	if !l.load.LayersOnLoss || layersIn(e, l.load) {
		s.question = nil
	}
	for _, line := range e.Lines {
		switch {
		case line.Generation != nil && line.Generation.Workload == l.load.Name:
			s.launch = max(s.launch, line.Generation.Number+1)
		case line.Pilot != nil && line.Pilot.Workload == l.load.Name:
			s.resumePilot(line.Pilot)
			l.results.forget()
			l.results.addForDecide(line)
		case line.Block != nil && line.Block.Workload == l.load.Name:
			s.resumeBlock(line.Block)
			l.results.addHalves(line.Block)
			l.results.addForDecide(line)
		case line.Check != nil && line.Check.Workload == l.load.Name:
			l.results.addForDecide(line)
		}
	}
	if s.lengths.Discard < s.leastSettle() {
		// The earlier tare knew of no least settle time. A new pilot begins, and what was measured
		// no longer counts.
		s.lengths = plan.Lengths{}
		l.results.forget()
	}
}
