// Package storage says what is under a directory, as the kernel says: the mount and its
// options, the devices below, and what is wrong with them for data that must last. It
// changes nothing.
package storage

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/record"
)

// Facts are what is under a directory, as the kernel says.
type Facts struct {
	Mount   proc.Mount
	Options []string // of the mount and of the file system, each once
	// Devices are the block devices below, the uppermost first: a loop device,
	// then what its file is on. None for memory and for a network.
	Devices []Device
	// Lowest is the mount that the file behind the lowest loop device is on;
	// without a loop device it is Mount.
	Lowest proc.Mount
}

// Device is a block device as /sys shows it. What the kernel does not say is "".
type Device struct {
	Name       string
	Cache      string // "write back": it may lose what was not flushed; "write through"
	Scheduler  string
	Rotational string // "0" or "1"
	File       string // behind a loop device
	Direct     string // of a loop device: "1" is past the page cache
	Dir        string // in /sys, of the whole disk
	Requests   string // of its queue, at most at a time
	Mapping    string // of a Ceph image: how the kernel reaches it
}

// OptionsOf are facts of which only the options are known.
func OptionsOf(m proc.Mount) Facts { return Facts{Options: options(m)} }

// Of looks at what is under a directory of the host; root is "/" outside tests.
func Of(root proc.FS, dir string) (Facts, error) {
	real, err := Answered(dir, func() (string, error) { return filepath.EvalSymlinks(dir) })
	if err != nil {
		return Facts{}, fmt.Errorf("look at the volume: %w", err)
	}
	mounts, err := root.Mounts()
	if err != nil {
		return Facts{}, fmt.Errorf("look at the volume: %w", err)
	}
	return of(root, mounts, real, 0)
}

// Seen is the mount on which a process sees a path: an overlay where the data is
// in the container's own layer.
func Seen(root proc.FS, pid int, path string) (proc.Mount, error) {
	mounts, err := root.MountsOf(strconv.Itoa(pid))
	if err != nil {
		return proc.Mount{}, fmt.Errorf("look at the mounts of process %d: %w", pid, err)
	}
	m := proc.MountOf(mounts, path)
	if m == nil {
		return proc.Mount{}, fmt.Errorf("process %d sees %s on no mount", pid, path)
	}
	return *m, nil
}

// deepest bounds loop devices on loop devices.
const deepest = 4

func of(root proc.FS, mounts []proc.Mount, path string, depth int) (Facts, error) {
	m := proc.MountOf(mounts, path)
	if m == nil {
		return Facts{}, fmt.Errorf("%s is on no mount of this namespace", path)
	}
	f := Facts{Mount: *m, Options: options(*m), Lowest: *m}
	d, ok := DeviceOf(root, *m)
	if !ok {
		return f, nil
	}
	f.Devices = append(f.Devices, d)
	f.Devices = append(f.Devices, below(root, d)...)
	if d.File != "" && depth < deepest {
		under, err := of(root, mounts, d.File, depth+1)
		if err == nil {
			f.Devices = append(f.Devices, under.Devices...)
			f.Lowest = under.Lowest
		}
	}
	return f, nil
}

// options are those of the mount and those of the file system.
func options(m proc.Mount) []string {
	var out []string
	for _, o := range append(strings.Split(m.Options, ","), strings.Split(m.Super, ",")...) {
		if o != "" && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return out
}

// DeviceOf finds the block device of a mount. File systems of several devices
// have a number of their own (btrfs): their source is the device's name.
func DeviceOf(root proc.FS, m proc.Mount) (Device, bool) {
	major, minor := m.Major, m.Minor
	if major == 0 {
		var st unix.Stat_t
		if !strings.HasPrefix(m.Source, "/dev/") || unix.Stat(root.Path(m.Source), &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFBLK {
			return Device{}, false
		}
		major, minor = uint64(unix.Major(st.Rdev)), uint64(unix.Minor(st.Rdev))
	}
	dir, err := filepath.EvalSymlinks(root.Path("sys/dev/block", fmt.Sprintf("%d:%d", major, minor)))
	if err != nil {
		return Device{}, false
	}
	return deviceAt(dir), true
}

// deviceAt reads a device's directory in /sys; a partition is its disk.
func deviceAt(dir string) Device {
	word := func(name string) string {
		b, _ := os.ReadFile(filepath.Join(dir, name))
		return strings.TrimSpace(string(b))
	}
	name := filepath.Base(dir)
	if word("partition") != "" {
		dir = filepath.Dir(dir)
	}
	d := Device{
		Name: name, Dir: dir, Cache: word("queue/write_cache"), Rotational: word("queue/rotational"),
		Scheduler: word("queue/scheduler"), File: word("loop/backing_file"), Direct: word("loop/dio"),
	}
	d.Requests = word("queue/nr_requests")
	if strings.HasPrefix(filepath.Base(dir), "rbd") {
		d.Mapping = mapping(filepath.Dir(filepath.Dir(dir))) // devices/rbd/0 of devices/rbd/0/block/rbd0
	}
	// "none [mq-deadline] kyber": the one in brackets is in use.
	if _, rest, ok := strings.Cut(d.Scheduler, "["); ok {
		d.Scheduler, _, _ = strings.Cut(rest, "]")
	}
	return d
}

// mapping is the line with which the kernel was told of a Ceph image, without what names
// a secret.
func mapping(dir string) string {
	b, _ := os.ReadFile(filepath.Join(dir, "config_info"))
	words := strings.FieldsFunc(strings.TrimSpace(string(b)), func(r rune) bool { return r == ',' || r == ' ' })
	return strings.Join(slices.DeleteFunc(words, func(w string) bool {
		return strings.HasPrefix(w, "secret=") || strings.HasPrefix(w, "key=")
	}), ",")
}

// below are the devices that a stacked one (dm, md) consists of.
func below(root proc.FS, d Device) (out []Device) {
	entries, err := os.ReadDir(filepath.Join(d.Dir, "slaves"))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		dir, err := filepath.EvalSymlinks(filepath.Join(d.Dir, "slaves", e.Name()))
		if err != nil {
			continue
		}
		next := deviceAt(dir)
		out = append(append(out, next), below(root, next)...)
	}
	return out
}

// Settings are the facts for the manifest.
func (f Facts) Settings() []record.Setting {
	s := []record.Setting{
		{Name: "volume.fs", Got: f.Mount.Type},
		{Name: "volume.source", Got: f.Mount.Source},
		{Name: "volume.options", Got: strings.Join(f.Options, ",")},
	}
	if len(f.Devices) == 0 {
		return append(s, record.Setting{Name: "volume.device", Got: "none"})
	}
	for i, d := range f.Devices {
		prefix := "volume."
		if i > 0 {
			prefix = "volume.under" + strconv.Itoa(i) + "."
		}
		for _, v := range []struct{ name, got string }{
			{"device", d.Name}, {"cache", d.Cache}, {"scheduler", d.Scheduler}, {"rotational", d.Rotational}, {"direct", d.Direct}, {"requests", d.Requests}, {"mapping", d.Mapping},
		} {
			if v.got != "" {
				s = append(s, record.Setting{Name: prefix + v.name, Got: v.got})
			}
		}
	}
	if f.Lowest.Point != f.Mount.Point {
		s = append(s, record.Setting{Name: "volume.under.fs", Got: f.Lowest.Type})
	}
	return s
}

// Memory says that the file system is in memory: nothing of it survives.
func (f Facts) Memory() bool {
	memory := []string{"tmpfs", "ramfs", "hugetlbfs", "devtmpfs", "rootfs"}
	return slices.Contains(memory, f.Mount.Type) || slices.Contains(memory, f.Lowest.Type)
}

// Network says that the file system, or the one that the file behind its loop
// device is on, is another machine's.
func (f Facts) Network() bool {
	return remote(f.Mount.Type) || remote(f.Lowest.Type) || slices.ContainsFunc(f.Devices, func(d Device) bool { return d.Mapping != "" })
}

func remote(kind string) bool {
	switch kind {
	case "nfs", "nfs4", "ceph", "cifs", "smb3", "9p", "glusterfs", "lustre", "beegfs", "afs", "ocfs2", "gfs2", "orangefs":
		return true
	}
	return slices.ContainsFunc([]string{"ceph", "rbd", "gluster", "sshfs", "s3fs"}, func(name string) bool {
		return strings.HasPrefix(kind, "fuse."+name)
	})
}

// Has says whether an option is set, given as name or name=value.
func (f Facts) Has(option string) bool { return slices.Contains(f.Options, option) }

// Option is the value of an option name=value, "" without.
func (f Facts) Option(name string) string {
	for _, o := range f.Options {
		if v, ok := strings.CutPrefix(o, name+"="); ok {
			return v
		}
	}
	return ""
}
