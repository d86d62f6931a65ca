// Package hostlock keeps measurements of one host apart: two at once disturb each other,
// and neither would say so. The lock is the kernel's (flock), so that it ends with the
// process, however that ends.
package hostlock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/undo/trust"
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

// shown is the end of the file beside a lock that says who holds it. All users may read that;
// the lock's own file is its owner's alone, for who may open a file may lock it.
const shown = ".json"

// holder is what is in the file beside a lock, on its first line.
type holder struct {
	Pid       int       `json:"pid"`
	Start     uint64    `json:"start_ticks"` // field 22 of /proc/PID/stat
	Directory string    `json:"directory"`
	Since     time.Time `json:"since"`
	// Wants is what the run is going to take and has not yet: bytes of memory, or of a file system.
	Wants map[string]int64 `json:"wants,omitempty"`
}

// Lock is held by one run until Release. A nil one is of a run that could have none.
type Lock struct {
	own   *os.File // the lock
	said  *os.File // who holds it
	about holder
}

// runs is how many runs of one user know of each other: the first, and those that are to
// measure beside it.
const runs = 4

// slots are the files of the locks of those whose first one is at path.
func slots(path string) (all []string) {
	for n := range runs {
		name := path
		if n > 0 {
			name = fmt.Sprintf("%s.%d", path, n+1)
		}
		all = append(all, name)
	}
	return all
}

// places are the first lock of this user and those of others that it looks at: root looks
// at those of all users, and they at root's. What a user wrote keeps root from nothing.
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

// Take takes a lock for a measurement into a result directory. It does not wait: where
// somebody measures and this run is not to measure beside, the error wraps ErrHeld and says
// who it is. One that measures beside takes what is free; what it wants is seen by others
// where there is one. A user does not keep root from measuring: see Users.
func Take(directory string, beside bool) (_ *Lock, err error) {
	own, others := places()
	l := &Lock{}
	defer func() {
		if err != nil {
			l.Release()
		}
	}()
	if os.Geteuid() != 0 && !beside {
		if err := measuring(others); err != nil {
			return nil, err
		}
	}
	if err := l.lock(own, beside); err != nil {
		return nil, err
	}
	if l.own == nil {
		return nil, held()
	}
	if err := l.describe(directory); err != nil {
		return nil, err
	}
	return l, l.write()
}

// lock takes the first lock that is free of those of this user whose first one is at a path.
// None of the rest may be taken, unless this run measures beside.
func (l *Lock) lock(first string, beside bool) error {
	for _, path := range slots(first) {
		mine := l.own == nil
		f, err := open(path, mine)
		if err != nil && mine {
			return err
		}
		if err != nil { // none there
			continue
		}
		free, err := locked(f)
		if free && mine {
			l.own = f
		} else {
			f.Close()
		}
		if err == nil && !free && !beside {
			err = held()
		}
		if err != nil {
			return err
		}
	}
	if l.own == nil {
		return nil
	}
	said, err := create(l.own.Name()+shown, 0o644)
	l.said = said
	return err
}

// measuring is an error where one of the runs measures whose first locks are at the paths.
func measuring(firsts []string) error {
	for _, first := range firsts {
		for _, path := range slots(first) {
			if _, ok := read(path); ok {
				return held()
			}
		}
	}
	return nil
}

// Users are the runs of other users that root finds measuring, to be warned of: "process 7, for
// 3 s, into \"/home/x/result\"". Of an ordinary user there are none.
func Users() (all []string) {
	if os.Geteuid() != 0 {
		return nil
	}
	_, others := places()
	for _, first := range others {
		for _, path := range slots(first) {
			if h, ok := read(path); ok {
				all = append(all, h.String())
			}
		}
	}
	return all
}

func (h holder) String() string {
	return fmt.Sprintf("process %d, for %v, into %q", h.Pid, time.Since(h.Since).Round(time.Second), h.Directory)
}

// locked says whether the lock was free, and takes it.
func locked(f *os.File) (free bool, err error) {
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// Release lets others measure.
func (l *Lock) Release() {
	if l == nil {
		return
	}
	if l.said != nil {
		_ = l.said.Truncate(0) // this process may have more to do
		l.said.Close()
	}
	if l.own != nil {
		l.own.Close()
	}
	l.own, l.said = nil, nil
}

// Want tells other runs what this one is going to take, in bytes of each of its places, and
// returns what others are. Told first and asked then: of two that ask at once, one at least
// sees the other. Root believes root alone: a user could claim all there is.
func (l *Lock) Want(wants map[string]int64) (others map[string]int64) {
	l.tell(wants)
	const most = 1 << 50 // bytes: whatever others wrote, a sum of it is a number
	others = map[string]int64{}
	paths := everySlot()
	if os.Geteuid() == 0 {
		own, _ := places()
		paths = slots(own)
	}
	for _, path := range paths {
		h, ok := read(path)
		if !ok || h.Pid == os.Getpid() {
			continue
		}
		for place, bytes := range h.Wants {
			others[place] += min(max(bytes, 0), most)
		}
	}
	return others
}

// Took tells other runs that this one has taken what it wanted.
func (l *Lock) Took() { l.tell(nil) }

func (l *Lock) tell(wants map[string]int64) {
	if l == nil || l.own == nil {
		return
	}
	l.about.Wants = wants
	_ = l.write() // a full /run keeps nobody from measuring
}

// everySlot are the files of all locks that this user looks at.
func everySlot() (all []string) {
	own, others := places()
	for _, first := range append(others, own) {
		all = append(all, slots(first)...)
	}
	return all
}

// open opens a lock's file, and makes the user's own.
func open(path string, own bool) (*os.File, error) {
	const others = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	if !own {
		return os.OpenFile(path, others, 0)
	}
	f, err := create(path, 0o600)
	if err != nil {
		return nil, hint.New(fmt.Errorf("keep other runs away: %w", err),
			"--beside measures without; "+DirEnv+" names another directory, the same for all runs of this host")
	}
	return f, nil
}

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

func (l *Lock) describe(directory string) error {
	self, err := proc.FS("/").Process(os.Getpid())
	if err != nil {
		return err
	}
	if directory, err = filepath.Abs(directory); err != nil {
		return err
	}
	l.about = holder{Pid: os.Getpid(), Start: self.Start, Directory: directory, Since: time.Now().UTC().Truncate(time.Second)}
	return nil
}

// write is read by others at any moment: the new line is there whole before the rest of
// the old one goes.
func (l *Lock) write() error {
	b, err := json.Marshal(l.about)
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if _, err = l.said.WriteAt(b, 0); err == nil {
		err = l.said.Truncate(int64(len(b)))
	}
	return err
}

// held says who measures.
func held() error {
	remedy := "wait until it has ended, or end it; --beside measures all the same, and each disturbs the other"
	for _, path := range everySlot() {
		if h, ok := read(path); ok {
			return hint.New(fmt.Errorf("%w: %v", ErrHeld, h), remedy)
		}
	}
	return hint.New(ErrHeld, remedy)
}

// read is who holds the lock at a path, if that process is still there.
func read(path string) (h holder, ok bool) {
	const longest = 8 << 10 // bytes
	f, err := open(path+shown, false)
	if err != nil {
		return h, false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, longest))
	line, _, _ := bytes.Cut(b, []byte("\n"))
	if err != nil || json.Unmarshal(line, &h) != nil {
		return h, false
	}
	p, err := proc.FS("/").Process(h.Pid)
	return h, err == nil && p.Start == h.Start
}
