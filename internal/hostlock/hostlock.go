// Package hostlock keeps measurements of one host apart: two at once disturb each other,
// and neither would say so. The lock is the kernel's (flock), so that it ends with the
// process, however that ends.
package hostlock

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/journal"
	"github.com/tarelab/tare/internal/trust"
)

// ErrHeld means that somebody measures on this host now.
var ErrHeld = errors.New("another run measures on this host")

// DirEnv names another directory for the lock: of tests, which measure nothing that
// counts, and of containers that share one with their host.
const DirEnv = "TARE_RUN_DIR"

const (
	rootDir  = "/run/tare"
	userDirs = "/run/user"
	// noSession is the beginning of a user's directory without systemd or a session.
	noSession = "/tmp/.tare-"
	file      = "host.lock"
)

// holder is what is in a lock's file, for those who find it locked.
type holder struct {
	Pid       int       `json:"pid"`
	Start     uint64    `json:"start_ticks"` // field 22 of /proc/PID/stat
	Directory string    `json:"directory"`
	Since     time.Time `json:"since"`
}

// places are the lock of this user and those of others that it looks at: root looks at
// those of all users, and they at root's.
func places() (own string, others []string) {
	uid := strconv.Itoa(os.Geteuid())
	switch dir := os.Getenv(DirEnv); {
	case filepath.IsAbs(dir):
		return filepath.Join(dir, file), nil
	case os.Geteuid() == 0:
		for _, pattern := range []string{filepath.Join(userDirs, "*", "tare", file), filepath.Join(noSession+"*", file)} {
			found, _ := filepath.Glob(pattern) // which is good
			others = append(others, found...)
		}
		return filepath.Join(rootDir, file), others
	}
	others = []string{filepath.Join(rootDir, file)}
	if dir := filepath.Join(userDirs, uid); unix.Access(dir, unix.W_OK) == nil {
		return filepath.Join(dir, "tare", file), others
	}
	return filepath.Join(noSession+uid, file), others
}

// Take takes the lock for a measurement into a result directory, until release. It does
// not wait: the error wraps ErrHeld and says who has it.
func Take(directory string) (release func(), err error) {
	own, others := places()
	var taken []*os.File
	release = func() {
		for _, f := range taken {
			f.Close()
		}
	}
	for _, path := range append(others, own) {
		f, err := open(path, path == own)
		if err != nil && path != own { // none there, or nothing that a run has made
			continue
		}
		if err == nil {
			taken = append(taken, f)
			err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		}
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = held(append(others, own))
		}
		if err != nil {
			release()
			return nil, err
		}
	}
	if err := write(taken[len(taken)-1], directory); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// open opens a lock's file, and makes the user's own.
func open(path string, own bool) (*os.File, error) {
	const others = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	if !own {
		return os.OpenFile(path, others, 0)
	}
	f, err := create(path)
	if err != nil {
		return nil, hint.New(fmt.Errorf("keep other runs away: %w", err),
			"--beside measures without; "+DirEnv+" names another directory, the same for all runs of this host")
	}
	return f, nil
}

func create(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return nil, err
	}
	if err := trust.File(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func write(f *os.File, directory string) error {
	step, err := journal.Process(os.Getpid())
	if err != nil {
		return err
	}
	if directory, err = filepath.Abs(directory); err != nil {
		return err
	}
	b, err := json.Marshal(holder{step.Pid, step.Start, directory, time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt(append(b, '\n'), 0)
	}
	return err
}

// held says who measures, where one of the files is of a process that is still there: a
// user cannot write into root's.
func held(paths []string) error {
	remedy := "wait until it has ended, or end it; --beside measures all the same, and each disturbs the other"
	for _, path := range paths {
		if h, ok := read(path); ok {
			return hint.New(fmt.Errorf("%w: process %d, for %v, into %q", ErrHeld, h.Pid, time.Since(h.Since).Round(time.Second), h.Directory), remedy)
		}
	}
	return hint.New(fmt.Errorf("%w, another user's", ErrHeld), remedy)
}

func read(path string) (h holder, ok bool) {
	const longest = 8 << 10 // bytes
	f, err := open(path, false)
	if err != nil {
		return h, false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, longest))
	if err != nil || json.Unmarshal(b, &h) != nil {
		return h, false
	}
	step, err := journal.Process(h.Pid)
	return h, err == nil && step.Start == h.Start
}
