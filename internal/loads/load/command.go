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

// KindCommand executes a command again and again; KindCommandPrepare copies the files that the
// command needs into the data directory.
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
	// Warmup is the number of uncounted executions before the load is ready.
	Warmup int `json:"warmup"`
	// Timeout is in seconds; a longer execution is killed and counts as an error.
	Timeout float64 `json:"timeout"`
	// Value says how to find a number in the output, such as a rate; nil: the output is not read.
	Value *Extract `json:"value,omitempty"`
}

// runCommand waits until tare asks for a window, and then executes the command until the window's time
// is over. It cuts no execution short. One execution is one operation; its latency is the time from
// before the fork until the process has ended.
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

	mu     sync.Mutex    // guards the sum of values and logged
	logged int           // number of errors written to standard error
	warmed time.Duration // duration of the last warm-up execution; 0: there was none
}

// worker executes the command on a thread of its own, one window for each request.
type worker struct {
	*commander
	slot     *counter.Slot
	out      *os.File // standard output and error, in memory
	requests chan counter.Request
	done     chan tally
}

// tally is the work of one worker in a window.
type tally struct {
	ops     uint64
	seconds float64 // sum of the durations of the executions
	// first and firstSeconds are operations and seconds up to the first execution that ended in the
	// second half of the window, but not as its last; firstSeconds is 0 if there was none.
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
		w := &worker{commander: c, slot: m.Slot(i), requests: make(chan counter.Request), done: make(chan tally)}
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
		close(w.requests)
	}
}

// warm executes the command without counting. A failure ends the load: the command would fail in
// the windows too.
func (c *commander) warm() error {
	for range c.Warmup {
		d, err := c.workers[0].execute()
		if err == nil && c.Value != nil {
			_, err = c.workers[0].readNumber()
		}
		if c.ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		c.warmed = d
	}
	return nil
}

// window lets every worker execute until the window is over, and answers the request. Workers end at
// different times, so the answer's seconds are the operations of all divided by the sum of their rates.
func (c *commander) window(r counter.Request) error {
	if err := c.discard(r.Discard); err != nil {
		return err
	}
	c.m.BeginWindow(r)
	for _, w := range c.workers {
		w.requests <- r
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

// discard executes the command, uncounted, for the settle time d after a thaw. It executes nothing if
// one execution takes longer than d.
func (c *commander) discard(d time.Duration) error {
	for d > 0 && c.warmed <= d && c.ctx.Err() == nil {
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
	for r := range w.requests {
		w.done <- w.executeFor(r)
	}
}

// executeFor executes the command until the time of the executions reaches r.Length.
func (w *worker) executeFor(r counter.Request) (t tally) {
	var spent time.Duration
	for spent < r.Length && w.ctx.Err() == nil {
		start := w.m.Begin(w.slot)
		took, err := w.execute()
		if w.ctx.Err() != nil {
			w.slot.Idle()
			return t
		}
		if took == 0 { // the command could not be started
			w.m.End(w.slot, start, err)
			t.err = err
			return t
		}
		w.m.End(w.slot, start, err)
		if err == nil {
			t.ops++
			if err = w.addValue(); err != nil {
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

// addValue adds the number in the output to the load's first value.
func (w *worker) addValue() error {
	if w.Value == nil {
		return nil
	}
	x, err := w.readNumber()
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.m.AddValue(0, x)
	return nil
}

func (w *worker) readNumber() (float64, error) {
	out, err := w.output(maxRead)
	if err != nil {
		return 0, err
	}
	x, err := w.extract.number(out)
	if err != nil {
		return 0, fmt.Errorf("%w%s", err, LastLines(out))
	}
	return x, nil
}

// maxLogged is the number of errors written to standard error; all errors are counted.
const maxLogged = 20

func (c *commander) logError(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.logged++; c.logged <= maxLogged {
		fmt.Fprintf(os.Stderr, "tare: load %s: %v\n", KindCommand, err)
	}
}

// facts returns path and size of the program, which show whether all arms execute the same one.
func (c *commander) facts() []record.Setting {
	out := []record.Setting{{Name: "command", Got: c.path}}
	var st unix.Stat_t
	if err := unix.Stat(c.path, &st); err == nil {
		out = append(out, record.Setting{Name: "command.bytes", Got: fmt.Sprint(st.Size)})
	}
	return out
}
