package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/undo/hostlock"
	"github.com/tarelab/tare/internal/undo/journal"
)

// forcedError is a run that was ended by more than one signal: no report.
type forcedError struct{ signalError }

func (e *forcedError) Unwrap() error { return &e.signalError }

// execute runs to the end or to a signal. The first signal abandons the block
// and restores the host; the second also leaves the report out; the third
// ends at once, and the run's guard restores the host.
func execute(config run.Config, show progress) (run.Outcome, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	// A reader of standard error that goes away must not end the run: with
	// SIGPIPE caught, a write fails instead.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

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
			show.say(signalNote(n))
			if n > 2 {
				return run.Outcome{Reason: "interrupted", Dir: config.Dir}, &forcedError{signalError{first, run.ErrInterrupted}}
			}
		}
	}
}

// alone keeps other runs of this host away, or says which one is there; beside: it may
// be, and only those that come later are kept away. Nothing begins whose journal nobody
// would undo.
func alone(dir string, beside bool) (*hostlock.Lock, error) {
	if err := cmp.Or(journal.Placed(), journal.Trusted(journal.StateDir())); err != nil {
		return nil, err
	}
	lock, err := hostlock.Take(dir, beside)
	if err != nil && beside { // measured without
		return nil, nil
	}
	return lock, err
}

// warnOfUsers tells root of runs of other users, which do not keep root from measuring.
func (c *console) warnOfUsers() {
	for _, other := range hostlock.Users() {
		c.note("warning: another user measures on this host, and each disturbs the other: %s", other)
	}
}

// aloneInto is alone with the directory of a new result.
func aloneInto(output newDir, beside bool) (dir string, lock *hostlock.Lock, err error) {
	if dir, err = resultDir(output, time.Now()); err == nil {
		lock, err = alone(dir, beside)
	}
	return dir, lock, err
}

// signalNote says what the nth signal does.
func signalNote(n int) string {
	switch n {
	case 1:
		return "interrupted: the block is abandoned, the host is restored (again: no report)"
	case 2:
		return "restoring the host (again: leave it as it is, for tare cleanup)"
	}
	return "left as it is; tare cleanup restores the host"
}

// signalled puts the signal into the error of a run that it ended.
func signalled(err error, first syscall.Signal, n int) error {
	switch {
	case n == 0 || err == nil: // the run was over before the signal reached it
		return err
	case n == 1:
		return &signalError{first, err}
	}
	return &forcedError{signalError{first, err}}
}

// untilSignal is a context that a signal ends, for what has no progress to show.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		if s, ok := <-signals; ok {
			cancel(&signalError{s.(syscall.Signal), errors.New("interrupted")})
		}
	}()
	return ctx, func() { signal.Stop(signals); close(signals); cancel(nil) }
}

// endedBy is the error of what was done until a signal: that signal's, if one came.
func endedBy(ctx context.Context, err error) error {
	var by *signalError
	if err != nil && errors.As(context.Cause(ctx), &by) {
		return by
	}
	return err
}
