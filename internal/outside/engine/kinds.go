package engine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// kind is what differs between engines whose command line is like Docker's.
type kind struct {
	name     string
	packages string // that have the program
	// daemon: the program asks a daemon, which goes on when the program ends; else the
	// program does the work.
	daemon bool
	flags  []string // before every command
	// create are flags of its own; it may change where the root file system comes from.
	create func(ctx context.Context, e Engine, c *Container) ([]string, error)
	remove []string // flags of rm
	// forget removes what rm leaves of a container; nil: nothing.
	forget func(ctx context.Context, id string) error
}

var (
	docker = kind{
		name: "docker", packages: "it is in docker.io, docker-cli or docker-ce-cli", daemon: true,
		create: dockerFlags,
	}
	podman = kind{
		// systemd is in no need of its own groups here, and may not be there.
		name: "podman", packages: "apt install podman", flags: []string{"--cgroup-manager", "cgroupfs"},
		create: podmanFlags, remove: []string{"--time", "0"}, forget: forget,
	}
)

// dockerFlags: Docker has no root file system without an image. The image has the links at
// the top of the root, and every directory is bound there.
func dockerFlags(ctx context.Context, e Engine, c *Container) ([]string, error) {
	if c.Image == "" {
		top, err := readTop(c.Root)
		if err != nil {
			return nil, err
		}
		var binds []Bind
		for _, dir := range top.dirs {
			binds = append(binds, Bind{Source: filepath.Join(c.Root, dir), Target: "/" + dir})
		}
		c.Image, c.Binds = imageOf(c.Name), append(binds, c.Binds...)
		if err := e.loadLinks(ctx, c.Image, top.links); err != nil {
			return nil, err
		}
	}
	flags := []string{"--userns", "host"} // what is bound belongs to the host's users
	if c.Parent != "" {
		flags = append(flags, "--cgroup-parent", "/"+strings.Trim(c.Parent, "/"))
	}
	return flags, nil
}

// podmanFlags: Podman would raise the limits of processes, and puts conmon into the
// container's group.
func podmanFlags(ctx context.Context, e Engine, c *Container) ([]string, error) {
	if strings.Contains(c.Root, ":") {
		return nil, fmt.Errorf("podman takes no root file system with a colon in its path: %s", c.Root)
	}
	limits, err := hostLimits(ctx)
	return append(podmanGroups(e, c), limits...), err
}

// podmanGroups: conmon stays where tare is and is not frozen with the container. A container
// without a parent is an ordinary user's: crun leaves it where it was started, and runc
// does where it may make no groups.
func podmanGroups(e Engine, c *Container) []string {
	switch {
	case c.Parent != "":
		return []string{"--cgroups", "no-conmon", "--cgroup-parent", c.Parent}
	case filepath.Base(e.Runtime) == "runc":
		return []string{"--cgroups", "no-conmon"}
	}
	return []string{"--cgroups", "disabled"}
}

// forget removes what a runtime still has of a container: Podman does not ask it to, when
// it was killed after the runtime had made the container and before it had noted that. An
// ordinary user's runtime has its state in the arm's own directory.
func forget(ctx context.Context, id string) error {
	if os.Geteuid() != 0 {
		return nil
	}
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
