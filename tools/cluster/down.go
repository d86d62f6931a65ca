package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

const pause = 20 * time.Millisecond

// endPods kills every process in the pods' control groups.
func endPods() error {
	for begun := time.Now(); ; time.Sleep(pause) {
		left := 0
		for _, group := range podGroups() {
			_ = filepath.WalkDir(group, func(path string, d fs.DirEntry, err error) error {
				if err != nil || !d.IsDir() {
					return nil
				}
				thaw(path)
				b, _ := os.ReadFile(filepath.Join(path, "cgroup.procs"))
				for _, word := range strings.Fields(string(b)) {
					var pid int
					if _, err := fmt.Sscan(word, &pid); err == nil && pid > 1 {
						left++
						_ = syscall.Kill(pid, syscall.SIGKILL)
					}
				}
				return nil
			})
		}
		if left == 0 {
			return nil
		}
		if time.Since(begun) > patience {
			return fmt.Errorf("%d processes of pods do not end", left)
		}
	}
}

func thaw(group string) {
	file := filepath.Join(group, "freezer.state")
	if b, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(b)) != "THAWED" {
		_ = os.WriteFile(file, []byte("THAWED"), 0)
	}
}

// endShims waits for the shims, which end with their containers when they are
// asked to, and kills those that do not.
func (c cluster) endShims() error {
	for begun := time.Now(); ; time.Sleep(pause) {
		all := c.shims()
		if len(all) == 0 {
			return nil
		}
		for _, pid := range all {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if time.Since(begun) > patience {
			return fmt.Errorf("%d shims do not end", len(all))
		}
	}
}

// removeBridge takes away the bridge and what is still on it.
func removeBridge() error {
	link, err := netlink.LinkByName(bridge)
	var none netlink.LinkNotFoundError
	if errors.As(err, &none) {
		return nil
	}
	if err != nil {
		return err
	}
	all, err := netlink.LinkList()
	if err != nil {
		return err
	}
	for _, l := range all {
		if l.Attrs().MasterIndex == link.Attrs().Index {
			if err := netlink.LinkDel(l); err != nil && !errors.As(err, &none) && !errors.Is(err, unix.ENODEV) {
				return fmt.Errorf("remove %s: %w", l.Attrs().Name, err)
			}
		}
	}
	return netlink.LinkDel(link)
}

// removeGroups removes the pods' control groups.
func removeGroups() error {
	for _, group := range podGroups() {
		var dirs []string
		_ = filepath.WalkDir(group, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				dirs = append(dirs, path)
			}
			return nil
		})
		for _, dir := range slices.Backward(dirs) {
			if err := removeGroup(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeGroup tries again: a group is busy for a moment after its last process.
func removeGroup(dir string) error {
	for begun := time.Now(); ; time.Sleep(pause) {
		err := unix.Rmdir(dir)
		if err == nil || errors.Is(err, unix.ENOENT) {
			return nil
		}
		if time.Since(begun) > patience/4 {
			return &os.PathError{Op: "remove", Path: dir, Err: err}
		}
	}
}
