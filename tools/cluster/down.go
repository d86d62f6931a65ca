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

// down removes the cluster. It goes on after errors and may be called again.
func (c cluster) down() error {
	if _, err := os.Lstat(c.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Lstat(c.beforeFile()); err != nil {
		return fmt.Errorf("%s is no directory of a cluster: %w; remove it yourself", c.dir, err)
	}
	var errs []error
	// The kubelets end first, because they would restart containers; containerd ends after its
	// containers; the API server waits for its watchers. The end of its first process ends the
	// second node.
	for _, name := range []string{"kubelet", "kubelet-2", "kube-proxy", "kube-proxy-2", "kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd"} {
		errs = append(errs, c.stop(name))
	}
	errs = append(errs, endPods(), c.stop(firstProcess), c.endShims(), c.stop("containerd"), removeBridge(), removeLink(), closeForward(), removeGroups(), unmountBelow(c.dir))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("take the cluster down: %w", err)
	}
	if err := c.putBack(); err != nil {
		return fmt.Errorf("put the host back: %w", err)
	}
	return os.RemoveAll(c.dir)
}

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

// endShims asks the shims to end, waits for them and kills those that stay.
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

// removeBridge removes the bridge and the links on it.
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

// removeLink removes the veth pair to the second node. The kernel would remove it with the node's
// network namespace, but later.
func removeLink() error {
	l, err := netlink.LinkByName(link[0].name)
	if err == nil {
		err = netlink.LinkDel(l)
	}
	var none netlink.LinkNotFoundError
	if errors.As(err, &none) || errors.Is(err, unix.ENODEV) {
		return nil
	}
	return err
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

// removeGroup retries, because a group stays busy for a moment after its last process ended.
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
