package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/trust"
)

// ContainerStep kills and removes a container, with everything that Create made for it. The
// container's name begins with tare-RUN-, and its owner is the run.
type ContainerStep struct {
	Engine string `json:"value,omitempty"` // Engine.Name
	Host   string `json:"root,omitempty"`  // Engine.Host
	Name   string `json:"id,omitempty"`
}

// Kind is the word for it in a journal.
func (ContainerStep) Kind() string { return "engine" }

// String names the container and the engine.
func (s ContainerStep) String() string { return fmt.Sprintf("container %s of %s", s.Name, s.Engine) }

// Lasts is true: an engine keeps its containers.
func (ContainerStep) Lasts() bool { return true }

// check refuses unknown engines, and containers that are not the run's.
func (s ContainerStep) Check(run string) error {
	if err := check(s.Engine, s.Host); err != nil {
		return err
	}
	return journal.Own(journal.PartOf(s.Name, run), s.Name)
}

const (
	// removeBound is how long an engine may take to remove a container.
	removeBound = time.Minute
	// latePause is the time between two looks for a container that may still be made.
	latePause = 250 * time.Millisecond
)

// Undo removes the container. The daemon, and Podman's program, may still make it after the
// client is killed: Undo looks for a missing container until Undoing.Late, and until no
// program has its name among its arguments.
func (s ContainerStep) Undo(u *journal.Undoing) error {
	if filepath.IsAbs(s.Host) && !gone(s.Host) { // the path of Podman's program
		if err := trust.Program(s.Host, s.Engine+" rm --force "+s.Name); err != nil {
			return fmt.Errorf("remove container %s: %w", s.Name, err)
		}
	}
	e, err := open(s.Engine, s.Host)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), removeBound)
	defer cancel()
	if !e.kind.daemon {
		// Podman takes its rules and its bridge back, which were in a namespace that ended with the run.
		if e.Namespaces, err = NewNamespaces(); err == nil {
			defer e.Namespaces.Close()
		}
	}
	for ; ; time.Sleep(latePause) {
		_, none := e.State(ctx, s.Name)
		err = e.Remove(ctx, s.Name, u.Run)
		made := none == nil || time.Now().After(u.Late) // and its image, which is made first
		if err != nil || ctx.Err() != nil || made && !inArguments(s.Name) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("remove container %s: %w; is %s running? start it and clean up again", s.Name, err, s.Engine)
	}
	return nil
}

// inArguments says whether any process has a word among its arguments.
func inArguments(word string) bool {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err == nil && slices.Contains(strings.Split(string(b), "\x00"), word) {
			return true
		}
	}
	return false
}

func gone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist)
}
