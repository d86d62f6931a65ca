package reserve

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/record"
)

// Watch checks resources that a run must not use up. Its zero value watches nothing. It is safe
// for concurrent use.
type Watch struct {
	mu     sync.Mutex
	pids   func() []Amount // nil: process ids are not watched
	places []*place
	fell   map[key]fall
	lowest []record.Room
	looked time.Time
}

// place is a file system that the run writes to.
type place struct {
	dir, remedy string
	own         bool // tare made the file system for the run
	device      uint64
	silent      bool // its server did not answer the last question
}

type key struct{ of, kind string }

// fall is how much was free at the last look, and the largest decrease between two looks.
type fall struct{ last, most int64 }

// Pids watches the process ids of the host and of the groups in which arms are put; nil: arms
// are put in none.
func (w *Watch) Pids(groups *cgroup.Tree) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pids = func() []Amount { return Pids(groups) }
}

// Host watches the file system with a directory of the host. Several directories on one file
// system count once. remedy says what to do when it gets full.
func (w *Watch) Host(dir, remedy string) { w.add(&place{dir: dir, remedy: remedy}) }

// Own watches a file system that tare made for the run.
func (w *Watch) Own(dir, remedy string) { w.add(&place{dir: dir, remedy: remedy, own: true}) }

func (w *Watch) add(p *place) {
	st, err := storage.Answered(p.dir, func() (st unix.Stat_t, err error) {
		err = unix.Stat(storage.Existing(p.dir), &st)
		return st, err
	})
	if err != nil {
		return // a write there will report the error
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p.device = uint64(st.Dev)
	if !slices.ContainsFunc(w.places, func(o *place) bool { return o.device == p.device }) {
		w.places = append(w.places, p)
	}
}

// Forget removes a directory. Call it before its file system is unmounted.
func (w *Watch) Forget(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.places = slices.DeleteFunc(w.places, func(p *place) bool { return p.dir == dir })
}

// Settle forgets the decreases so far: a launch uses more than the windows after it.
func (w *Watch) Settle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fell = nil
}

// Look returns ErrShort if too little is free.
func (w *Watch) Look() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.look(false)
}

// Ahead returns ErrShort if too little is free, or would be after one more decrease as large as
// the largest between two looks since Settle. It does nothing if the last look was less than
// every ago.
func (w *Watch) Ahead(every time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.looked) < every {
		return nil
	}
	return w.look(true)
}

func (w *Watch) look(ahead bool) (short error) {
	w.looked = time.Now()
	for _, a := range w.amounts() {
		w.noteLowest(a.Room)
		if ahead {
			a.Going = w.going(a)
		}
		if err := a.Err(); err != nil && short == nil {
			short = err
		}
	}
	return short
}

func (w *Watch) amounts() (all []Amount) {
	for _, p := range w.places {
		if p.silent {
			continue
		}
		of, err := ask(p.dir, p.remedy, p.own)
		p.silent = err != nil // a write there will report the error
		all = append(all, of...)
	}
	if w.pids != nil {
		all = append(all, w.pids()...)
	}
	return all
}

// going is the largest decrease between two looks. It is 0 for process ids, which become free
// again.
func (w *Watch) going(a Amount) int64 {
	if a.Kind == record.RoomPids {
		return 0
	}
	k := key{a.Of, a.Kind}
	f, seen := w.fell[k]
	if seen {
		f.most = max(f.most, f.last-a.Free)
	}
	f.last = a.Free
	if w.fell == nil {
		w.fell = map[key]fall{}
	}
	w.fell[k] = f
	return f.most
}

func (w *Watch) noteLowest(r record.Room) {
	for i, old := range w.lowest {
		if old.Of == r.Of && old.Kind == r.Kind {
			w.lowest[i].Lowest = min(old.Lowest, r.Lowest)
			return
		}
	}
	w.lowest = append(w.lowest, r)
}

// Lowest are the smallest free amounts of the run.
func (w *Watch) Lowest() []record.Room {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.lowest)
}

// During cancels the returned context when too little is free, until stop is called. stop looks
// once more and returns ErrShort in both cases. During looks from another thread, so it must
// not be used while a window is open. The context ends with its parent.
func (w *Watch) During(ctx context.Context) (_ context.Context, stop func() error) {
	ctx, cancel := context.WithCancelCause(ctx)
	over, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		t := time.NewTicker(during)
		defer t.Stop()
		for {
			if err := w.Look(); err != nil {
				cancel(err)
				ended <- err
				return
			}
			select {
			case <-over:
				ended <- nil
				return
			case <-t.C:
			}
		}
	}()
	return ctx, func() error {
		close(over)
		return cmp.Or(<-ended, w.Look())
	}
}

// during is the pause between two looks of During.
const during = 100 * time.Millisecond
