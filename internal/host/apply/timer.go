package apply

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/undo/trust"
)

// LeastTime is the shortest deadline: tare watches the target before it.
const LeastTime = time.Minute

// timerOf is the name of the timer of a run.
func timerOf(run string) string { return "tare-undo-" + run }

// CanTime returns an error unless systemd of this user can run tare at a deadline.
func CanTime(ctx context.Context) error {
	if err := systemdRuns(); err != nil {
		return hint.New(fmt.Errorf("no timer for the deadline: %w", err), noDeadline)
	}
	if _, err := systemctl(ctx, "show", "--property", "Version"); err != nil {
		return fmt.Errorf("no timer for the deadline: %w", err)
	}
	_, err := program()
	return err
}

// program is tare's own file, which nobody else may be able to write: the timer runs it later.
func program() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return path, trust.File(f)
}

// SetTimer makes a timer that undoes the settings of a run. It has a time of the calendar: one that counts from its start
// begins anew with each daemon-reload.
func SetTimer(ctx context.Context, run string, at time.Time) error {
	path, err := program()
	if err != nil {
		return err
	}
	args := append(manager(), "--quiet", "--collect", "--unit="+timerOf(run),
		"--on-calendar="+at.UTC().Format("2006-01-02 15:04:05 UTC"), "--timer-property=AccuracySec=1s")
	for _, name := range []string{"XDG_STATE_HOME", "HOME"} {
		if value := os.Getenv(name); value != "" {
			args = append(args, "--setenv="+name+"="+value)
		}
	}
	_, err = called(ctx, "systemd-run", append(args, "--", path, "advise", "--undo", run)...)
	return err
}

// StopTimer removes the timer of a run if it waits. It may be gone, or be the one that runs this process.
func StopTimer(ctx context.Context, run string) {
	if systemdRuns() != nil {
		return
	}
	timer := timerOf(run) + ".timer"
	if state, err := systemctl(ctx, "show", "--value", "--property", "SubState", "--", timer); err == nil && state == "waiting" {
		_, _ = systemctl(ctx, "stop", "--", timer)
	}
}
