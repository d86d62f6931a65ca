// Package engine makes, starts, inspects and removes containers and images with the command
// line of Docker or Podman. A label of a container names its owner. The differences between
// the engines are the table in kinds.go; containerd.go loads images into containerd. The
// package must not know arms and loads.
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

	"github.com/tarelab/tare/internal/linux/netns"
)

// Engine is a container engine of this host.
type Engine struct {
	kind    *kind
	path    string // of the program; docker is found in PATH
	address string // of the daemon; empty: there is no daemon
	// Runtime is the OCI runtime; empty: the engine's default.
	Runtime string
	// Env is added to tare's own environment.
	Env []string
	// Namespaces are those in which the program runs; nil: those of tare. Podman makes its bridge,
	// its rules and the mounts of network namespaces there.
	Namespaces *netns.Namespaces
}

// Container describes a container to create.
type Container struct {
	Name  string
	Owner string // id of the run
	// Root is a directory of this host as the root file system; empty: that of Image.
	Root, Image string
	Binds       []Bind
	Args        []string // program and arguments
	Dir         string   // working directory
	// Parent is the control group in which the engine makes the container's, as a path
	// below each hierarchy; empty: no group (Podman), or the engine's default (Docker).
	Parent string
	// HostNetwork shares the host's network. Otherwise the container has loopback only, or
	// with Publish the network Network.
	HostNetwork bool
	Network     string // Bridge; empty: the engine's default
	Publish     int    // port of the host's loopback that is forwarded to the same port; 0: none
	Hostname    string
	Powerless   bool // no capabilities
	// Security are arguments of --security-opt, such as "apparmor=NAME".
	Security []string
}

// Bind is a file or directory of this host in a container.
type Bind struct {
	Source, Target string
	ReadOnly       bool
}

// Fact is a name with a value.
type Fact struct{ Name, Value string }

// Bridge is the network of a container with a published port, and the default of both engines for root. An ordinary
// user's Podman has slirp4netns as its default before version 5, and pasta from then on.
const Bridge = "bridge"

// OwnerLabel is the label with the id of the run.
const OwnerLabel = "org.tarelab.tare.run"

// errNone means that there is no such container.
var errNone = errors.New("no such container")

// usualDaemon is the default address of Docker's daemon.
const usualDaemon = "unix:///var/run/docker.sock"

// NewDocker is Docker with its daemon at an address (unix:///PATH, tcp://HOST:PORT); empty:
// $DOCKER_HOST, or the default address.
func NewDocker(address string) (Engine, error) {
	address = cmp.Or(address, os.Getenv("DOCKER_HOST"), usualDaemon)
	if scheme, at, ok := strings.Cut(address, "://"); !ok || scheme == "" || at == "" {
		return Engine{}, fmt.Errorf("speak with Docker: the address of the daemon %q is not like %s", address, usualDaemon)
	}
	return Engine{kind: &docker, path: docker.name, address: address}, nil
}

// NewNamespaces makes a room for Podman. The addresses that it gave to containers are there too.
func NewNamespaces() (*netns.Namespaces, error) {
	return netns.NewNamespaces("/var/lib/cni", "/run/containers/networks")
}

// NewPodman is Podman with the path of its program.
func NewPodman(path string) Engine { return Engine{kind: &podman, path: path} }

// Name is "docker" or "podman".
func (e Engine) Name() string { return e.kind.name }

// Host is the address of the daemon, or the path of Podman's program.
func (e Engine) Host() string { return cmp.Or(e.address, e.path) }

// check returns an error if no engine has this Name and Host.
func check(name, host string) error {
	program := filepath.IsAbs(host) && host == filepath.Clean(host) && filepath.Base(host) == podman.name
	if name == docker.name && strings.Contains(host, "://") || name == podman.name && program {
		return nil
	}
	return fmt.Errorf("no engine is called %q and is at %q", name, host)
}

// open finds an engine by its Name and Host.
func open(name, host string) (Engine, error) {
	if err := check(name, host); err != nil {
		return Engine{}, err
	}
	if name == podman.name {
		return NewPodman(host), nil
	}
	return NewDocker(host)
}

// Info is the engine's description of itself. Podman leaves most of it empty.
type Info struct {
	OSType, KernelVersion, Architecture string // of the daemon's machine
	ServerVersion, DefaultRuntime       string
	CgroupDriver, Driver                string
	SecurityOptions                     []string
	ServerErrors                        []string                         // of Docker before 23, if the daemon does not answer
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

// Facts are versions and drivers, for the manifest of a result.
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

// firstLine is the first line of a program's output, for an error.
func firstLine(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return first
}
