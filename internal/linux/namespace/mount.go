package namespace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// mountFlags are the options that are flags of mount(2); the others go to the
// file system.
var mountFlags = map[string]uintptr{
	"nosuid": unix.MS_NOSUID, "nodev": unix.MS_NODEV, "noexec": unix.MS_NOEXEC,
	"ro": unix.MS_RDONLY, "strictatime": unix.MS_STRICTATIME, "relatime": unix.MS_RELATIME,
	"noatime": unix.MS_NOATIME, "bind": unix.MS_BIND, "rbind": unix.MS_BIND | unix.MS_REC,
}

// options splits the options of a mount.
func options(opts []string) (flags uintptr, data string) {
	var rest []string
	for _, o := range opts {
		f, ok := mountFlags[o]
		switch {
		case ok:
			flags |= f
		case o == "rw" || o == "rprivate" || o == "private": // as it is anyway
		default:
			rest = append(rest, o)
		}
	}
	return flags, strings.Join(rest, ",")
}

// Private makes later mounts and unmounts in this mount namespace invisible
// outside and the other way round.
func Private() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make the mounts private: %w", err)
	}
	return nil
}

// Proc mounts a fresh /proc over the old one, for a new pid namespace.
func Proc() error {
	return Mount("/", specs.Mount{Destination: "/proc", Type: "proc", Source: "proc", Options: []string{"nosuid", "noexec", "nodev"}})
}

// Mount makes one mount below root, with its mount point. Bind mounts of files
// get a file as their mount point.
func Mount(root string, m specs.Mount) error {
	flags, data := options(m.Options)
	target := filepath.Join(root, m.Destination)
	if err := makePoint(target, m, flags); err != nil {
		return fmt.Errorf("mount %s: %w", m.Destination, err)
	}
	if err := unix.Mount(m.Source, target, m.Type, flags, data); err != nil {
		return fmt.Errorf("mount %s (%s %s): %w", m.Destination, m.Type, strings.Join(m.Options, ","), err)
	}
	if flags&unix.MS_BIND != 0 && flags&^(unix.MS_BIND|unix.MS_REC) != 0 {
		return remount(target, flags&^unix.MS_REC)
	}
	return nil
}

func makePoint(target string, m specs.Mount, flags uintptr) error {
	if flags&unix.MS_BIND != 0 {
		if st, err := os.Stat(m.Source); err == nil && !st.IsDir() {
			return makeFile(target)
		}
	}
	return os.MkdirAll(target, 0o755)
}

func makeFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// remount sets flags on a bind mount. In a user namespace those that the
// source has may not be dropped, so they are kept.
func remount(target string, flags uintptr) error {
	var st unix.Statfs_t
	if err := unix.Statfs(target, &st); err != nil {
		return fmt.Errorf("remount %s: %w", target, err)
	}
	// ST_ and MS_ values of these flags are the same.
	const keep = unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	flags |= uintptr(st.Flags) & keep
	if st.Flags&unix.ST_RELATIME != 0 {
		flags |= unix.MS_RELATIME
	}
	if st.Flags&unix.ST_NOATIME != 0 {
		flags |= unix.MS_NOATIME
	}
	if err := unix.Mount("", target, "", flags|unix.MS_REMOUNT|unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("remount %s: %w", target, err)
	}
	return nil
}

// Mask hides paths, as container runtimes do: a file under /dev/null, a
// directory under an empty file system. A path that does not exist is fine.
func Mask(paths []string) error {
	for _, p := range paths {
		err := unix.Mount("/dev/null", p, "", unix.MS_BIND, "")
		if errors.Is(err, unix.ENOTDIR) {
			err = unix.Mount("tmpfs", p, "tmpfs", unix.MS_RDONLY, "")
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("mask %s: %w", p, err)
		}
	}
	return nil
}

// ReadOnly makes paths read-only. A path that does not exist is fine.
func ReadOnly(paths []string) error {
	for _, p := range paths {
		err := unix.Mount(p, p, "", unix.MS_BIND|unix.MS_REC, "")
		if err == nil {
			err = remount(p, unix.MS_RDONLY)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("make %s read-only: %w", p, err)
		}
	}
	return nil
}
