package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Freezer freezes and thaws all processes of its groups. It is not safe for concurrent use. If the
// groups saturate the CPUs, call it on a locked thread (runtime.LockOSThread) under SCHED_FIFO.
// Freeze and Thaw allocate nothing.
//
// Version 2 is preferred, also in the hybrid layout, because SIGKILL ends its frozen processes:
// when tare is killed, its arms end with it. Frozen processes of version 1 stay until somebody
// thaws them. Speed does not decide. BenchmarkSwitch on two virtual CPUs, kernel 6.18,
// otherwise idle, controller under SCHED_FIFO, in microseconds (median, 99th percentile):
//
//	                            v1 freeze    v1 thaw   v2 freeze    v2 thaw
//	8 threads that mostly sleep    24   146    31   75   115   216   33   58
//	8 processes that spin         109  4739    38   67   145  5090   58   94
//	4 threads in fdatasync        341   578    19   53   317   790   20   50
//
// The priority of the controller's thread decides. At normal priority beside the 8 processes
// that spin, a thaw takes 10 to 19 ms in the median, because the thawed processes run first,
// and a sleep of the controller ends 8 to 17 ms late at the 99th percentile, against 0.06 ms
// under SCHED_FIFO.
//
// The freezer stops a task only when it returns to user mode, so a task in fdatasync is
// confirmed when the call is done. Both versions restart system calls without the program
// noticing, with exceptions: after a thaw epoll_wait and io_getevents return EINTR, and with
// version 2 also a receive from a socket with a time-out; see TestBlockedCallsOverFreeze.
type Freezer struct {
	kind   string
	groups []Group
	files  []freezeFile
	buf    [512]byte
}

// freezeFile is one group: the file that freezes it and the file that confirms that.
type freezeFile struct {
	set, confirm int // descriptors; the same one in version 1
	frozen       bool
}

// The kinds of a Freezer.
const (
	freezerV1 = "freezer v1"
	freezerV2 = "freezer v2"
)

var (
	v1Freeze, v1Thaw = []byte("FROZEN"), []byte("THAWED")
	v2Freeze, v2Thaw = []byte("1"), []byte("0")
	v2Frozen         = []byte("frozen 1")
)

// Freezer opens the freezer of the group. The caller closes it.
func (g Group) Freezer() (*Freezer, error) { return NewFreezer(g) }

// NewFreezer opens one freezer for several groups. It writes to all groups before it waits for any. The
// caller closes it.
func NewFreezer(groups ...Group) (*Freezer, error) {
	kind := freezerV2
	for _, g := range groups {
		if !exists(filepath.Join(g.Dirs[Unified], "cgroup.freeze")) {
			kind = freezerV1
		}
	}
	return newFreezer(kind, groups)
}

func newFreezer(kind string, groups []Group) (*Freezer, error) {
	if len(groups) == 0 {
		return nil, errors.New("open a freezer: no group")
	}
	f := &Freezer{kind: kind, groups: groups}
	for _, g := range groups {
		file, err := openFreeze(kind, g)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("open the freezer of group %s: %w", g.Path, err)
		}
		f.files = append(f.files, file)
	}
	return f, nil
}

func openFreeze(kind string, g Group) (freezeFile, error) {
	if kind == freezerV1 {
		dir, err := g.Dir(freezer)
		if err != nil {
			return freezeFile{}, fmt.Errorf("%w, and no cgroup.freeze of version 2 (kernel 5.2)", err)
		}
		fd, err := unix.Open(filepath.Join(dir, "freezer.state"), unix.O_RDWR|unix.O_CLOEXEC, 0)
		return freezeFile{set: fd, confirm: fd}, err
	}
	dir, err := g.Dir(Unified)
	if err != nil {
		return freezeFile{}, err
	}
	set, err := unix.Open(filepath.Join(dir, "cgroup.freeze"), unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return freezeFile{}, err
	}
	confirm, err := unix.Open(filepath.Join(dir, "cgroup.events"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		unix.Close(set)
		return freezeFile{}, err
	}
	return freezeFile{set: set, confirm: confirm}, nil
}

// Kind is freezerV1 or freezerV2.
func (f *Freezer) Kind() string { return f.kind }

// Close closes the descriptors. Frozen processes stay frozen.
func (f *Freezer) Close() error {
	for _, file := range f.files {
		unix.Close(file.set)
		if file.confirm != file.set {
			unix.Close(file.confirm)
		}
	}
	f.files = nil
	return nil
}

// Switch is the file that freezes a group, and the word to write into it.
type Switch struct{ Path, Word string }

// Switches are the switches of the groups, for another process that may have to freeze them.
func (f *Freezer) Switches() []Switch {
	all := make([]Switch, len(f.groups))
	for i, g := range f.groups {
		all[i] = Switch{filepath.Join(g.Dirs[Unified], "cgroup.freeze"), string(v2Freeze)}
		if f.kind == freezerV1 {
			all[i] = Switch{filepath.Join(g.Dirs[freezer], "freezer.state"), string(v1Freeze)}
		}
	}
	return all
}

// Freeze asks the kernel and does not wait until all processes have stopped. A group that is
// gone is no error.
func (s Switch) Freeze() error {
	return ignoreGone(realKernel{}.write(s.Path, s.Word))
}

// Freeze stops all processes and returns when the kernel has confirmed it. After the time-out
// it thaws and returns ErrNotFrozen.
func (f *Freezer) Freeze(timeout time.Duration) error {
	if err := f.Ask(); err != nil {
		return err
	}
	return f.Confirm(timeout)
}

// Ask is the first half of Freeze: it tells the kernel to freeze and does not wait. If several freezers
// stop processes that compete for the same CPUs, call Ask of all before Confirm of any.
func (f *Freezer) Ask() error {
	word := v2Freeze
	if f.kind == freezerV1 {
		word = v1Freeze
	}
	if err := f.write(word); err != nil {
		return errors.Join(fmt.Errorf("freeze: %w", err), f.Thaw())
	}
	return nil
}

// Confirm is the second half of Freeze: it waits until the kernel has confirmed.
func (f *Freezer) Confirm(timeout time.Duration) error {
	if err := f.confirm(time.Now().Add(timeout)); err != nil {
		return errors.Join(f.explain(err), f.Thaw())
	}
	return nil
}

// Thaw continues all processes. It needs no confirmation: the kernel can schedule them when the
// write returns.
func (f *Freezer) Thaw() error {
	word := v2Thaw
	if f.kind == freezerV1 {
		word = v1Thaw
	}
	if err := f.write(word); err != nil {
		return fmt.Errorf("thaw: %w", err)
	}
	return nil
}

// write writes the word for every group, also after an error, so that a thaw reaches all.
func (f *Freezer) write(word []byte) error {
	var first error
	for i := range f.files {
		f.files[i].frozen = false
		if _, err := unix.Pwrite(f.files[i].set, word, 0); err != nil && first == nil {
			first = fmt.Errorf("group %s: %w", f.groups[i].Path, err)
		}
	}
	return first
}

const (
	firstPause = 50 * time.Microsecond
	lastPause  = time.Millisecond
)

// confirm reads until every group is frozen. It sleeps longer after each reading, because the
// tasks need the CPU to reach the point where they stop.
func (f *Freezer) confirm(deadline time.Time) error {
	for pause := firstPause; ; pause = min(pause*3/2, lastPause) {
		all, err := f.allFrozen()
		if all || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return ErrNotFrozen
		}
		sleep(pause)
	}
}

func (f *Freezer) allFrozen() (bool, error) {
	for i := range f.files {
		if f.files[i].frozen {
			continue
		}
		n, err := unix.Pread(f.files[i].confirm, f.buf[:], 0)
		if err != nil {
			return false, err
		}
		if f.kind == freezerV1 {
			f.files[i].frozen = bytes.HasPrefix(f.buf[:n], v1Freeze)
		} else {
			f.files[i].frozen = bytes.Contains(f.buf[:n], v2Frozen)
		}
		if !f.files[i].frozen {
			return false, nil
		}
	}
	return true, nil
}

// sleep sleeps in the kernel on the calling thread. After time.Sleep another thread wakes the goroutine,
// and that thread has no real-time priority on saturated CPUs.
func sleep(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil)
}

// explain adds the processes that still run to err, if err is ErrNotFrozen.
func (f *Freezer) explain(err error) error {
	if !errors.Is(err, ErrNotFrozen) {
		return fmt.Errorf("confirm the freeze: %w", err)
	}
	var running []string
	for _, g := range f.groups {
		running = append(running, g.running()...)
	}
	if len(running) == 0 {
		return err
	}
	return fmt.Errorf("%w: still running: %v", err, running)
}
