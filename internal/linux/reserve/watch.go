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

// Watch looks now and then at what a run must not use up. Its zero value watches nothing. It is
// safe for concurrent use.
type Watch struct {
	mu     sync.Mutex
	pids   func() []Amount // nil: not watched
	places []*place
	fell   map[key]fall
	lowest []record.Room
	looked time.Time
}

// place is a file system that is written to.
type place struct {
	dir, remedy string
	own         bool // tare made it for the run
	device      uint64
	silent      bool // its server has not answered
}

type key struct{ of, kind string }

// fall is how much of something was free when it was looked at, and the most that went from one
// look to the next.
type fall struct{ last, most int64 }

// Pids has process ids watched, and those of the groups in which arms are put; nil: there are none.
func (w *Watch) Pids(groups *cgroup.Tree) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pids = func() []Amount { return Pids(groups) }
}

// Host has the file system of a directory of the host watched, once however many directories are
// on it. remedy is what to do when it gets full.
func (w *Watch) Host(dir, remedy string) { w.add(&place{dir: dir, remedy: remedy}) }

// Own has a file system watched that tare made for the run.
func (w *Watch) Own(dir, remedy string) { w.add(&place{dir: dir, remedy: remedy, own: true}) }

func (w *Watch) add(p *place) {
	st, err := storage.Answered(p.dir, func() (st unix.Stat_t, err error) {
		err = unix.Stat(storage.Existing(p.dir), &st)
		return st, err
	})
	if err != nil {
		return // whoever writes there says so
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p.device = uint64(st.Dev)
	if !slices.ContainsFunc(w.places, func(o *place) bool { return o.device == p.device }) {
		w.places = append(w.places, p)
	}
}

// Forget takes a directory out, before its file system is unmounted.
func (w *Watch) Forget(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.places = slices.DeleteFunc(w.places, func(p *place) bool { return p.dir == dir })
}

// Settle forgets how much was used so far: launching is no measure of what comes.
func (w *Watch) Settle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fell = nil
}

// Look is ErrShort where too little is free.
func (w *Watch) Look() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.look(false)
}

// Ahead is ErrShort where too little is free, or would be when once more as much is used as
// between two looks since Settle. It asks nothing when the last look was less than every ago.
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
		w.keep(a.Room)
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
		p.silent = err != nil // whoever writes there says so
		all = append(all, of...)
	}
	if w.pids != nil {
		all = append(all, w.pids()...)
	}
	return all
}

// going is how much is used at most from one look to the next. Process ids come back.
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

func (w *Watch) keep(r record.Room) {
	for i, old := range w.lowest {
		if old.Of == r.Of && old.Kind == r.Kind {
			w.lowest[i].Lowest = min(old.Lowest, r.Lowest)
			return
		}
	}
	w.lowest = append(w.lowest, r)
}

// Lowest is what was free at the worst moment.
func (w *Watch) Lowest() []record.Room {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.lowest)
}

// During cancels the context that it returns when too little is free, until stop is called.
// stop looks once more, and returns ErrShort for both. It looks from a thread of its own: not
// while a window is open. The context ends with its parent.
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

// during is how often During looks.
const during = 100 * time.Millisecond
