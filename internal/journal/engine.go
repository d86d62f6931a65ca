package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/tarelab/tare/internal/engine"
)

const (
	// engineBound is how long an engine may take to remove a container.
	engineBound = time.Minute
	// A daemon finishes what it was asked for after the client is gone: what is
	// not there is looked for again until this much time has passed.
	lateBound = time.Second
	latePause = 250 * time.Millisecond
)

// removeContainer removes a container of an engine.
func removeContainer(s Step, run string) error {
	e, err := engine.Open(s.Value, s.Root)
	if err != nil {
		return err
	}
	defer e.Close()
	ctx, cancel := context.WithTimeout(context.Background(), engineBound)
	defer cancel()
	for end := time.Now().Add(lateBound); ; time.Sleep(latePause) {
		err = e.Remove(ctx, s.ID, run)
		if err != nil || time.Now().After(end) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("remove container %s: %w; is %s running? start it and clean up again", s.ID, err, s.Value)
	}
	return nil
}
