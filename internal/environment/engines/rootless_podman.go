package engines

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tarelab/tare/internal/engine"
	"github.com/tarelab/tare/internal/environment"
)

// rootlessPodman is Podman as the user.
func (a *arm) rootlessPodman(h home) (engine.Engine, error) {
	path, err := podmanPath()
	if err != nil {
		return nil, err
	}
	name := runtimeOf(a.Group.Tree)
	runtime, err := exec.LookPath(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; apt install %s", environment.ErrUnsupported, err, name)
	}
	// Locks in files: those in memory are in /dev/shm, one for all of the user's.
	conf := filepath.Join(h.dir, "containers.conf")
	text := fmt.Sprintf("[containers]\npids_limit = 0\n[engine]\nlock_type = \"file\"\nevents_logger = \"none\"\n"+
		"cgroup_manager = \"cgroupfs\"\n[engine.runtimes]\n%s = [%q]\n", name, runtime)
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		return nil, fmt.Errorf("make a home for podman: %w", err)
	}
	env := append(h.env, "CONTAINERS_CONF="+filepath.Join(h.seen, filepath.Base(conf)))
	return engine.Podman{Path: path, Runtime: name, Change: func(cmd *exec.Cmd) error {
		cmd.Env, cmd.Dir = env, "/"
		return h.as.Command(cmd)
	}}, nil
}
