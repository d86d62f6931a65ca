package engines

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tarelab/tare/internal/engine"
	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// rootlessPodman is Podman as the user.
func (a *arm) rootlessPodman(h home) (engine.Engine, error) {
	p, err := podmanAs(h, a.Group.Tree)
	if err != nil {
		return nil, err
	}
	env := append(h.env, confWord(h))
	p.Change = func(cmd *exec.Cmd) error {
		cmd.Env, cmd.Dir = env, "/"
		return h.as.Command(cmd)
	}
	return p, nil
}

// podmanAs is Podman with its configuration in a home.
func podmanAs(h home, t *cgroup.Tree) (engine.Podman, error) {
	path, err := podmanPath()
	if err != nil {
		return engine.Podman{}, err
	}
	name := runtimeOf(t)
	runtime, err := exec.LookPath(name)
	if err != nil {
		return engine.Podman{}, fmt.Errorf("%w: %w; apt install %s", environment.ErrUnsupported, err, name)
	}
	// Locks in files: those in memory are in /dev/shm, one for all of the user's.
	text := fmt.Sprintf("[containers]\npids_limit = 0\n[engine]\nlock_type = \"file\"\nevents_logger = \"none\"\n"+
		"cgroup_manager = \"cgroupfs\"\n[engine.runtimes]\n%s = [%q]\n", name, runtime)
	if err := os.WriteFile(filepath.Join(h.dir, confFile), []byte(text), 0o644); err != nil {
		return engine.Podman{}, fmt.Errorf("make a home for podman: %w", err)
	}
	return engine.Podman{Path: path, Runtime: name}, nil
}

// confFile is the name of its configuration.
const confFile = "containers.conf"

// confWord names it to Podman, in its environment.
func confWord(h home) string { return "CONTAINERS_CONF=" + filepath.Join(h.seen, confFile) }
