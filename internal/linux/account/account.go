// Package account drops root's rights: it runs a child process, or the rest of this process, as
// another account of this host. It knows uids, capabilities and directories, and not the programs
// that run with them.
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

// Mapped says whether the user namespace of this process maps the account's uid.
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

// CanGive says whether this process is root and may change the owner of files and its own user. Root
// in a container without capabilities may not.
func CanGive() bool { return hasCapabilities(unix.CAP_CHOWN, unix.CAP_SETUID, unix.CAP_SETGID) }

// CanMount says whether this process is root and may mount.
func CanMount() bool { return hasCapabilities(unix.CAP_SYS_ADMIN) }

// hasCapabilities says whether this process is root and has all these capabilities in effect.
func hasCapabilities(capabilities ...int) bool {
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

// Blocked returns the first directory above path that the account may not enter; empty: the account
// reaches path. It checks the path as written and with links resolved. A directory with an access
// control list counts as closed, because its mode bits do not say who may enter.
func (a Account) Blocked(path string) (string, error) {
	forms, err := pathForms(path)
	for _, form := range forms {
		var at string
		if at, err = a.blockedOn(form); at != "" || err != nil {
			return at, err
		}
	}
	return "", err
}

// Reads says whether the account reaches a file and may read it. A file with an access control
// list counts as closed.
func (a Account) Reads(path string) bool { return a.mayUse(path, 0o4) }

// Executes is Reads for the execution of a program.
func (a Account) Executes(path string) bool { return a.mayUse(path, 0o1) }

// mayUse says whether the account reaches path and has the right (4 read, 1 execute) on it.
func (a Account) mayUse(path string, right uint32) bool {
	if blocked, err := a.Blocked(path); err != nil || blocked != "" {
		return false
	}
	var st unix.Stat_t
	return unix.Stat(path, &st) == nil && a.may(&st, right) && !hasACL(path)
}

// ExecutesSelf says whether the account may execute this program.
func (a Account) ExecutesSelf() bool {
	var st unix.Stat_t
	return unix.Stat("/proc/self/exe", &st) == nil && a.may(&st, 0o1)
}

// Safe returns the account that runs a program to ask for its version: nobody. ok is false if this
// process is not root or nobody may not execute the program.
func Safe(program string) (a Account, ok bool) {
	return Nobody, CanGive() && Nobody.Mapped() && Nobody.Executes(program)
}

// pathForms returns the path as written and, if it differs, with links resolved.
func pathForms(path string) ([]string, error) {
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

// blockedOn is Blocked for one form of the path.
func (a Account) blockedOn(path string) (string, error) {
	at := "/"
	for _, name := range strings.Split(path, "/")[1:] {
		var st unix.Stat_t
		if err := unix.Stat(at, &st); err != nil {
			return "", &os.PathError{Op: "look at", Path: at, Err: err}
		}
		if !a.may(&st, 0o1) || hasACL(at) {
			return at, nil
		}
		at = filepath.Join(at, name)
	}
	return "", nil
}

// may says whether the mode bits give the account a right: 4 (read), 2 (write) or 1 (execute, enter).
func (a Account) may(st *unix.Stat_t, right uint32) bool {
	switch {
	case int(st.Uid) == a.UID:
		right <<= 6
	case int(st.Gid) == a.GID:
		right <<= 3
	}
	return st.Mode&right != 0
}

// hasACL says whether a file or directory has an access control list.
func hasACL(dir string) bool {
	_, err := unix.Getxattr(dir, "system.posix_acl_access", nil)
	return err == nil
}

// Credential is the account for a child, without supplementary groups.
func (a Account) Credential() *syscall.Credential {
	return &syscall.Credential{Uid: uint32(a.UID), Gid: uint32(a.GID)}
}

// atStart is the state when the process started. Package variables are initialised on the main
// thread, which has the parent-death signal that the parent set.
var atStart = struct {
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

// Become changes the user of all threads of this process. Nothing undoes it: even an exec restores no
// capabilities. The kernel clears the parent-death signal when the user changes (prctl(2)), so Become
// sets it again.
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

// endWithParent sets the parent-death signal again, on all threads: each thread has its own.
func endWithParent() error {
	if atStart.signal == 0 {
		return nil
	}
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, atStart.signal, 0); errno == unix.ENOTSUP { // AllThreadsSyscall does not work with cgo
		if err := unix.Prctl(unix.PR_SET_PDEATHSIG, atStart.signal, 0, 0, 0); err != nil {
			return err
		}
	} else if errno != 0 {
		return errno
	}
	if os.Getppid() != atStart.parent {
		return fmt.Errorf("the parent has ended: %w", unix.ESRCH)
	}
	return nil
}
