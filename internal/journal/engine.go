package journal

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/engine"
	"github.com/tarelab/tare/internal/hint"
)

const (
	// engineBound is how long an engine may take to remove a container.
	engineBound = time.Minute
	// A daemon finishes what it was asked for after the client is gone, and so does
	// Podman's program: a container that is not there is looked for again until this
	// much time has passed since the undoing began, and no program works on it any more. On
	// a host that is short of CPU time Docker has taken more than a second to load an image.
	lateBound = 6 * time.Second
	latePause = 250 * time.Millisecond
)

// removeContainer removes a container of an engine, which may come until late.
func removeContainer(s Step, run string, late time.Time) error {
	if filepath.IsAbs(s.Root) { // a program, and no address
		if err := runnable(s.Root); err != nil && !gone(s.Root) {
			return hint.New(fmt.Errorf("remove container %s: %w", s.ID, err),
				byHand+s.Value+" rm --force "+s.ID)
		}
	}
	e, err := engine.Open(s.Value, s.Root)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), engineBound)
	defer cancel()
	for ; ; time.Sleep(latePause) {
		_, none := e.State(ctx, s.ID)
		err = e.Remove(ctx, s.ID, run)
		made := none == nil || time.Now().After(late) // its image was, before it
		if err != nil || ctx.Err() != nil || made && !named(s.ID) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("remove container %s: %w; is %s running? start it and clean up again", s.ID, err, s.Value)
	}
	return nil
}

// named says whether a process has a word among its arguments.
func named(word string) bool {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err == nil && slices.Contains(strings.Split(string(b), "\x00"), word) {
			return true
		}
	}
	return false
}
