package inspect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/sched"
)

// control finds the means of isolation that this host has.
func control(back *undoing, root, scratch string, t *cgroup.Tree) facts.Control {
	var c facts.Control
	var err error
	if c.Files, err = controlFiles(back, t); err != nil {
		c.Files, c.Why = nil, err.Error()
	}
	c.CPUs, _ = sched.CPUs(os.Getpid()) // an error leaves none: no isolation by CPUs
	if c.Disk, err = wholeDisk(root, scratch); err != nil {
		c.Disk, c.DiskWhy = "", err.Error()
	} else {
		c.Scheduler = scheduler(root, c.Disk)
	}
	return c
}

// controlFiles makes a group with all controllers and lists its files.
func controlFiles(back *undoing, t *cgroup.Tree) (map[string]bool, error) {
	if t == nil {
		return nil, errors.New("no group can be made")
	}
	var controllers []string
	for _, c := range []string{"cpu", "cpuset", "memory", "pids", "blkio"} {
		if t.Can(c) == nil {
			controllers = append(controllers, c)
		}
	}
	files := map[string]bool{}
	err := back.group(t, "control", controllers, func(g cgroup.Group) error {
		for _, dir := range g.Dirs {
			entries, err := os.ReadDir(dir)
			if err != nil {
				return err
			}
			for _, e := range entries {
				files[e.Name()] = true
			}
		}
		return nil
	})
	return files, err
}

// wholeDisk is the device number of the disk below a directory. For a partition it is the number of
// the whole disk, to which the kernel applies weights and limits.
func wholeDisk(root, dir string) (string, error) {
	for { // a directory that does not exist yet will be on its parent's file system
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	mounts, err := proc.FS(root).Mounts()
	if err != nil {
		return "", err
	}
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return "", fmt.Errorf("look at %s: %w", dir, err)
	}
	number := fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev))
	if unix.Major(st.Dev) == 0 { // btrfs, or a file system without a disk
		if number = sourceOf(mounts, dir); number == "" {
			return "", fmt.Errorf("%s is on no disk of its own", dir)
		}
	}
	link, err := filepath.EvalSymlinks(filepath.Join(root, "sys/dev/block", number))
	if err != nil {
		return "", fmt.Errorf("find the disk %s: %w", number, err)
	}
	if _, err := os.Stat(filepath.Join(link, "partition")); err != nil {
		return number, nil
	}
	b, err := os.ReadFile(filepath.Join(filepath.Dir(link), "dev"))
	return strings.TrimSpace(string(b)), err
}

// scheduler is the disk's I/O scheduler: the marked one of "none [mq-deadline] bfq".
func scheduler(root, disk string) string {
	_, rest, _ := strings.Cut(word(root, "sys/dev/block/"+disk+"/queue/scheduler"), "[")
	chosen, _, _ := strings.Cut(rest, "]")
	return chosen
}

// sourceOf is the device number of the block device that is the source of dir's mount.
func sourceOf(mounts []proc.Mount, dir string) string {
	m := proc.MountOf(mounts, dir)
	if m == nil {
		return ""
	}
	var st unix.Stat_t
	if unix.Stat(m.Source, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFBLK {
		return ""
	}
	return fmt.Sprintf("%d:%d", unix.Major(st.Rdev), unix.Minor(st.Rdev))
}

// word is the trimmed text of a file; empty on an error.
func word(dir, file string) string {
	b, _ := os.ReadFile(filepath.Join(dir, file))
	return strings.TrimSpace(string(b))
}
