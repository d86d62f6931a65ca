package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/tarelab/tare/internal/linux/memfd"
)

const podmanName = "podman"

// Podman is Podman's program: there need not be a service.
type Podman struct {
	Path string
	// Runtime is the OCI runtime; empty: Podman's own choice.
	Runtime string
	// Env is added to tare's own environment.
	Env []string
}

var _ Engine = Podman{}

// Name is "podman".
func (Podman) Name() string { return podmanName }

// Host is the program.
func (p Podman) Host() string { return p.Path }

// Close has nothing to do.
func (Podman) Close() error { return nil }

// stopBound is how much longer Podman may take when nobody waits any longer.
const stopBound = 10 * time.Second

// call runs Podman and returns what it printed. Podman that fails leaves its
// storage mounted, and Podman that succeeds takes that mount away.
func (p Podman) call(ctx context.Context, args ...string) (string, error) {
	out, err := p.run(ctx, args...)
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopBound)
		defer cancel()
		_, _ = p.run(ctx, "ps", "--quiet", "--filter", "name=^-$")
	}
	return out, err
}

// run leaves Podman to finish, also when nobody waits any longer and when tare has
// ended: half of what it does is worse than all.
func (p Podman) run(ctx context.Context, args ...string) (string, error) {
	// systemd is in no need of its own groups here, and may not be there.
	all := []string{"--cgroup-manager", "cgroupfs"}
	if p.Runtime != "" {
		all = append(all, "--runtime", p.Runtime)
	}
	cmd := exec.CommandContext(ctx, p.Path, append(all, args...)...)
	cmd.Env, cmd.Dir = append(os.Environ(), p.Env...), "/"
	cmd.Cancel, cmd.WaitDelay = func() error { return nil }, stopBound
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for tare alone
	// Files and no pipes: what Podman leaves running keeps them open.
	var said [2]*os.File
	for i, name := range []string{"output", "errors"} {
		f, err := memfd.Create(name, nil)
		if err != nil {
			return "", err
		}
		defer f.Close()
		said[i] = f
	}
	cmd.Stdout, cmd.Stderr = said[0], said[1]
	err := cmd.Run()
	switch text := textOf(said[1]); {
	case err == nil:
		return textOf(said[0]), nil
	case strings.Contains(text, "no such container"), strings.Contains(text, "no container with name or ID"):
		return "", ErrNone
	case strings.Contains(text, "image not known"):
		return "", ErrNoImage
	case ctx.Err() != nil:
		return "", fmt.Errorf("podman %s: %w", args[0], ctx.Err())
	default:
		return "", fmt.Errorf("podman %s: %w: %s", args[0], err, text)
	}
}

func textOf(f *os.File) string {
	b, _ := io.ReadAll(io.NewSectionReader(f, 0, 1<<20))
	return strings.TrimSpace(string(b))
}

// Facts are its version and the driver of its images.
func (p Podman) Facts(ctx context.Context) ([]Fact, error) {
	out, err := p.call(ctx, "info", "--format", "{{.Version.Version}} {{.Store.GraphDriverName}}")
	if err != nil {
		return nil, err
	}
	version, storage, _ := strings.Cut(out, " ")
	facts := []Fact{{"podman.version", version}, {"podman.storage", storage}}
	if p.Runtime != "" {
		facts = append(facts, Fact{"podman.runtime", p.Runtime})
	}
	return facts, nil
}

// Create makes a container on a root file system, without an image.
func (p Podman) Create(ctx context.Context, c Container) error {
	if strings.Contains(c.Root, ":") {
		return fmt.Errorf("podman takes no root file system with a colon in its path: %s", c.Root)
	}
	limits, err := hostLimits(ctx)
	if err != nil {
		return err
	}
	args := []string{"create", "--name", c.Name, "--label", OwnerLabel + "=" + c.Owner, "--log-driver", "none", "--workdir", c.Dir}
	args = append(args, p.groups(c)...)
	args = append(args, c.network()...)
	args = append(args, limits...)
	for _, o := range c.Security {
		args = append(args, "--security-opt", o)
	}
	if c.Powerless {
		args = append(args, "--cap-drop", "all")
	}
	for _, b := range c.Binds {
		opts := "rprivate"
		if b.ReadOnly {
			opts = "ro,rprivate"
		}
		args = append(args, "--volume", b.Source+":"+b.Target+":"+opts)
	}
	if c.Image == "" {
		args = append(append(args, "--rootfs", c.Root), c.Args...)
	} else {
		entry, err := json.Marshal(c.Args)
		if err != nil {
			return err
		}
		args = append(args, "--pull", "never", "--user", rootUser, "--entrypoint", string(entry), "--", c.Image)
	}
	_, err = p.call(ctx, args...)
	return err
}

// groups: conmon stays where tare is and is not frozen with the container. A container
// without a parent is an ordinary user's: crun leaves it where it was started, and runc
// does where it may make no groups.
func (p Podman) groups(c Container) []string {
	switch {
	case c.Parent != "":
		return []string{"--cgroups", "no-conmon", "--cgroup-parent", c.Parent}
	case filepath.Base(p.Runtime) == "runc":
		return []string{"--cgroups", "no-conmon"}
	}
	return []string{"--cgroups", "disabled"}
}

func (c Container) network() []string {
	name := []string{"--hostname", c.Hostname}
	switch {
	case c.HostNetwork:
		return append(name, "--network", "host")
	case c.Publish == 0:
		return append(name, "--network", "none")
	}
	port := fmt.Sprintf("127.0.0.1:%d:%d/tcp", c.Publish, c.Publish)
	return append(name, "--network", "slirp4netns", "--publish", port)
}

// Start starts a container.
func (p Podman) Start(ctx context.Context, name string) error {
	_, err := p.call(ctx, "start", name)
	return err
}

// State looks at a container.
func (p Podman) State(ctx context.Context, name string) (State, error) {
	out, err := p.call(ctx, "container", "inspect", name)
	if err != nil {
		return State{}, err
	}
	var all []struct {
		BoundingCaps []string
		Image        string // digest of its configuration, without its kind
		Config       struct{ Labels map[string]string }
		State        struct {
			Status        string
			Pid, ExitCode int
			OOMKilled     bool
		}
	}
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 1 {
		return State{}, fmt.Errorf("podman inspect: %w in %q", err, firstLine(out))
	}
	s, image := all[0].State, all[0].Image
	if image != "" {
		image = "sha256:" + image
	}
	return State{
		Image: image,
		// "stopped" is a container that has ended and is not cleaned up yet.
		Running: s.Status == "running" || s.Status == "stopped" || s.Status == "stopping" || s.Status == "paused",
		Pid:     s.Pid, Code: s.ExitCode, OOM: s.OOMKilled, Capabilities: all[0].BoundingCaps,
	}, nil
}

// Remove ends and removes a container.
func (p Podman) Remove(ctx context.Context, name, owner string) error {
	out, err := p.call(ctx, "ps", "--all", "--filter", "name=^"+name+"$", "--format", "json")
	if err != nil {
		return err
	}
	var found []struct {
		ID     string `json:"Id"`
		Labels map[string]string
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		return fmt.Errorf("podman ps: %w in %q", err, firstLine(out))
	}
	if len(found) == 0 {
		return nil
	}
	if err := owned(name, owner, found[0].Labels[OwnerLabel]); err != nil {
		return err
	}
	if _, err = p.call(ctx, "rm", "--force", "--ignore", "--time", "0", name); err != nil || os.Geteuid() != 0 {
		return err // an ordinary user's runtime has its state in the arm's own directory
	}
	return forget(ctx, found[0].ID)
}

// forget removes what a runtime still has of a container: Podman does not ask it to, when
// it was killed after the runtime had made the container and before it had noted that.
func forget(ctx context.Context, id string) error {
	for _, runtime := range []string{"runc", "crun"} {
		root := filepath.Join("/run", runtime) // where each of them keeps root's
		if _, err := os.Stat(filepath.Join(root, id)); id == "" || err != nil {
			continue
		}
		out, err := exec.CommandContext(ctx, runtime, "--root", root, "delete", "--force", id).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s delete %s: %w: %s", runtime, id, err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}
