package ceph

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/linux/child"
)

// Shown is an image that rbd-fuse shows as a file. Its process ends with this
// one, in an orderly way: a client that is killed keeps its image in use.
type Shown struct {
	File string // path
	Pid  int

	image Image
	cmd   *exec.Cmd
	log   string
	done  chan struct{}
	err   error // of its end; valid after done
}

// Show starts rbd-fuse on a directory, in which it mounts; log is a file for
// what it says. It shows no other image of the pool, and none as long as there
// is no such image. Unmount the directory after End: it may be left mounted.
func (i Image) Show(dir, log string) (*Shown, error) {
	path, err := exec.LookPath("rbd-fuse")
	if err != nil {
		return nil, hint.New(err, Packages)
	}
	f, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &Shown{File: filepath.Join(dir, i.Name), image: i, log: log, done: make(chan struct{})}
	s.cmd = exec.Command(path, dir, "-f", "-c", i.Config, "-p", i.Pool.Name, "-r", i.Name)
	s.cmd.Stdout, s.cmd.Stderr = f, f
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := child.Start(s.cmd, func(err error) { s.err = err; close(s.done) }); err != nil {
		return nil, fmt.Errorf("start rbd-fuse: %w", err)
	}
	s.Pid = s.cmd.Process.Pid
	return s, nil
}

// appears is how long the file may take to appear.
const appears = 30 * time.Second

// Ready waits until the file is there.
func (s *Shown) Ready(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, appears)
	defer stop()
	found := make(chan error, 1)
	go func() { // the kernel waits for rbd-fuse, which may wait for the cluster
		for {
			st, err := os.Stat(s.File)
			if err == nil && st.Size() == 0 {
				err = errors.New("the image is empty")
			}
			if err == nil || ctx.Err() != nil {
				found <- err
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	select {
	case err := <-found:
		return err
	case <-s.done:
		return s.failed(fmt.Errorf("rbd-fuse ended: %v", s.err))
	case <-ctx.Done():
		return s.failed(fmt.Errorf("rbd-fuse did not show %s: %w", s.image, ctx.Err()))
	}
}

// failed adds what rbd-fuse said.
func (s *Shown) failed(err error) error {
	said, _ := os.ReadFile(s.log)
	return hint.New(fmt.Errorf("%w%s", err, last(said)), "rbd --conf "+s.image.Config+" ls "+s.image.Pool.Name+" has to work")
}

// ends is how long it may take to end: what it has not written yet is written.
const ends = 15 * time.Second

// End asks it to end and waits. It may be called twice.
func (s *Shown) End() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-s.done:
	case <-time.After(ends):
		s.Kill()
	}
}

// Kill ends it at once and waits. Whatever uses the file then has errors.
func (s *Shown) Kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	<-s.done
}
