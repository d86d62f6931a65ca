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

// KindCommand executes a command over and over; KindCommandPrepare copies the files that the
// command needs.
const (
	KindCommand        = "command"         // parameters: Executions
	KindCommandPrepare = "command-prepare" // parameters: CommandFiles
)

// Executions are the parameters of command.
type Executions struct {
	// Args are the program and its arguments. A name without a slash is looked up in PATH, a
	// relative path in Dir.
	Args []string `json:"args"`
	// Dir is the working directory of the command.
	Dir string `json:"dir"`
	// Codes are the exit codes that count as success.
	Codes []int `json:"codes"`
	// Warmup is the number of executions before the load is ready.
	Warmup int `json:"warmup"`
	// Timeout is in seconds; a longer execution is killed and counts as an error.
	Timeout float64 `json:"timeout"`
	// Value locates the number to read from the output; nil: none.
	Value *Extract `json:"value,omitempty"`
}

// runCommand executes the command when tare asks for a window, as often as fits, always to its
// end. One execution is one operation; its latency is the time from before the fork until the
// process has ended.
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

// commander executes a command with one worker for each slot.
type commander struct {
	Executions
	ctx     context.Context
	m       *counter.Memory
	path    string
	env     []string
	workers []*worker
	extract extractor

	mu      sync.Mutex    // guards the sum of values and logged
	logged  int           // errors written to standard error
	typical time.Duration // duration of the last warm-up execution
}

// worker executes the command on its own thread.
type worker struct {
	*commander
	slot  *counter.Slot
	out   *os.File // standard output and error, in memory
	order chan counter.Request
	done  chan tally
}

// tally is the work of one worker in a window.
type tally struct {
	ops     uint64
	seconds float64 // sum of the durations of the executions
	// Operations and seconds up to the first end of an execution after the middle of the window;
	// 0 seconds if none followed.
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

// warm executes the command without counting. A failure ends the load: the command would fail in
// the windows too.
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

// window lets every worker execute until the window is over, and answers the request.
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

// discard executes the command for d after a thaw, uncounted. A command that takes longer than d
// is not executed: it would add more time than the settle time that was asked for.
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
	runtime.LockOSThread() // Pdeathsig kills the child when the thread that forked it ends
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
		if took == 0 { // the command cannot be started
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
			w.logError(err)
		}
		spent += took
		t.seconds = spent.Seconds()
		if t.firstSeconds == 0 && spent >= r.Length/2 && spent < r.Length {
			t.first, t.firstSeconds = t.ops, t.seconds
		}
	}
	return t
}

// value adds the number in the output to the load's first value.
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
		return 0, fmt.Errorf("%w%s", err, LastLines(out))
	}
	return x, nil
}

// mostLogged is how many errors are written to standard error; all are counted.
const mostLogged = 20

func (c *commander) logError(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.logged++; c.logged <= mostLogged {
		fmt.Fprintf(os.Stderr, "tare: load %s: %v\n", KindCommand, err)
	}
}

// facts are path and size of the program, which show whether all arms execute the same one.
func (c *commander) facts() []record.Setting {
	out := []record.Setting{{Name: "command", Got: c.path}}
	var st unix.Stat_t
	if err := unix.Stat(c.path, &st); err == nil {
		out = append(out, record.Setting{Name: "command.bytes", Got: fmt.Sprint(st.Size)})
	}
	return out
}
