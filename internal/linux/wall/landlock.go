package wall

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/account"
)

// writes are the rights of Landlock that change files, by the version from which on the kernel knows them.
var writes = map[int]uint64{
	1: unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM,
	2: unix.LANDLOCK_ACCESS_FS_REFER,
	3: unix.LANDLOCK_ACCESS_FS_TRUNCATE,
}

// ruleset is struct landlock_ruleset_attr; its size tells the kernel the version.
type ruleset struct {
	files  uint64
	net    uint64 // version 4
	scoped uint64 // version 6
}

// beneath is struct landlock_path_beneath_attr, which is packed: 12 bytes.
type beneath struct {
	allowed uint64
	parent  int32
}

const beneathRule = 1 // LANDLOCK_RULE_PATH_BENEATH

// landlockVersion is the version of Landlock in this kernel.
func landlockVersion() (int, error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, fmt.Errorf("the kernel has no Landlock: %w", errno)
	}
	return int(v), nil
}

// landlock confines the calling thread to write in Dir and /dev/null, and to signal none but its own. alone:
// there is no mount namespace, nor a network namespace. Beside one, a version that allows no file to move
// between directories is left out.
func (w Wall) landlock(alone bool) error {
	version, err := landlockVersion()
	if err != nil || !alone && version < 2 {
		return err
	}
	var r ruleset
	size := unsafe.Offsetof(r.net)
	for since, rights := range writes {
		if version >= since {
			r.files |= rights
		}
	}
	if version >= 4 && w.Loopback && alone {
		r.net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size = unsafe.Offsetof(r.scoped)
	}
	if version >= 6 {
		r.scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
		size = unsafe.Sizeof(r)
	}
	rules, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&r)), size, 0)
	if errno != 0 {
		return fmt.Errorf("make rules of Landlock: %w", errno)
	}
	defer unix.Close(int(rules))
	const file = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	for path, allowed := range map[string]uint64{w.Dir: r.files, "/dev/null": r.files & file} {
		if err := allow(int(rules), path, allowed); err != nil {
			return fmt.Errorf("let Landlock pass %s: %w", path, err)
		}
	}
	if !account.CanMount() {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("set no_new_privs: %w", err)
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0); errno != 0 {
		return fmt.Errorf("confine this process by Landlock: %w", errno)
	}
	return nil
}

func allow(rules int, path string, allowed uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	b := beneath{allowed, int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), beneathRule, uintptr(unsafe.Pointer(&b)), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
