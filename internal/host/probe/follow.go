package probe

import (
	"errors"
	"slices"

	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/record"
)

// most is the largest number of numbers per task.
const most = 3

// follow adds up counters of processes or threads (tasks) that start and end. The sum keeps the
// counters of an ended task as they were last read. A task that started since the last reading
// counts from its birth.
type follow struct {
	noEdges
	root    proc.FS
	members members
	file    string // in /proc/ID, such as "schedstat"
	width   int    // numbers per task, up to most
	// parse fills in the width numbers of one task.
	parse func(id int, text []byte, dst []float64) error

	tasks    []task // sorted by id
	sum, now [most]float64
	ids      []int
	spare    []task
	buf      []byte
	bad      error // error of parse in this reading
	unopened error // why the file of a task could not be opened
	reason   record.Said
}

type task struct {
	id    int
	file  *proc.File
	last  [most]float64
	fresh bool // not read yet
}

// Read brings the sums up to date and appends them.
func (f *follow) Read(dst []float64) []float64 {
	f.bad = nil
	if f.members.changed() {
		f.relist()
	}
	if f.readTasks(false) {
		f.relist() // another task may have the same id now
		f.readTasks(true)
	}
	switch {
	case f.bad != nil:
		f.reason = fileError(f.file, f.bad)
	case len(f.tasks) > 0:
		return append(dst, f.sum[:f.width]...)
	case f.unopened != nil:
		f.reason = explain(f.unopened)
	default:
		f.reason = noneLeft
	}
	return appendMissing(dst, f.width)
}

// readTasks reads all tasks, or only the fresh ones, and drops those that ended.
func (f *follow) readTasks(freshOnly bool) (ended bool) {
	live := f.tasks[:0]
	for _, t := range f.tasks {
		if freshOnly && !t.fresh || f.readTask(&t) {
			live = append(live, t)
			continue
		}
		t.file.Close()
		ended = true
	}
	f.tasks = live
	return ended
}

// readTask returns false when the task has ended.
func (f *follow) readTask(t *task) bool {
	text, err := t.file.ReadTo(&f.buf)
	if err != nil {
		return false
	}
	now := &f.now
	if err := f.parse(t.id, text, now[:f.width]); err != nil {
		f.bad = err
		return true
	}
	for i := range f.width {
		step := now[i] - t.last[i]
		if t.fresh || step < 0 { // a smaller number is of another task with the same id
			step = now[i]
		}
		f.sum[i] += step
	}
	t.last, t.fresh = *now, false
	return true
}

// relist opens the files of new tasks and closes those of tasks that ended.
func (f *follow) relist() {
	f.unopened = nil
	f.ids = f.members.list(f.ids[:0])
	slices.Sort(f.ids)
	f.ids = slices.Compact(f.ids)
	old, next := f.tasks, f.spare[:0]
	for _, id := range f.ids {
		for len(old) > 0 && old[0].id < id {
			old[0].file.Close()
			old = old[1:]
		}
		if len(old) > 0 && old[0].id == id {
			next, old = append(next, old[0]), old[1:]
			continue
		}
		if file, err := proc.Open(f.root.Pid(id, f.file)); err == nil {
			next = append(next, task{id: id, file: file, fresh: true})
		} else {
			f.unopened = err
		}
	}
	for _, t := range old {
		t.file.Close()
	}
	f.tasks, f.spare = next, f.tasks[:0]
}

// Reason is why there are no numbers.
func (f *follow) Reason(int) record.Said { return f.reason }

// Close closes all files.
func (f *follow) Close() error {
	errs := []error{f.members.close()}
	for _, t := range f.tasks {
		errs = append(errs, t.file.Close())
	}
	f.tasks = nil
	return errors.Join(errs...)
}
