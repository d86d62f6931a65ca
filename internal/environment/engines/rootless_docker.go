package engines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/tarelab/tare/internal/engine"
	"github.com/tarelab/tare/internal/environment"
)

// A rootless Docker is a daemon in namespaces of its own, which sees what was mounted
// before it began: each arm has a daemon of its own, which begins after the arm's mounts.

// dockerScript is Docker's own script that starts such a daemon.
func dockerScript() (string, error) {
	const name = "dockerd-rootless.sh"
	if path, err := exec.LookPath(name); err == nil {
		return filepath.Abs(path)
	}
	const debians = "/usr/share/docker.io/contrib/" + name
	if _, err := os.Stat(debians); err != nil {
		return "", fmt.Errorf("rootless Docker is not installed: %s is neither in PATH nor at %s", name, debians)
	}
	return debians, nil
}

// socket is the name of the daemon's socket.
const socket = "docker.sock"

// rootlessDocker starts a daemon as the user.
func (a *arm) rootlessDocker(ctx context.Context, h home) (engine.Engine, error) {
	script, err := dockerScript()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", environment.ErrUnsupported, err)
	}
	// rootlesskit makes directories in /tmp, where the arm's own is for it. With the
	// sticky bit it does so beside what is root's, and can do nothing to that.
	if err := errors.Join(os.Chown(a.Dir, 0, a.as.gid), os.Chmod(a.Dir, 0o775|os.ModeSticky)); err != nil {
		return nil, fmt.Errorf("let user %s make directories: %w", a.as.name, err)
	}
	at := func(name string) string { return filepath.Join(h.seen, name) }
	cmd := exec.Command(script,
		"--data-root", at("data"), "--exec-root", at("run/docker"), "--pidfile", at("run/pid"), "--host", "unix://"+at("run/"+socket),
		// Without systemd's driver a rootless daemon makes no groups at all.
		"--exec-opt", "native.cgroupdriver=cgroupfs")
	cmd.Env, cmd.Dir = h.env, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for tare alone
	log, err := os.Create(filepath.Join(h.dir, "log"))
	if err != nil {
		return nil, fmt.Errorf("make a home for docker: %w", err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := h.as.Command(cmd); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start dockerd-rootless.sh: %w", err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }() // it ends with the group that it is in
	d, err := a.dockerAt(filepath.Join(h.dir, "run"))
	if err != nil {
		return nil, err
	}
	if err := answers(ctx, d, ended); err != nil {
		return nil, errors.Join(fmt.Errorf("start the daemon of user %s: %w%s", a.as.name, err, complaint(log.Name())), d.Close())
	}
	return d, nil
}

// dockerAt speaks with the daemon whose socket is in a directory, by a path that is
// never too long for one.
func (a *arm) dockerAt(dir string) (engine.Docker, error) {
	f, err := os.Open(dir)
	if err != nil {
		return engine.Docker{}, fmt.Errorf("open the directory of docker's socket: %w", err)
	}
	a.Undo(f.Close)
	return engine.NewDocker(fmt.Sprintf("unix:///proc/self/fd/%d/%s", f.Fd(), socket))
}

// answers waits for the first answer of a daemon.
func answers(ctx context.Context, d engine.Docker, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	for {
		_, err := d.Info(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return errors.New("it ended")
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// complaint is what a daemon that did not begin said last.
func complaint(log string) string {
	b, err := os.ReadFile(log)
	if err != nil {
		return ""
	}
	last := ""
	for line := range strings.Lines(string(b)) {
		// rootlesskit adds that its child has ended.
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "+ ") && !strings.HasPrefix(line, "[rootlesskit:parent]") {
			last = line
		}
	}
	return ": " + last
}
