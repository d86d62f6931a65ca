// Package account makes root another account of this host: for a child, or for this
// process for good. It knows uids, capabilities and directories, and not what runs as them.
package account

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Account is a user of this host with one group.
type Account struct {
	Name     string
	UID, GID int
}

// Nobody is the account of what owns nothing. It needs no line in /etc/passwd.
var Nobody = Account{Name: "nobody", UID: 65534, GID: 65534}

// First is the first of these names that /etc/passwd has, root left out.
func First(names ...string) (a Account, ok bool, err error) {
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		a.Name = name
		if a.UID, err = strconv.Atoi(u.Uid); err == nil {
			a.GID, err = strconv.Atoi(u.Gid)
		}
		if err != nil {
			return a, false, fmt.Errorf("user %s: %w", name, err)
		}
		if a.UID > 0 {
			return a, true, nil
		}
	}
	return a, false, nil
}

// Mapped says whether the account is somebody in this process's user namespace.
func (a Account) Mapped() bool {
	b, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(b)) {
		var first, outside, count int // user_namespaces(7)
		if n, _ := fmt.Sscan(line, &first, &outside, &count); n == 3 && first <= a.UID && a.UID-first < count {
			return true
		}
	}
	return false
}

// CanGive says whether this process is root and may give files and itself to another
// account: root of a container without capabilities may not.
func CanGive() bool { return holds(unix.CAP_CHOWN, unix.CAP_SETUID, unix.CAP_SETGID) }

// CanMount says whether it is root and may mount.
func CanMount() bool { return holds(unix.CAP_SYS_ADMIN) }

func holds(capabilities ...int) bool {
	if os.Geteuid() != 0 {
		return false
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData // of 32 capabilities each
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return false
	}
	for _, c := range capabilities {
		if sets[c/32].Effective&(1<<(c%32)) == 0 {
			return false
		}
	}
	return true
}

// Blocked is the first directory above path that the account may not pass, on the way as
// it is written or with its links resolved; empty: it reaches path. A directory with an
// access control list counts as closed: its mode bits do not say whom it lets through.
func (a Account) Blocked(path string) (string, error) {
	ways, err := ways(path)
	for _, way := range ways {
		var at string
		if at, err = a.blockedOn(way); at != "" || err != nil {
			return at, err
		}
	}
	return "", err
}

// Reads says whether the account reaches a file and may read it. One with an access
// control list counts as closed.
func (a Account) Reads(path string) bool { return a.opens(path, 0o4) }

// Executes says the same of a program.
func (a Account) Executes(path string) bool { return a.opens(path, 0o1) }

func (a Account) opens(path string, right uint32) bool {
	if blocked, err := a.Blocked(path); err != nil || blocked != "" {
		return false
	}
	var st unix.Stat_t
	return unix.Stat(path, &st) == nil && a.may(&st, right) && !listed(path)
}

// ExecutesSelf says that of this binary, wherever it is.
func (a Account) ExecutesSelf() bool {
	var st unix.Stat_t
	return unix.Stat("/proc/self/exe", &st) == nil && a.may(&st, 0o1)
}

// Safe is the account as which root runs a program that only says something about itself:
// nobody, or, where that is not possible, ok is false.
func Safe(program string) (a Account, ok bool) {
	return Nobody, CanGive() && Nobody.Mapped() && Nobody.Executes(program)
}

// ways are a path as it is written and, if that differs, without links.
func ways(path string) ([]string, error) {
	path = filepath.Clean(path)
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if resolved == path {
		return []string{path}, nil
	}
	return []string{path, resolved}, nil
}

func (a Account) blockedOn(path string) (string, error) {
	at := "/"
	for _, name := range strings.Split(path, "/")[1:] {
		var st unix.Stat_t
		if err := unix.Stat(at, &st); err != nil {
			return "", &os.PathError{Op: "look at", Path: at, Err: err}
		}
		if !a.may(&st, 0o1) || listed(at) {
			return at, nil
		}
		at = filepath.Join(at, name)
	}
	return "", nil
}

// may says whether mode bits give the account one of the rights 4, 2 and 1.
func (a Account) may(st *unix.Stat_t, right uint32) bool {
	switch {
	case int(st.Uid) == a.UID:
		right <<= 6
	case int(st.Gid) == a.GID:
		right <<= 3
	}
	return st.Mode&right != 0
}

func listed(dir string) bool {
	_, err := unix.Getxattr(dir, "system.posix_acl_access", nil)
	return err == nil
}

// Credential is the account for a child, without further groups.
func (a Account) Credential() *syscall.Credential {
	return &syscall.Credential{Uid: uint32(a.UID), Gid: uint32(a.GID)}
}

// began is what the main thread had at the start: package variables are set on it.
var began = struct {
	signal uintptr
	parent int
}{deathSignal(), os.Getppid()}

func deathSignal() (signal uintptr) {
	var s int32
	if _, _, errno := unix.RawSyscall(unix.SYS_PRCTL, unix.PR_GET_PDEATHSIG, uintptr(unsafe.Pointer(&s)), 0); errno == 0 {
		signal = uintptr(s)
	}
	return signal
}

// Become makes all threads of this process the account's. Its exec gives nothing back: all
// capabilities are gone. The kernel forgets at a change of user by which signal a process
// ends with its parent (prctl(2)), so that is said anew.
func (a Account) Become() error {
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"give up the supplementary groups", func() error { return syscall.Setgroups(nil) }},
		{"change the group", func() error { return syscall.Setresgid(a.GID, a.GID, a.GID) }},
		{"change the user", func() error { return syscall.Setresuid(a.UID, a.UID, a.UID) }},
		{"end with the parent", endWithParent},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("become user %d: %s: %w", a.UID, step.what, err)
		}
	}
	return nil
}

// endWithParent is said for all threads: the signal belongs to each of them.
func endWithParent() error {
	if began.signal == 0 {
		return nil
	}
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, began.signal, 0); errno == unix.ENOTSUP { // with cgo
		if err := unix.Prctl(unix.PR_SET_PDEATHSIG, began.signal, 0, 0, 0); err != nil {
			return err
		}
	} else if errno != 0 {
		return errno
	}
	if os.Getppid() != began.parent {
		return fmt.Errorf("the parent has ended: %w", unix.ESRCH)
	}
	return nil
}
