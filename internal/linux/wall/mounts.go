package wall

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// hidden are directories that programs share: sockets of other servers, temporary files, shared memory. A small
// empty file system covers each, unless one of Wall.Programs is in it.
var hidden = []string{"/run", "/var/run", "/tmp", "/var/tmp", "/dev/shm"}

// bind covers the hidden directories, and binds Dir at its own path, by the path as written and with links
// resolved.
func (w Wall) bind() error {
	real, err := filepath.EvalSymlinks(w.Dir)
	if err != nil {
		return err
	}
	// A descriptor from before would be on a mount of the old namespace.
	fd, err := unix.Open(real, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: real, Err: err}
	}
	defer unix.Close(fd)
	covered, err := w.cover()
	if err != nil {
		return err
	}
	paths := []string{real}
	if w.Dir != real && slices.ContainsFunc(covered, func(dir string) bool { return below(w.Dir, dir) }) {
		paths = append(paths, w.Dir)
	}
	for _, path := range paths {
		if slices.ContainsFunc(covered, func(dir string) bool { return below(path, dir) }) {
			if err := os.MkdirAll(path, 0o755); err != nil {
				return err
			}
		}
		if err := unix.Mount(fmt.Sprintf("/proc/thread-self/fd/%d", fd), path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("bind %s: %w", path, err)
		}
	}
	return nil
}

// cover covers the hidden directories and returns them.
func (w Wall) cover() (covered []string, err error) {
	for _, dir := range hidden {
		st, err := os.Lstat(dir)
		if err != nil || !st.IsDir() || slices.ContainsFunc(w.Programs, func(p string) bool { return isIn(p, dir) }) {
			continue
		}
		if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "size=64k,mode=755"); err != nil {
			return nil, fmt.Errorf("cover %s: %w", dir, err)
		}
		covered = append(covered, dir)
	}
	return covered, nil
}

// isIn says whether a file is below a directory, by its path as written or with links resolved.
func isIn(file, dir string) bool {
	real, err := filepath.EvalSymlinks(file)
	return below(file, dir) || err == nil && below(real, dir)
}

func below(path, dir string) bool { return strings.HasPrefix(filepath.Clean(path), dir+"/") }

// tries bounds the attempts to make every mount read-only: the host may mount something meanwhile.
const tries = 100

// close makes every mount but that of Dir read-only, and reads that back from the kernel.
func (w Wall) close() error {
	for range tries {
		if err := allReadOnly(); err != nil {
			return err
		}
		if err := writable(w.Dir); err != nil {
			return fmt.Errorf("keep %s writable: %w", w.Dir, err)
		}
		open, err := w.open()
		if err != nil || len(open) == 0 {
			return err
		}
	}
	return errors.New("the host mounts something all the time")
}

// allReadOnly makes every mount read-only.
func allReadOnly() error {
	err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // before Linux 5.12, or a seccomp filter that does not know it
		return eachReadOnly()
	}
	if err != nil {
		return fmt.Errorf("make the mounts read-only: %w", err)
	}
	return nil
}

// eachReadOnly is allReadOnly without mount_setattr(2). A mount below another one cannot be reached by its path,
// by the process neither.
func eachReadOnly() error {
	all, err := mounted()
	if err != nil {
		return err
	}
	for _, m := range all {
		if m.readOnly || m.kind == "autofs" { // looking at one would mount
			continue
		}
		err := remount(m, unix.MS_RDONLY)
		if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EINVAL) { // unmounted, or below another mount
			return fmt.Errorf("make %s read-only: %w", m.point, err)
		}
	}
	return nil
}

func remount(m mount, flags uintptr) error {
	return unix.Mount("", m.point, "", m.flags|flags|unix.MS_REMOUNT|unix.MS_BIND, "")
}

// writable makes the mount at a path writable.
func writable(path string) error {
	err := unix.MountSetattr(unix.AT_FDCWD, path, 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	if !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EPERM) {
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	all, err := mounted()
	for _, m := range slices.Backward(all) { // the last one is on top
		if m.point == real {
			return remount(m, 0)
		}
	}
	return errors.Join(err, fmt.Errorf("%s: %w", path, unix.EINVAL))
}

// open are the points of mounts that can be written to, but for that of Dir.
func (w Wall) open() (points []string, err error) {
	real, err := filepath.EvalSymlinks(w.Dir)
	if err != nil {
		return nil, err
	}
	all, err := mounted()
	for _, m := range all {
		if !m.readOnly && m.point != real && m.point != w.Dir && m.kind != "autofs" && m.reached() {
			points = append(points, m.point)
		}
	}
	return points, err
}

// reached says whether a path leads to the mount, and not to another one above it.
func (m mount) reached() bool {
	var at unix.Stat_t
	return unix.Lstat(m.point, &at) == nil && m.device == fmt.Sprintf("%d:%d", unix.Major(at.Dev), unix.Minor(at.Dev))
}

// mount is a line of mountinfo, see proc(5).
type mount struct {
	point, kind, device string
	readOnly            bool
	flags               uintptr // without MS_RDONLY
}

var flags = map[string]uintptr{
	"nosuid": unix.MS_NOSUID, "nodev": unix.MS_NODEV, "noexec": unix.MS_NOEXEC,
	"noatime": unix.MS_NOATIME, "nodiratime": unix.MS_NODIRATIME, "relatime": unix.MS_RELATIME,
}

// mounted are the mounts that the calling thread sees.
func mounted() (all []mount, err error) {
	f, err := os.Open("/proc/thread-self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		before, after, _ := strings.Cut(lines.Text(), " - ")
		words, kind := strings.Fields(before), strings.Fields(after)
		if len(words) < 6 || len(kind) == 0 {
			return nil, fmt.Errorf("%s: %q", f.Name(), lines.Text())
		}
		m := mount{point: plainPath(words[4]), kind: kind[0], device: words[2]}
		for _, o := range strings.Split(words[5], ",") {
			m.flags |= flags[o]
			m.readOnly = m.readOnly || o == "ro"
		}
		all = append(all, m)
	}
	return all, lines.Err()
}

// plainPath undoes the escapes of mountinfo.
func plainPath(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}
