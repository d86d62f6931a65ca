package engine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// kind holds the differences between engines with Docker's command line.
type kind struct {
	name     string
	packages string // hint that names the packages with the program
	// daemon says that the program only asks a daemon, which does the work and may go on when the
	// program has ended.
	daemon bool
	flags  []string // global flags, before every command
	// create returns more flags of create; it may replace the root file system by an image.
	create func(ctx context.Context, e Engine, c *Container) ([]string, error)
	remove []string // flags of rm
	// forget removes what rm leaves of a container; nil: rm leaves nothing.
	forget func(ctx context.Context, id string) error
}

var (
	docker = kind{
		name: "docker", packages: "it is in docker.io, docker-cli or docker-ce-cli", daemon: true,
		create: dockerFlags,
	}
	podman = kind{
		// The manager cgroupfs needs no systemd, which may not run; tare makes the cgroups itself.
		name: "podman", packages: "apt install podman", flags: []string{"--cgroup-manager", "cgroupfs"},
		create: podmanFlags, remove: []string{"--time", "0"}, forget: forget,
	}
)

// dockerFlags makes the root file system for Docker, which takes only an image. It loads an image that
// holds nothing but the symbolic links at the top of c.Root, and adds a bind mount for each directory
// at the top.
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
	flags := []string{"--userns", "host"} // files below the binds belong to the host's users
	if c.Parent != "" {
		flags = append(flags, "--cgroup-parent", "/"+strings.Trim(c.Parent, "/"))
	}
	return flags, nil
}

// podmanFlags are flags that keep Podman from raising resource limits and from putting conmon into the
// container's cgroup.
func podmanFlags(ctx context.Context, e Engine, c *Container) ([]string, error) {
	if strings.Contains(c.Root, ":") {
		return nil, fmt.Errorf("podman takes no root file system with a colon in its path: %s", c.Root)
	}
	limits, err := hostLimits(ctx)
	return append(podmanGroups(e, c), limits...), err
}

// podmanGroups are flags that keep conmon in tare's cgroup, where it is not frozen with the container. A
// container without a parent is an ordinary user's, and stays in tare's cgroup too: crun leaves it there
// because of "disabled", runc because the user has no right to make cgroups.
func podmanGroups(e Engine, c *Container) []string {
	switch {
	case c.Parent != "":
		return []string{"--cgroups", "no-conmon", "--cgroup-parent", c.Parent}
	case filepath.Base(e.Runtime) == "runc":
		return []string{"--cgroups", "no-conmon"}
	}
	return []string{"--cgroups", "disabled"}
}

// forget removes the OCI runtime's state of a container. podman rm does not do that if Podman was killed
// after the runtime had made the container and before Podman noted it. The runtime of an ordinary user
// has its state in the arm's directory, which tare removes.
func forget(ctx context.Context, id string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, runtime := range []string{"runc", "crun"} {
		root := filepath.Join("/run", runtime) // state of containers of root
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
