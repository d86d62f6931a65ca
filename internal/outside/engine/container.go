package engine

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"
)

// rootUser is the user of the container's first process. It replaces the image's user.
const rootUser = "0:0"

// Create makes a container and does not start it. After a failed Create, Remove removes the parts
// that were made.
func (e Engine) Create(ctx context.Context, c Container) error {
	kindArgs, err := e.kind.create(ctx, e, &c)
	if err != nil {
		return err
	}
	args := []string{"create", "--name", c.Name, "--label", OwnerLabel + "=" + c.Owner, "--log-driver", "none",
		"--workdir", c.Dir, "--hostname", c.Hostname}
	args = append(append(args, kindArgs...), c.network()...)
	for _, o := range c.Security {
		args = append(args, "--security-opt", o)
	}
	if c.Powerless {
		args = append(args, "--cap-drop", "ALL")
	}
	for _, b := range c.Binds {
		args = append(args, "--mount", b.mount())
	}
	_, err = e.call(ctx, append(args, c.command()...)...)
	return err
}

// mount is a bind as an argument of --mount. Its CSV quoting allows any character in a path.
func (b Bind) mount() string {
	fields := []string{"type=bind", "source=" + b.Source, "target=" + b.Target, "bind-propagation=rprivate"}
	if b.ReadOnly {
		fields = append(fields, "readonly")
	}
	var line strings.Builder
	w := csv.NewWriter(&line)
	_ = w.Write(fields) // into memory
	w.Flush()
	return strings.TrimSuffix(line.String(), "\n")
}

func (c Container) network() []string {
	switch {
	case c.HostNetwork:
		return []string{"--network", "host"}
	case c.Publish == 0:
		return []string{"--network", "none"}
	}
	port := fmt.Sprintf("127.0.0.1:%d:%d/tcp", c.Publish, c.Publish)
	if c.Network == "" {
		return []string{"--publish", port}
	}
	return []string{"--network", c.Network, "--publish", port}
}

// command are the arguments for the root file system and the program to run in it.
func (c Container) command() []string {
	if c.Image == "" {
		return append([]string{"--rootfs", c.Root}, c.Args...)
	}
	return append([]string{"--pull", "never", "--user", rootUser, "--entrypoint", c.Args[0], "--", c.Image}, c.Args[1:]...)
}

// Start starts a container that was never started or has ended.
func (e Engine) Start(ctx context.Context, name string) error {
	_, err := e.call(ctx, "start", name)
	return err
}

// State is the state of a container.
type State struct {
	Running bool
	Pid     int // of the first process; 0 when it does not run
	// Code is the exit code; 128 plus the signal's number if a signal ended it.
	Code int
	OOM  bool // the out-of-memory killer ended it
	// Capabilities is the bounding set; nil: Docker's default.
	Capabilities []string
	// Image is the digest of the image; empty without one.
	Image string
	// Address is the container's in the engine's network; empty without one. Published has the
	// host's addresses of its published ports, such as "127.0.0.1:8080".
	Address   string
	Published []string
	// Network is the engine's word for the kind of network: bridge, slirp4netns, pasta, host, none.
	Network string
}

// running are the statuses in which the engine still has to do with a container. In Podman's
// "stopped" the processes have ended and the engine has not cleaned up yet.
var running = []string{"running", "paused", "stopped", "stopping"}

// State inspects a container. The error is errNone if there is no such container.
func (e Engine) State(ctx context.Context, name string) (State, error) {
	out, err := e.call(ctx, "container", "inspect", name)
	if err != nil {
		return State{}, err
	}
	var all []struct {
		BoundingCaps []string // Podman's
		Image        string
		State        struct {
			Status        string
			Pid, ExitCode int
			OOMKilled     bool
		}
		NetworkSettings networkSettings
		HostConfig      struct{ NetworkMode string }
	}
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 1 {
		return State{}, fmt.Errorf("%s inspect: %w in %q", e.Name(), err, firstLine(out))
	}
	s, n := all[0].State, all[0].NetworkSettings
	return State{
		Running: slices.Contains(running, s.Status), Pid: s.Pid, Code: s.ExitCode, OOM: s.OOMKilled,
		Capabilities: all[0].BoundingCaps, Image: digest(all[0].Image), Address: n.address(), Published: n.published(),
		Network: all[0].HostConfig.NetworkMode,
	}, nil
}

// networkSettings is the network of a container as inspect prints it.
type networkSettings struct {
	IPAddress string
	Networks  map[string]struct{ IPAddress string }
	Ports     map[string][]struct{ HostIp, HostPort string }
}

// address is the address in the default network; Docker 29 prints that of each network only.
func (n networkSettings) address() string {
	return cmp.Or(n.IPAddress, n.Networks[Bridge].IPAddress)
}

func (n networkSettings) published() (all []string) {
	for _, port := range slices.Sorted(maps.Keys(n.Ports)) {
		for _, b := range n.Ports[port] {
			all = append(all, net.JoinHostPort(b.HostIp, b.HostPort))
		}
	}
	return all
}

// ErrNoNetwork means that the engine has no network of its own.
var ErrNoNetwork = errors.New("no network " + Bridge)

// CanPublish returns ErrNoNetwork if the daemon was started without a bridge. Podman makes its
// bridge with the container.
func (e Engine) CanPublish(ctx context.Context) error {
	if !e.kind.daemon {
		return nil
	}
	out, err := e.call(ctx, "network", "ls", "--quiet", "--filter", "name=^"+Bridge+"$", "--filter", "driver=bridge")
	if err == nil && out == "" {
		err = ErrNoNetwork
	}
	return err
}

// Remove kills and removes a container, with everything that Create made for it. A missing
// container is no error; a container of another owner is.
func (e Engine) Remove(ctx context.Context, name, owner string) error {
	id, err := e.find(ctx, name)
	if err != nil {
		return err
	}
	if id != "" {
		ours, err := e.find(ctx, name, "--filter", "label="+OwnerLabel+"="+owner)
		if err != nil {
			return err
		}
		if ours == "" {
			return fmt.Errorf("container %s is not of run %s: its label %s has another value", name, owner, OwnerLabel)
		}
		args := append([]string{"rm", "--force", "--volumes"}, e.kind.remove...)
		if _, err := e.call(ctx, append(args, name)...); err != nil && !errors.Is(err, errNone) {
			return err
		}
		if e.kind.forget != nil {
			if err := e.kind.forget(ctx, id); err != nil {
				return err
			}
		}
	}
	if e.kind.daemon {
		return e.RemoveImage(ctx, imageOf(name))
	}
	return nil
}

// find is the id of a container by its name; empty: there is none.
func (e Engine) find(ctx context.Context, name string, more ...string) (string, error) {
	args := append([]string{"ps", "--all", "--quiet", "--no-trunc", "--filter", "name=^" + regexp.QuoteMeta(name) + "$"}, more...)
	return e.call(ctx, args...)
}

// endBound is how long an engine may take to notice that a container's process has ended.
const endBound = time.Minute

// Ended waits until the engine has noticed that a container's process has ended, and
// returns the container's state.
func (e Engine) Ended(ctx context.Context, name string) (State, error) {
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

// digest is the digest of an image's configuration; Podman leaves "sha256:" out.
func digest(id string) string {
	if id == "" || strings.Contains(id, ":") {
		return id
	}
	return "sha256:" + id
}
