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

// mountFlags are the options that are flags of mount(2); all others are the file system's.
var mountFlags = map[string]uintptr{
	"nosuid": unix.MS_NOSUID, "nodev": unix.MS_NODEV, "noexec": unix.MS_NOEXEC,
	"ro": unix.MS_RDONLY, "strictatime": unix.MS_STRICTATIME, "relatime": unix.MS_RELATIME,
	"noatime": unix.MS_NOATIME, "bind": unix.MS_BIND, "rbind": unix.MS_BIND | unix.MS_REC,
}

// options splits mount options into flags and the file system's own.
func options(opts []string) (flags uintptr, data string) {
	var rest []string
	for _, o := range opts {
		f, ok := mountFlags[o]
		switch {
		case ok:
			flags |= f
		case o == "rw" || o == "rprivate" || o == "private": // the default here
		default:
			rest = append(rest, o)
		}
	}
	return flags, strings.Join(rest, ",")
}

// Private separates this mount namespace: mounts and unmounts from now on are not seen outside,
// nor the reverse.
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

// Mount mounts one file system below root and makes the mount point: a file for a bind mount of
// a file, else a directory.
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

// remount sets flags on a bind mount. It keeps the source's flags, which a user namespace may
// not drop.
func remount(target string, flags uintptr) error {
	var st unix.Statfs_t
	if err := unix.Statfs(target, &st); err != nil {
		return fmt.Errorf("remount %s: %w", target, err)
	}
	// The ST_ and MS_ constants of these flags have the same values.
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

// Mask hides paths as container runtimes do: /dev/null over a file, an empty file system over a
// directory. Missing paths are skipped.
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

// ReadOnly makes paths read-only. Missing paths are skipped.
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
