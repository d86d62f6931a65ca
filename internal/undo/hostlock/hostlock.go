// Package hostlock lets only one run measure on a host: two runs would disturb each other
// unnoticed. The lock is the kernel's (flock), so it ends with the process however that ends.
package hostlock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/undo/trust"
)

// ErrHeld means that another run measures on this host.
var ErrHeld = errors.New("another run measures on this host")

// DirEnv names another directory for the lock: for tests, whose measurements do not count, and
// for containers that share a directory with their host.
const DirEnv = "TARE_RUN_DIR"

const (
	rootDir  = "/run/tare"
	userDirs = "/run/user"
	// noSession is the beginning of a user's directory where there is no systemd or no session.
	noSession = "/tmp/.tare-"
	file      = "host.lock"
)

// holderSuffix is the suffix of the file beside a lock that says who holds the lock. All users may
// read that file. Only the owner may open the lock itself, because whoever can open a file can
// lock it.
const holderSuffix = ".json"

// holder is the run that holds a lock: the first line of the file beside the lock.
type holder struct {
	Pid       int       `json:"pid"`
	Start     uint64    `json:"start_ticks"` // field 22 of /proc/PID/stat
	Directory string    `json:"directory"`
	Since     time.Time `json:"since"`
}

// Lock is a lock that a run holds until Release. A run without a lock has a nil Lock, whose Release
// does nothing.
type Lock struct {
	file *os.File
	pid  int // of the process that took it
}

// lockPaths returns the path of this user's lock and the paths of the other users' locks that it
// looks at. Root looks at the locks of all users, and they look at root's lock. No user can keep
// root from measuring: root only warns of their runs (Users).
func lockPaths() (own string, others []string) {
	uid := strconv.Itoa(os.Geteuid())
	switch dir := os.Getenv(DirEnv); {
	case filepath.IsAbs(dir):
		return filepath.Join(dir, file), nil
	case os.Geteuid() == 0:
		for _, pattern := range []string{filepath.Join(userDirs, "*", "tare", file), filepath.Join(noSession+"*", file)} {
			found, _ := filepath.Glob(pattern) // the pattern is valid
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

// Take takes the lock for a measurement into a result directory. With beside several runs share
// it. Take does not wait: if another run holds the lock, and not both runs share it, the error wraps
// ErrHeld and names that run. A run of another user does not keep root from measuring; see Users.
func Take(directory string, beside bool) (*Lock, error) {
	path, others := lockPaths()
	how := unix.LOCK_EX
	if beside {
		how = unix.LOCK_SH
	} else if os.Geteuid() != 0 && slices.ContainsFunc(others, measuring) {
		return nil, errHeld()
	}
	f, err := create(path, 0o600)
	if err != nil {
		return nil, hint.New(fmt.Errorf("keep other runs away: %w", err),
			"--force measures without; "+DirEnv+" names another directory, the same for all runs of this host")
	}
	l := &Lock{file: f, pid: os.Getpid()}
	if err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		err = errHeld()
	}
	if err == nil {
		err = l.writeHolder(directory)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// measuring says whether a run holds the lock at a path.
func measuring(path string) bool {
	_, ok := readHolder(path)
	return ok
}

// Users are the runs of other users that measure while root does, for a warning: "process 7,
// for 3 s, into \"/home/x/result\"". An ordinary user gets none.
func Users() (all []string) {
	if os.Geteuid() != 0 {
		return nil
	}
	_, others := lockPaths()
	for _, path := range others {
		if h, ok := readHolder(path); ok {
			all = append(all, h.String())
		}
	}
	return all
}

func (h holder) String() string {
	return fmt.Sprintf("process %d, for %v, into %q", h.Pid, time.Since(h.Since).Round(time.Second), h.Directory)
}

// Release releases the lock.
func (l *Lock) Release() {
	if l == nil || l.file == nil {
		return
	}
	if h, ok := readHolder(l.file.Name()); ok && h.Pid == l.pid { // this process may have taken the lock again
		_ = os.Truncate(l.file.Name()+holderSuffix, 0)
	}
	l.file.Close()
	l.file = nil
}

// create opens a file, or makes it. Other users must not be able to replace it.
func create(path string, mode os.FileMode) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, mode)
	if err != nil {
		return nil, err
	}
	err = trust.File(f)
	if err == nil {
		err = f.Chmod(mode) // an older tare made it readable
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// writeHolder writes who holds the lock. Other processes may read the file at any moment, so it is
// not truncated first: it writes the new line over the old one and then cuts off the rest.
func (l *Lock) writeHolder(directory string) error {
	self, err := proc.FS("/").Process(l.pid)
	if err != nil {
		return err
	}
	if directory, err = filepath.Abs(directory); err != nil {
		return err
	}
	b, err := json.Marshal(holder{Pid: l.pid, Start: self.Start, Directory: directory, Since: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	f, err := create(l.file.Name()+holderSuffix, 0o644)
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if _, err = f.WriteAt(b, 0); err == nil {
		err = f.Truncate(int64(len(b)))
	}
	return errors.Join(err, f.Close())
}

// errHeld is ErrHeld with the run that holds the lock, and a remedy.
func errHeld() error {
	remedy := "wait until it has ended, or end it; --force runs beside it (noisier)"
	own, others := lockPaths()
	for _, path := range append(others, own) {
		if h, ok := readHolder(path); ok {
			return hint.New(fmt.Errorf("%w: %v", ErrHeld, h), remedy)
		}
	}
	return hint.New(ErrHeld, remedy)
}

// readHolder reads the holder of the lock at a path. ok is false if its process has ended.
func readHolder(path string) (h holder, ok bool) {
	const longest = 8 << 10 // bytes
	b, err := trust.Read(path+holderSuffix, longest)
	line, _, _ := bytes.Cut(b, []byte("\n"))
	if err != nil || json.Unmarshal(line, &h) != nil {
		return h, false
	}
	p, err := proc.FS("/").Process(h.Pid)
	return h, err == nil && p.Start == h.Start
}
