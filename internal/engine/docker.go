package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/api/types/system"

	"github.com/tarelab/tare/internal/image"
)

const dockerName = "docker"

// Docker is a Docker daemon on this host.
type Docker struct{ api *daemon }

var _ Engine = Docker{}

// NewDocker speaks with the daemon at a socket; empty: the one that Docker's
// own client would take from its environment. It connects with the first call.
func NewDocker(host string) (Docker, error) {
	api, err := connectDaemon(host)
	if err != nil {
		return Docker{}, fmt.Errorf("speak with Docker: %w", err)
	}
	return Docker{api}, nil
}

// Close lets go of its connections.
func (d Docker) Close() error {
	d.api.close()
	return nil
}

// Name is "docker".
func (Docker) Name() string { return dockerName }

// Host is the address of the daemon's socket.
func (d Docker) Host() string { return d.api.host }

// Info is what the daemon says of itself.
func (d Docker) Info(ctx context.Context) (system.Info, error) {
	var i system.Info
	err := d.api.ask(ctx, http.MethodGet, "/info", nil, nil, &i)
	return i, failed("info", err)
}

func failed(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("docker %s: %w", what, err)
}

// Facts are versions and drivers.
func (d Docker) Facts(ctx context.Context) ([]Fact, error) {
	i, err := d.Info(ctx)
	if err != nil {
		return nil, err
	}
	return []Fact{
		{"docker.version", i.ServerVersion}, {"docker.runtime", i.DefaultRuntime},
		{"docker.cgroup-driver", i.CgroupDriver}, {"docker.storage", i.Driver}, {"docker.security", strings.Join(i.SecurityOptions, " ")},
	}, nil
}

// rootUser is who the load is in every arm, whatever an image says.
const rootUser = "0:0"

// Create makes a container. Docker has no root file system without an image:
// the image has what is a link at the top of the root, and every directory is
// bound there.
func (d Docker) Create(ctx context.Context, c Container) error {
	image, binds := c.Image, []Bind(nil)
	if image == "" {
		var err error
		if image, binds, err = d.rootImage(ctx, c); err != nil {
			return err
		}
	}
	mode := container.NetworkMode("none")
	if c.HostNetwork {
		mode = "host"
	}
	var drop []string
	if c.Powerless {
		drop = []string{"ALL"}
	}
	request := container.CreateRequest{
		Config: &container.Config{
			Image: image, Entrypoint: c.Args, Hostname: c.Hostname, WorkingDir: c.Dir, User: rootUser,
			Labels: map[string]string{OwnerLabel: c.Owner},
		},
		HostConfig: &container.HostConfig{
			SecurityOpt: c.Security, CapDrop: drop,
			NetworkMode: mode, Mounts: mountsOf(append(binds, c.Binds...)),
			LogConfig:  container.LogConfig{Type: "none"},
			UsernsMode: "host", // what is bound belongs to the host's users
			Resources:  container.Resources{CgroupParent: parentOf(c.Parent)},
		},
	}
	err := d.api.ask(ctx, http.MethodPost, "/containers/create", url.Values{"name": {c.Name}}, request, nil)
	return failed("create", err)
}

// parentOf is a control group as the cgroupfs driver takes it.
func parentOf(path string) string {
	if path == "" {
		return "" // the daemon's choice
	}
	return "/" + strings.Trim(path, "/")
}

// rootImage is the image of a container whose root is a directory, and what has
// to be bound there.
func (d Docker) rootImage(ctx context.Context, c Container) (image string, binds []Bind, err error) {
	top, err := readTop(c.Root)
	if err != nil {
		return "", nil, err
	}
	for _, dir := range top.dirs {
		binds = append(binds, Bind{Source: filepath.Join(c.Root, dir), Target: "/" + dir})
	}
	return imageOf(c.Name), binds, d.load(ctx, imageOf(c.Name), top.links)
}

func mountsOf(binds []Bind) []mount.Mount {
	var all []mount.Mount
	for _, b := range binds {
		all = append(all, mount.Mount{
			Type: mount.TypeBind, Source: b.Source, Target: b.Target, ReadOnly: b.ReadOnly,
			BindOptions: &mount.BindOptions{Propagation: mount.PropagationRPrivate},
		})
	}
	return all
}

// top is what is at the top of a root file system.
type top struct {
	dirs  []string
	links map[string]string // name to target
}

// readTop leaves out the file systems that every container has of its own.
func readTop(root string) (top, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return top{}, fmt.Errorf("list the root file system: %w", err)
	}
	t := top{links: map[string]string{}}
	for _, e := range entries {
		switch {
		case slices.Contains([]string{"dev", "proc", "sys"}, e.Name()):
		case e.IsDir():
			t.dirs = append(t.dirs, e.Name())
		case e.Type()&os.ModeSymlink != 0:
			if t.links[e.Name()], err = os.Readlink(filepath.Join(root, e.Name())); err != nil {
				return t, fmt.Errorf("read a link of the root file system: %w", err)
			}
		}
	}
	return t, nil
}

// imageOf is the image of a container of that name.
func imageOf(name string) string { return "tare-root:" + name }

// load gives the daemon the image of a container, which holds links and nothing else.
// The same links are the same image, to the digest.
func (d Docker) load(ctx context.Context, tag string, links map[string]string) error {
	r, w := io.Pipe()
	go func() { w.CloseWithError(image.Small{Tag: tag, Links: links}.Write(w)) }()
	defer r.Close()
	return d.loadFrom(ctx, r)
}

func (d Docker) loadFrom(ctx context.Context, archive io.Reader) error {
	out, err := d.api.stream(ctx, http.MethodPost, "/images/load", url.Values{"quiet": {"1"}}, archive, "application/x-tar")
	if err != nil {
		return failed("load", err)
	}
	defer out.Close()
	said, err := io.ReadAll(out)
	if err == nil && strings.Contains(string(said), `"error"`) {
		err = errors.New(firstLine(string(said)))
	}
	return failed("load", err)
}

// Start starts a container.
func (d Docker) Start(ctx context.Context, name string) error {
	err := d.api.ask(ctx, http.MethodPost, "/containers/"+name+"/start", nil, nil, nil)
	return failed("start", err)
}

// State looks at a container.
func (d Docker) State(ctx context.Context, name string) (State, error) {
	c, err := d.inspect(ctx, name)
	if err != nil {
		return State{}, err
	}
	s := State{Image: c.Image}
	if c.State != nil {
		s.Running, s.Pid, s.Code, s.OOM = c.State.Running, c.State.Pid, c.State.ExitCode, c.State.OOMKilled
	}
	return s, nil
}

func (d Docker) inspect(ctx context.Context, name string) (container.InspectResponse, error) {
	var c container.InspectResponse
	err := d.api.ask(ctx, http.MethodGet, "/containers/"+name+"/json", nil, nil, &c)
	if notThere(err) {
		return c, ErrNone
	}
	return c, failed("inspect", err)
}

// Remove ends and removes a container and its image.
func (d Docker) Remove(ctx context.Context, name, owner string) error {
	c, err := d.inspect(ctx, name)
	if err == nil {
		if err := owned(name, owner, c.Config.Labels[OwnerLabel]); err != nil {
			return err
		}
		err = d.api.ask(ctx, http.MethodDelete, "/containers/"+name, url.Values{"force": {"1"}, "v": {"1"}}, nil, nil)
	}
	if err != nil && !errors.Is(err, ErrNone) && !notThere(err) {
		return failed("rm", err)
	}
	return d.untag(ctx, imageOf(name))
}

// untag removes the name of an image, and the image with its last one.
func (d Docker) untag(ctx context.Context, tag string) error {
	err := d.api.ask(ctx, http.MethodDelete, "/images/"+tag, nil, nil, nil)
	if notThere(err) {
		return nil
	}
	return failed("rmi", err)
}
