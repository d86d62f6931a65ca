package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/hidden"
	"github.com/tarelab/tare/internal/wire/readback"
	"github.com/tarelab/tare/record"
)

// The kinds of command: KindCommand executes one over and over, and
// KindCommandPrepare copies the files that it needs.
const (
	KindCommand        = "command"         // parameters: Executions
	KindCommandPrepare = "command-prepare" // parameters: CommandFiles
)

// Executions are the parameters of command.
type Executions struct {
	// Args are the program and its arguments. A program without a slash is
	// looked for in PATH, one with a relative path in Dir.
	Args []string `json:"args"`
	// Dir is where the command starts.
	Dir string `json:"dir"`
	// Codes are the exit codes that are no error.
	Codes []int `json:"codes"`
	// Warmup is how many executions come before the load is ready.
	Warmup int `json:"warmup"`
	// Timeout in seconds, after which an execution is ended: an error.
	Timeout float64 `json:"timeout"`
	// Value is the number in the output; nil: none is wanted.
	Value *Extract `json:"value,omitempty"`
}

// runCommand executes a command whenever it is asked for a window: as many
// times one after the other as fit, each whole. One execution is one operation
// and its duration, from before the fork until it was waited for, the latency.
func runCommand(ctx context.Context, m *counter.Memory, params []byte) error {
	var p Executions
	if err := hidden.Decode(params, &p); err != nil {
		return err
	}
	c, err := newCommander(ctx, m, p)
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.warm(); err != nil {
		return err
	}
	if err := readback.Write(FactsFd, c.facts()); err != nil {
		return err
	}
	m.SetReady()
	for {
		r, ok := m.Next()
		if !ok {
			return nil
		}
		if err := c.window(r); err != nil {
			return err
		}
	}
}

// commander is a command that is being executed, by one worker per slot.
type commander struct {
	Executions
	ctx     context.Context
	m       *counter.Memory
	path    string
	env     []string
	workers []*worker
	extract extractor

	mu      sync.Mutex    // of the values and of what is said
	said    int           // errors that were written out
	typical time.Duration // of an execution so far
}

// worker executes on a thread of its own.
type worker struct {
	*commander
	slot  *counter.Slot
	out   *os.File // standard output and error, in memory
	order chan counter.Request
	done  chan tally
}

// tally is what one worker did in a window.
type tally struct {
	ops     uint64
	seconds float64 // of the executions alone
	// Up to the first end behind the middle of the window; no seconds when
	// nothing came after it.
	first        uint64
	firstSeconds float64
	err          error
}

func newCommander(ctx context.Context, m *counter.Memory, p Executions) (*commander, error) {
	c := &commander{Executions: p, ctx: ctx, m: m, env: commandEnviron()}
	var err error
	if c.path, err = p.find(); err != nil {
		return nil, err
	}
	if p.Value != nil {
		if c.extract, err = p.Value.compile(); err != nil {
			return nil, err
		}
	}
	for i := range m.Threads() {
		w := &worker{commander: c, slot: m.Slot(i), order: make(chan counter.Request), done: make(chan tally)}
		if w.out, err = memoryOutput(); err != nil {
			return nil, err
		}
		c.workers = append(c.workers, w)
		go w.work()
	}
	return c, nil
}

func (c *commander) close() {
	for _, w := range c.workers {
		close(w.order)
	}
}

// warm executes before anything counts. A command that fails now will fail
// later.
func (c *commander) warm() error {
	for range c.Warmup {
		d, err := c.workers[0].execute()
		if err == nil && c.Value != nil {
			_, err = c.workers[0].number()
		}
		if c.ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		c.typical = d
	}
	return nil
}

// window has every worker execute until the window is over.
func (c *commander) window(r counter.Request) error {
	if err := c.discard(r.Discard); err != nil {
		return err
	}
	c.m.BeginWindow(r)
	for _, w := range c.workers {
		w.order <- r
	}
	var a counter.Answer
	ops, rate := uint64(0), 0.0
	var err error
	for _, w := range c.workers {
		t := <-w.done
		ops += t.ops
		if t.seconds > 0 {
			rate += float64(t.ops) / t.seconds
		}
		a.First, a.FirstSeconds, err = t.first, t.firstSeconds, errors.Join(err, t.err)
	}
	if c.ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	if rate > 0 {
		a.Seconds = float64(ops) / rate
	}
	if len(c.workers) > 1 {
		a.First, a.FirstSeconds = 0, 0
	}
	c.m.Answer(r, a)
	return nil
}

// discard executes for a while after a thaw, uncounted: only what is short
// against it, for an execution that takes longer has its thaw in it anyway.
func (c *commander) discard(d time.Duration) error {
	for d > 0 && c.typical <= d && c.ctx.Err() == nil {
		took, err := c.workers[0].execute()
		if err != nil && took == 0 {
			return err
		}
		d -= took
	}
	return nil
}

func (w *worker) work() {
	runtime.LockOSThread() // a child ends with the thread that started it
	for r := range w.order {
		w.done <- w.tally(r)
	}
}

func (w *worker) tally(r counter.Request) (t tally) {
	var spent time.Duration
	for spent < r.Length && w.ctx.Err() == nil {
		start := w.m.Begin(w.slot)
		took, err := w.execute()
		if w.ctx.Err() != nil {
			w.slot.Idle()
			return t
		}
		if took == 0 { // it cannot be started at all
			w.m.End(w.slot, start, err)
			t.err = err
			return t
		}
		w.m.End(w.slot, start, err)
		if err == nil {
			t.ops++
			if err = w.value(); err != nil {
				w.slot.Add(0, 1, record.Histogram{})
			}
		}
		if err != nil {
			w.say(err)
		}
		spent += took
		t.seconds = spent.Seconds()
		if t.firstSeconds == 0 && spent >= r.Length/2 && spent < r.Length {
			t.first, t.firstSeconds = t.ops, t.seconds
		}
	}
	return t
}

// value adds the number in the output up.
func (w *worker) value() error {
	if w.Value == nil {
		return nil
	}
	x, err := w.number()
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.m.AddValue(0, x)
	return nil
}

func (w *worker) number() (float64, error) {
	out, err := w.output(longestOutput)
	if err != nil {
		return 0, err
	}
	x, err := w.extract.number(out)
	if err != nil {
		return 0, fmt.Errorf("%w%s", err, LastOf(out))
	}
	return x, nil
}

// mostSaid bounds the errors that are written out: they are all counted.
const mostSaid = 20

func (c *commander) say(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.said++; c.said <= mostSaid {
		fmt.Fprintf(os.Stderr, "tare: load %s: %v\n", KindCommand, err)
	}
}

// facts say what was executed: the same bits in every arm, or not.
func (c *commander) facts() []record.Setting {
	out := []record.Setting{{Name: "command", Got: c.path}}
	var st unix.Stat_t
	if err := unix.Stat(c.path, &st); err == nil {
		out = append(out, record.Setting{Name: "command.bytes", Got: fmt.Sprint(st.Size)})
	}
	return out
}
