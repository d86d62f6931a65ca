package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/ceph"
	"github.com/tarelab/tare/internal/hint"
)

// Unmount takes one mount away, lazily, so that users of it do not hinder.
func Unmount(path string) error {
	err := unix.Unmount(path, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOENT): // not a mount point, or gone
		return nil
	case err != nil:
		return &os.PathError{Op: "unmount", Path: path, Err: err}
	}
	return nil
}

// killBound is how long a killed process is waited for.
const killBound = 2 * time.Second

// killProcess kills a process if it is the one that was started. The
// descriptor holds it, so that its number cannot pass to another meanwhile.
func killProcess(s Step) error {
	fd, err := unix.PidfdOpen(s.Pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open process %d: %w", s.Pid, err)
	}
	defer unix.Close(fd)
	if start, err := startTicks(s.Pid); err != nil || start != s.Start {
		return nil // gone, and perhaps another has its number
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("kill process %d: %w", s.Pid, err)
	}
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for end := time.Now().Add(killBound); time.Now().Before(end); {
		n, err := unix.Poll(poll, int(time.Until(end).Milliseconds())+1)
		if n > 0 {
			return nil
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("wait for process %d: %w", s.Pid, err)
		}
	}
	return fmt.Errorf("process %d was killed and has not ended after %v", s.Pid, killBound)
}

// runtimeBound is how long an OCI runtime may take for one command.
const runtimeBound = 30 * time.Second

// deleteContainer kills and deletes a container by its own runtime.
func deleteContainer(s Step) error {
	if gone(filepath.Join(s.Root, s.ID)) {
		return nil
	}
	if gone(s.Path) {
		return fmt.Errorf("delete container %s: %s is not there any more: install it again, or remove %s by hand",
			s.ID, s.Path, filepath.Join(s.Root, s.ID))
	}
	if err := runnable(s.Path); err != nil {
		return hint.New(fmt.Errorf("delete container %s: %w", s.ID, err),
			byHand+fmt.Sprintf("%s --root %s delete --force %s", filepath.Base(s.Path), s.Root, s.ID))
	}
	_, _ = runtimeCommand(s, "kill", s.ID, "KILL") // it may have ended
	out, err := runtimeCommand(s, "delete", "--force", s.ID)
	if err != nil && strings.Contains(out, "does not exist") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete container %s: %w: %s", s.ID, err, strings.TrimSpace(out))
	}
	return nil
}

func runtimeCommand(s Step, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), runtimeBound)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.Path, append([]string{"--root", s.Root}, args...)...)
	cmd.WaitDelay = time.Second // a child may keep the pipe
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func gone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist)
}

// removeClass removes a group of resctrl, whose files go with it; its tasks fall back to the
// default one. Earlier versions of tare made such groups.
func removeClass(s Step) error {
	if err := unix.Rmdir(s.Path); err != nil && !errors.Is(err, unix.ENOENT) {
		return &os.PathError{Op: "remove", Path: s.Path, Err: err}
	}
	return nil
}

// removeImage removes a Ceph image, by the tools that are installed now.
func removeImage(s Step) error { return s.image().Remove(context.Background()) }

func (s Step) image() ceph.Image {
	pool, name, _ := strings.Cut(s.ID, "/")
	return ceph.Image{Pool: ceph.Pool{Config: s.Path, Name: pool}, Name: name}
}
