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

// holder is what is in a lock's file, on its first line, for those who find it locked.
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
	own   *os.File
	all   []*os.File
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
// at those of all users, and they at root's.
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
// where there is one.
func Take(directory string, beside bool) (_ *Lock, err error) {
	own, others := places()
	l := &Lock{}
	defer func() {
		if err != nil {
			l.Release()
		}
	}()
	for _, first := range others {
		if err := l.lock(first, false, beside); err != nil {
			return nil, err
		}
	}
	if err := l.lock(own, true, beside); err != nil {
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

// lock keeps the runs of a user away whose first lock is at a path: of this user with the
// first that is free, of another one with the first. None of the rest may be taken, unless
// this run measures beside.
func (l *Lock) lock(first string, own, beside bool) error {
	for _, path := range slots(first) {
		mine := own && l.own == nil
		f, err := open(path, mine)
		if err != nil && mine {
			return err
		}
		if err != nil { // none there, or nothing that a run has made
			continue
		}
		free, err := locked(f)
		keep := free && (mine || !own && path == first)
		switch {
		case keep && mine:
			l.own, l.all = f, append(l.all, f)
		case keep:
			l.all = append(l.all, f)
		default:
			f.Close()
		}
		if err == nil && !free && !beside {
			err = held()
		}
		if err != nil {
			return err
		}
	}
	return nil
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
	for _, f := range l.all {
		f.Close()
	}
	l.own, l.all = nil, nil
}

// Want tells other runs what this one is going to take, in bytes of each of its places, and
// returns what others are. Told first and asked then: of two that ask at once, one at least
// sees the other.
func (l *Lock) Want(wants map[string]int64) (others map[string]int64) {
	l.tell(wants)
	const most = 1 << 50 // bytes: whatever others wrote, a sum of it is a number
	others = map[string]int64{}
	for _, path := range everySlot() {
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

func (l *Lock) describe(directory string) error {
	step, err := journal.Process(os.Getpid())
	if err != nil {
		return err
	}
	if directory, err = filepath.Abs(directory); err != nil {
		return err
	}
	l.about = holder{Pid: step.Pid, Start: step.Start, Directory: directory, Since: time.Now().UTC().Truncate(time.Second)}
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
	if _, err = l.own.WriteAt(b, 0); err == nil {
		err = l.own.Truncate(int64(len(b)))
	}
	return err
}

// held says who measures, where one of the files is of a process that is still there: a
// user cannot write into root's.
func held() error {
	remedy := "wait until it has ended, or end it; --beside measures all the same, and each disturbs the other"
	for _, path := range everySlot() {
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
	line, _, _ := bytes.Cut(b, []byte("\n"))
	if err != nil || json.Unmarshal(line, &h) != nil {
		return h, false
	}
	step, err := journal.Process(h.Pid)
	return h, err == nil && step.Start == h.Start
}
