package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/linux/child"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/undo/hostlock"
	"github.com/tarelab/tare/internal/undo/journal"
)

// forcedError is a run that more than one signal ended: there is no report.
type forcedError struct{ signalError }

func (e *forcedError) Unwrap() error { return &e.signalError }

// execute runs to the end or to a signal. After the first signal it drops the block and
// restores the host; after the second there is no report either; after the third it returns at
// once, and the run's guard restores the host.
func execute(config run.Config, show progress, in messages.Catalog) (run.Outcome, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, child.Ending()...)
	defer signal.Stop(signals)

	type ended struct {
		run.Outcome
		error
	}
	done := make(chan ended, 1)
	go func() {
		out, err := run.Execute(ctx, config)
		done <- ended{out, err}
	}()
	var first syscall.Signal
	for n := 0; ; {
		select {
		case e := <-done:
			return e.Outcome, signalled(e.error, first, n)
		case s := <-signals:
			n++
			if n == 1 {
				first = s.(syscall.Signal)
				cancel()
			}
			show.say(in.Text(signalNotes[min(n, len(signalNotes))-1]))
			if n > 2 {
				return run.Outcome{Reason: "interrupted", Dir: config.Dir}, &forcedError{signalError{first, run.ErrInterrupted}}
			}
		}
	}
}

// alone locks the host against other runs, or returns the error that another run measures.
// With beside it measures all the same, and locks if it can. It also returns an error if the
// journal could not be undone, because others can write it.
func alone(dir string, beside bool) (*hostlock.Lock, error) {
	if err := cmp.Or(journal.Placed(), journal.Trusted(journal.StateDir())); err != nil {
		return nil, err
	}
	lock, err := hostlock.Take(dir, beside)
	if err != nil && beside { // without a lock
		return nil, nil
	}
	return lock, err
}

// warnOfUsers warns root of runs of other users. A user's lock does not stop root.
func (c *console) warnOfUsers() {
	for _, other := range hostlock.Users() {
		c.note("progress.users", "what", other)
	}
}

// aloneInto is alone with the directory of a new result.
func aloneInto(output newDir, beside bool) (dir string, lock *hostlock.Lock, err error) {
	if dir, err = resultDir(output, time.Now()); err == nil {
		lock, err = alone(dir, beside)
	}
	return dir, lock, err
}

// signalNotes are printed after the first signal, the second one, and each later one.
var signalNotes = []messages.Key{"signal.first", "signal.second", "signal.third"}

// signalled adds the signal to the error of a run after n signals.
func signalled(err error, first syscall.Signal, n int) error {
	switch {
	case n == 0 || err == nil: // the run was over before the signal reached it
		return err
	case n == 1:
		return &signalError{first, err}
	}
	return &forcedError{signalError{first, err}}
}

// untilSignal is a context that a signal ends, for work without progress.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, child.Ending()...)
	go func() {
		if s, ok := <-signals; ok {
			cancel(&signalError{s.(syscall.Signal), errors.New("interrupted")})
		}
	}()
	return ctx, func() { signal.Stop(signals); close(signals); cancel(nil) }
}

// endedBy is err, or if a signal ended ctx the error of that signal.
func endedBy(ctx context.Context, err error) error {
	var by *signalError
	if err != nil && errors.As(context.Cause(ctx), &by) {
		return by
	}
	return err
}
