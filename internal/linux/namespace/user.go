package namespace

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Become changes the calling thread to an ordinary user and group: real, effective and saved
// ids. The thread loses every capability. It uses raw system calls, because those of package
// syscall change all threads of the process.
func Become(uid, gid int) error {
	for _, c := range []struct {
		what string
		call uintptr
		args [3]uintptr
	}{
		{"give up the supplementary groups", unix.SYS_SETGROUPS, [3]uintptr{}},
		{"change the group", unix.SYS_SETRESGID, [3]uintptr{uintptr(gid), uintptr(gid), uintptr(gid)}},
		{"change the user", unix.SYS_SETRESUID, [3]uintptr{uintptr(uid), uintptr(uid), uintptr(uid)}},
	} {
		if _, _, errno := unix.RawSyscall(c.call, c.args[0], c.args[1], c.args[2]); errno != 0 {
			return fmt.Errorf("%s: %w", c.what, errno)
		}
	}
	return nil
}
