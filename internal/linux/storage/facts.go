// Package storage reports what is under a directory, as the kernel shows it: the mount and its
// options, the devices below, and settings that are wrong for durable data. It changes nothing.
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

// Facts are the mount that holds a directory, and the block devices below it.
type Facts struct {
	Mount   proc.Mount
	Options []string // of the mount and of the file system, each once
	// Devices are the block devices below the mount, top first: a loop device comes before the
	// device that holds its backing file. Memory and network file systems have none.
	Devices []Device
	// Lowest is the mount that holds the backing file of the lowest loop device; without a loop
	// device it is Mount.
	Lowest proc.Mount
}

// Device is a block device as /sys shows it. Fields that the kernel does not show are empty.
type Device struct {
	Name       string
	Cache      string // "write back": unflushed data can be lost; "write through"
	Scheduler  string
	Rotational string // "0" or "1"
	File       string // backing file of a loop device
	Direct     string // of a loop device: "1" means direct I/O
	Dir        string // directory in /sys; for a partition that of its disk
	Requests   string // queue/nr_requests: length limit of the request queue
	Mapping    string // of a Ceph image (rbd): options with which it was mapped
}

// OptionsOf returns facts that have nothing but the options.
func OptionsOf(m proc.Mount) Facts { return Facts{Options: options(m)} }

// Of returns the facts of a directory of the host; root is "/" outside tests.
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

// Seen returns the mount that holds path in the mount namespace of a process: an overlay if the data
// is in the container's own layer.
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

// maxLoopDepth is the largest number of loop devices on top of each other.
const maxLoopDepth = 4

// of returns the facts of a path without links. depth is the number of loop devices above it.
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
	f.Devices = append(f.Devices, devicesBelow(root, d)...)
	if d.File != "" && depth < maxLoopDepth {
		under, err := of(root, mounts, d.File, depth+1)
		if err == nil {
			f.Devices = append(f.Devices, under.Devices...)
			f.Lowest = under.Lowest
		}
	}
	return f, nil
}

// options returns the options of the mount and of the file system (superblock), each once.
func options(m proc.Mount) []string {
	var out []string
	for _, o := range append(strings.Split(m.Options, ","), strings.Split(m.Super, ",")...) {
		if o != "" && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return out
}

// DeviceOf returns the block device of a mount; false: it has none. A file system on several devices
// (btrfs) has a device number with major 0; then the mount's source is used.
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

// deviceAt reads the directory of a device in /sys. A partition has the settings of its disk.
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
		d.Mapping = mapping(filepath.Dir(filepath.Dir(dir))) // rbd/0 for rbd/0/block/rbd0
	}
	// "none [mq-deadline] kyber": the scheduler in brackets is in use.
	if _, rest, ok := strings.Cut(d.Scheduler, "["); ok {
		d.Scheduler, _, _ = strings.Cut(rest, "]")
	}
	return d
}

// mapping returns the options with which a Ceph image was mapped, without secrets and keys.
func mapping(dir string) string {
	b, _ := os.ReadFile(filepath.Join(dir, "config_info"))
	words := strings.FieldsFunc(strings.TrimSpace(string(b)), func(r rune) bool { return r == ',' || r == ' ' })
	return strings.Join(slices.DeleteFunc(words, func(w string) bool {
		return strings.HasPrefix(w, "secret=") || strings.HasPrefix(w, "key=")
	}), ",")
}

// devicesBelow returns the devices below a stacked device (dm, md), each followed by those below it.
func devicesBelow(root proc.FS, d Device) (out []Device) {
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
		out = append(append(out, next), devicesBelow(root, next)...)
	}
	return out
}

// Settings returns the facts as settings of the manifest.
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

// Memory says whether the data is in memory, so that an unmount or a reboot loses it.
func (f Facts) Memory() bool {
	memory := []string{"tmpfs", "ramfs", "hugetlbfs", "devtmpfs", "rootfs"}
	return slices.Contains(memory, f.Mount.Type) || slices.Contains(memory, f.Lowest.Type)
}

// Network says whether a server holds the data: the file system, the backing file of its loop device,
// or a Ceph image.
func (f Facts) Network() bool {
	return isNetworkType(f.Mount.Type) || isNetworkType(f.Lowest.Type) || slices.ContainsFunc(f.Devices, func(d Device) bool { return d.Mapping != "" })
}

// isNetworkType says whether a file system type is that of a network file system.
func isNetworkType(kind string) bool {
	switch kind {
	case "nfs", "nfs4", "ceph", "cifs", "smb3", "9p", "glusterfs", "lustre", "beegfs", "afs", "ocfs2", "gfs2", "orangefs":
		return true
	}
	return slices.ContainsFunc([]string{"ceph", "rbd", "gluster", "sshfs", "s3fs"}, func(name string) bool {
		return strings.HasPrefix(kind, "fuse."+name)
	})
}

// Has says whether an option is set; option is name or name=value.
func (f Facts) Has(option string) bool { return slices.Contains(f.Options, option) }

// Option is the value of an option name=value; empty: there is none.
func (f Facts) Option(name string) string {
	for _, o := range f.Options {
		if v, ok := strings.CutPrefix(o, name+"="); ok {
			return v
		}
	}
	return ""
}
