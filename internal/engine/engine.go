// Package engine speaks with container engines: Docker through its API, Podman
// through its command. It makes, starts, looks at and removes containers that
// carry their owner's label, and knows nothing of arms and loads.
package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// Engine is a container engine.
type Engine interface {
	// Name is its name, "docker" for example, and Host where it is: a socket or
	// a program.
	Name() string
	Host() string
	// Facts are what is worth keeping about it: versions, drivers, digests.
	Facts(ctx context.Context) ([]Fact, error)
	// Image looks at an image by its name; ErrNoImage: it has none.
	Image(ctx context.Context, name string) (Image, error)
	// Create makes a container, not started. What a failed Create leaves is
	// removed by Remove.
	Create(ctx context.Context, c Container) error
	// Start starts it, once more too when it has ended.
	Start(ctx context.Context, name string) error
	// State looks at it.
	State(ctx context.Context, name string) (State, error)
	// Remove ends it and removes it with everything that Create made. One that
	// is not there is fine, one with another owner is an error.
	Remove(ctx context.Context, name, owner string) error
	// Close lets go of the connection to it.
	Close() error
}

// Container is what to create.
type Container struct {
	Name  string
	Owner string // id of the run
	// Root is a directory of this host that is to be its root file system; empty:
	// that is the image's.
	Root, Image string
	// Binds are put on top of that.
	Binds []Bind
	Args  []string
	Dir   string // working directory
	// Parent is the control group that the engine makes the container's in, as a
	// path below each hierarchy; empty: the engine makes none (Podman), or where it
	// likes (Docker).
	Parent string
	// HostNetwork leaves it the host's network; else it has an empty one, or, to
	// Publish a port, Podman's slirp4netns.
	HostNetwork bool
	Publish     int // port of the host's loopback that leads to the same one there; 0: none
	Hostname    string
	Powerless   bool // without any capability
	// Security is passed on as --security-opt takes it: "apparmor=NAME".
	Security []string
}

// Image is what an engine says of an image.
type Image struct {
	ID       string // digest of its configuration
	OS, Arch string // "linux" and GOARCH's words
}

// Bind is a file or directory of this host in a container.
type Bind struct {
	Source, Target string
	ReadOnly       bool
}

// State is how a container is.
type State struct {
	Running bool
	Pid     int // of the first process; 0 when it does not run
	// Code is the exit code, 128 and the signal's number when one ended it.
	Code int
	OOM  bool // the out-of-memory killer ended it
	// Capabilities that it is given; nil: Docker's default ones.
	Capabilities []string
	// Image is the digest of the image; empty without one.
	Image string
}

// Fact is a name with a value.
type Fact struct{ Name, Value string }

// OwnerLabel is the label with the id of the run.
const OwnerLabel = "org.tarelab.tare.run"

// ErrNone means that there is no such container.
var ErrNone = errors.New("no such container")

// Check says why Name and Host of no engine say that.
func Check(name, host string) error {
	podman := filepath.IsAbs(host) && host == filepath.Clean(host) && filepath.Base(host) == podmanName
	if name == dockerName && strings.Contains(host, "://") || name == podmanName && podman {
		return nil
	}
	return fmt.Errorf("no engine is called %q and is at %q", name, host)
}

// Open finds an engine by what Name and Host said.
func Open(name, host string) (Engine, error) {
	if err := Check(name, host); err != nil {
		return nil, err
	}
	if name == podmanName {
		return Podman{Path: host}, nil
	}
	return NewDocker(host)
}

// endBound is how long an engine may take to notice the end of a container.
const endBound = time.Minute

// Ended waits until a container whose process has ended has ended for the
// engine too, and returns how.
func Ended(ctx context.Context, e Engine, name string) (State, error) {
	ctx, cancel := context.WithTimeout(ctx, endBound)
	defer cancel()
	for {
		s, err := e.State(ctx, name)
		if err != nil || !s.Running {
			return s, err
		}
		select {
		case <-ctx.Done():
			return s, fmt.Errorf("%s says that container %s runs, %v after its process has ended", e.Name(), name, endBound)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// owned refuses a container of somebody else's.
func owned(name, owner, label string) error {
	if label != owner {
		return fmt.Errorf("container %s is not of run %s: its label %s is %q", name, owner, OwnerLabel, label)
	}
	return nil
}

// firstLine is what is worth showing of a program's output.
func firstLine(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return first
}
