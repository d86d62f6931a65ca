package oci

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/trust"
)

// ContainerStep is the step of a container: Undo kills and deletes it by its runtime.
type ContainerStep struct {
	// Runtime is the path of the program; its name is runc or crun.
	Runtime string `json:"path,omitempty"`
	// Root is the runtime's --root, in a directory of the run.
	Root string `json:"root,omitempty"`
	// ID of the container begins with tare-RUN-.
	ID string `json:"id,omitempty"`
}

// Kind is the word for it in the journal.
func (ContainerStep) Kind() string { return "container" }

// String names the container.
func (s ContainerStep) String() string { return s.Kind() + " " + s.ID }

// Lasts is false: containers end with the machine.
func (ContainerStep) Lasts() bool { return false }

// runtimes are the names of programs that Undo runs.
var runtimes = []string{"runc", "crun"}

// Check refuses other programs and containers of other runs.
func (s ContainerStep) Check(run string) error {
	known := journal.Plain(s.Runtime) && slices.Contains(runtimes, filepath.Base(s.Runtime))
	return journal.Own(known && journal.InRun(s.Root, run) && journal.PartOf(s.ID, run), s.Runtime+s.ID)
}

// Undo deletes the container.
func (s ContainerStep) Undo(*journal.Undoing) error {
	if gone(filepath.Join(s.Root, s.ID)) {
		return nil
	}
	if gone(s.Runtime) {
		return fmt.Errorf("delete container %s: %s is not there any more: install it again, or remove %s by hand",
			s.ID, s.Runtime, filepath.Join(s.Root, s.ID))
	}
	byHand := fmt.Sprintf("%s --root %s delete --force %s", filepath.Base(s.Runtime), s.Root, s.ID)
	if err := trust.Program(s.Runtime, byHand); err != nil {
		return fmt.Errorf("delete container %s: %w", s.ID, err)
	}
	_, _ = s.command("kill", s.ID, "KILL") // it may have ended
	out, err := s.command("delete", "--force", s.ID)
	if err != nil && strings.Contains(out, "does not exist") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete container %s: %w: %s", s.ID, err, strings.TrimSpace(out))
	}
	return nil
}

// commandBound is how long a runtime may take for one command.
const commandBound = 30 * time.Second

func (s ContainerStep) command(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), commandBound)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.Runtime, append([]string{"--root", s.Root}, args...)...)
	cmd.WaitDelay = time.Second // a child may hold the pipe open
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func gone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist)
}
