// Package account lets root act as another account of this host: for a child process, or for
// this process for good. It knows uids, capabilities and directories, and not the programs that
// run as them.
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

// Nobody is the account that owns nothing. It needs no line in /etc/passwd.
var Nobody = Account{Name: "nobody", UID: 65534, GID: 65534}

// First is the account with the first of these names that /etc/passwd has; root is skipped.
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

// Mapped says whether this process's user namespace has the account.
func (a Account) Mapped() bool {
	b, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(b)) {
		var first, outside, count int // see user_namespaces(7)
		if n, _ := fmt.Sscan(line, &first, &outside, &count); n == 3 && first <= a.UID && a.UID-first < count {
			return true
		}
	}
	return false
}

// CanGive says whether this process is root and may give files, and itself, to another account.
// Root in a container without capabilities may not.
func CanGive() bool { return holds(unix.CAP_CHOWN, unix.CAP_SETUID, unix.CAP_SETGID) }

// CanMount says whether this process is root and may mount.
func CanMount() bool { return holds(unix.CAP_SYS_ADMIN) }

func holds(capabilities ...int) bool {
	if os.Geteuid() != 0 {
		return false
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData // 32 capabilities each
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

// Blocked is the first directory on the way to path that the account may not enter, on the way
// as it is written or with links resolved; empty: the account reaches path. A directory with an
// access control list counts as closed, because its mode bits do not say who may enter.
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

// Reads says whether the account reaches a file and may read it. A file with an access control
// list counts as closed.
func (a Account) Reads(path string) bool { return a.opens(path, 0o4) }

// Executes is Reads for the execution of a program.
func (a Account) Executes(path string) bool { return a.opens(path, 0o1) }

func (a Account) opens(path string, right uint32) bool {
	if blocked, err := a.Blocked(path); err != nil || blocked != "" {
		return false
	}
	var st unix.Stat_t
	return unix.Stat(path, &st) == nil && a.may(&st, right) && !listed(path)
}

// ExecutesSelf says whether the account may execute this program.
func (a Account) ExecutesSelf() bool {
	var st unix.Stat_t
	return unix.Stat("/proc/self/exe", &st) == nil && a.may(&st, 0o1)
}

// Safe is the account as which root runs a program only to ask for its version: nobody. ok is
// false where nobody cannot run it.
func Safe(program string) (a Account, ok bool) {
	return Nobody, CanGive() && Nobody.Mapped() && Nobody.Executes(program)
}

// ways are the path as written and, if it differs, with links resolved.
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

// may says whether the mode bits give the account a right: 4, 2 or 1.
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

// Credential is the account for a child, without supplementary groups.
func (a Account) Credential() *syscall.Credential {
	return &syscall.Credential{Uid: uint32(a.UID), Gid: uint32(a.GID)}
}

// began is the state of the main thread at the start of the process, where package variables
// are initialised.
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

// Become makes all threads of this process the account's, for good: an exec does not restore
// capabilities. The kernel clears the parent-death signal when the user changes (prctl(2)), so
// Become sets it again.
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

// endWithParent sets the parent-death signal of all threads, which each has its own.
func endWithParent() error {
	if began.signal == 0 {
		return nil
	}
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, began.signal, 0); errno == unix.ENOTSUP { // a program with cgo
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
