// Package engine makes, starts, looks at and removes containers and images through the
// command line of Docker or Podman. Containers carry their owner's label. The package
// knows nothing of arms and loads. What differs between the engines is the table in kinds.go;
// containerd, which takes images only, is in containerd.go.
package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Engine is a container engine of this host.
type Engine struct {
	kind    *kind
	path    string // of the program; Docker's is looked for in PATH
	address string // of the daemon; empty: there is none
	// Runtime is the OCI runtime; empty: the engine's own choice.
	Runtime string
	// Env is added to tare's own environment.
	Env []string
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
	Args  []string // the program and its arguments
	Dir   string   // working directory
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

// Bind is a file or directory of this host in a container.
type Bind struct {
	Source, Target string
	ReadOnly       bool
}

// Fact is a name with a value.
type Fact struct{ Name, Value string }

// OwnerLabel is the label with the id of the run.
const OwnerLabel = "org.tarelab.tare.run"

// ErrNone means that there is no such container.
var ErrNone = errors.New("no such container")

// usualDaemon is where Docker's daemon is when nobody says another place.
const usualDaemon = "unix:///var/run/docker.sock"

// NewDocker is the Docker whose daemon is at an address (unix:///PATH, tcp://HOST:PORT);
// empty: at $DOCKER_HOST, or at the usual place.
func NewDocker(address string) (Engine, error) {
	address = cmp.Or(address, os.Getenv("DOCKER_HOST"), usualDaemon)
	if scheme, at, ok := strings.Cut(address, "://"); !ok || scheme == "" || at == "" {
		return Engine{}, fmt.Errorf("speak with Docker: the address of the daemon %q is not like %s", address, usualDaemon)
	}
	return Engine{kind: &docker, path: docker.name, address: address}, nil
}

// NewPodman is Podman with the path of its program.
func NewPodman(path string) Engine { return Engine{kind: &podman, path: path} }

// Name is its name, "docker" for example.
func (e Engine) Name() string { return e.kind.name }

// Host says where it is: the address of the daemon, or the program.
func (e Engine) Host() string { return cmp.Or(e.address, e.path) }

// Check says why Name and Host of no engine say that.
func Check(name, host string) error {
	program := filepath.IsAbs(host) && host == filepath.Clean(host) && filepath.Base(host) == podman.name
	if name == docker.name && strings.Contains(host, "://") || name == podman.name && program {
		return nil
	}
	return fmt.Errorf("no engine is called %q and is at %q", name, host)
}

// Open finds an engine by what Name and Host said.
func Open(name, host string) (Engine, error) {
	if err := Check(name, host); err != nil {
		return Engine{}, err
	}
	if name == podman.name {
		return NewPodman(host), nil
	}
	return NewDocker(host)
}

// Info is what an engine says of itself. Podman leaves most of it empty.
type Info struct {
	OSType, KernelVersion, Architecture string // of the daemon's machine
	ServerVersion, DefaultRuntime       string
	CgroupDriver, Driver                string
	SecurityOptions                     []string
	ServerErrors                        []string                         // before Docker 23: the daemon does not answer
	Version                             struct{ Version string }         // Podman's
	Store                               struct{ GraphDriverName string } // Podman's
}

// Info asks the engine.
func (e Engine) Info(ctx context.Context) (Info, error) {
	var i Info
	out, err := e.call(ctx, "info", "--format", "{{json .}}")
	if err != nil {
		return i, err
	}
	if err := json.Unmarshal([]byte(out), &i); err != nil {
		return i, fmt.Errorf("%s info: %w in %q", e.Name(), err, firstLine(out))
	}
	if len(i.ServerErrors) > 0 {
		return i, fmt.Errorf("%s info: %s", e.Name(), strings.Join(i.ServerErrors, "; "))
	}
	return i, nil
}

// Facts are what is worth keeping about it: versions and drivers.
func (e Engine) Facts(ctx context.Context) ([]Fact, error) {
	i, err := e.Info(ctx)
	if err != nil {
		return nil, err
	}
	var facts []Fact
	for _, f := range []Fact{
		{"version", cmp.Or(i.ServerVersion, i.Version.Version)}, {"runtime", cmp.Or(i.DefaultRuntime, e.Runtime)},
		{"cgroup-driver", i.CgroupDriver}, {"storage", cmp.Or(i.Driver, i.Store.GraphDriverName)},
		{"security", strings.Join(i.SecurityOptions, " ")},
	} {
		if f.Value != "" {
			facts = append(facts, Fact{e.Name() + "." + f.Name, f.Value})
		}
	}
	return facts, nil
}

// firstLine is what is worth showing of a program's output.
func firstLine(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return first
}
