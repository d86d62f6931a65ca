package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// before is the state of the host before the cluster: what a kubelet and containerd change and cannot be
// told not to.
type before struct {
	// Sysctls are values by path below /proc/sys.
	Sysctls map[string]string `json:"sysctls"`
	// Tables are the tables of nftables, Chains those of published ports.
	Tables []string `json:"tables"`
	Chains []string `json:"chains"`
	// Absent are directories that did not exist.
	Absent []string `json:"absent"`
}

// sysctls are those that a kubelet (setupKernelTunables) and the bridge plugin set.
var sysctls = []string{
	"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops",
	"kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes", "net/ipv4/ip_forward",
}

// directories are those that containerd, its shims and the kubelet create at fixed paths.
var directories = []string{
	"/run/containerd", "/opt/containerd", "/var/lib/containerd", "/var/lib/cni", "/etc/cni", "/var/lib/kubelet",
	"/var/log/containers", "/var/log/pods", "/run/netns", "/run/kubernetes", "/usr/libexec/kubernetes",
}

func (c cluster) beforeFile() string { return c.in("before.json") }

// remember writes the state of the host to a file, before the first change.
func (c cluster) remember() error {
	b := before{Sysctls: map[string]string{}}
	for _, name := range sysctls {
		v, err := os.ReadFile("/proc/sys/" + name)
		if err != nil {
			return err
		}
		b.Sysctls[name] = strings.TrimSpace(string(v))
	}
	var err error
	if b.Tables, err = tables(); err == nil {
		b.Chains, err = portChains(b.Tables)
	}
	if err != nil {
		return err
	}
	for _, dir := range ownDirs {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			b.Absent = append(b.Absent, dir)
		}
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.OpenFile(c.beforeFile(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// putBack restores the state of the host.
func (c cluster) putBack() error {
	text, err := os.ReadFile(c.beforeFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was changed
	}
	var b before
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err != nil {
		return err
	}
	var errs []error
	for name, was := range b.Sysctls {
		now, err := os.ReadFile("/proc/sys/" + name)
		if err == nil && strings.TrimSpace(string(now)) != was {
			err = os.WriteFile("/proc/sys/"+name, []byte(was), 0)
		}
		errs = append(errs, err)
	}
	errs = append(errs, removeRules(b.Tables, b.Chains))
	for _, dir := range b.Absent {
		if dir == tareDir || dir == tareRunDir { // files that others have put there since stay
			if err := unix.Rmdir(dir); err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTEMPTY) {
				errs = append(errs, &os.PathError{Op: "remove", Path: dir, Err: err})
			}
			continue
		}
		if !fixed(dir) {
			errs = append(errs, fmt.Errorf("%s in %s is not a directory of containerd or the kubelet", dir, c.beforeFile()))
			continue
		}
		errs = append(errs, unmountBelow(dir), os.RemoveAll(dir))
	}
	return errors.Join(errs...)
}

func fixed(dir string) bool {
	for _, d := range directories {
		if d == dir {
			return true
		}
	}
	return false
}

// unmountBelow unmounts a directory and everything below it.
func unmountBelow(dir string) error {
	return unmount(func(point string) bool { return point == dir || strings.HasPrefix(point, dir+"/") })
}

// unmount unmounts the mount points for which the function is true, the last first.
func unmount(these func(point string) bool) error {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	var points []string
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 4 && these(f[4]) {
			points = append(points, f[4])
		}
	}
	for i := len(points) - 1; i >= 0; i-- {
		if err := unix.Unmount(points[i], unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("unmount %s: %w", points[i], err)
		}
	}
	return nil
}

// podGroups are the control groups of all pods, in every hierarchy; those of the second node are below
// secondGroup. All are this cluster's: up refuses a host that already has some.
func podGroups() []string {
	var all []string
	for _, pattern := range []string{"/sys/fs/cgroup/kubepods*", "/sys/fs/cgroup/*/kubepods*", "/sys/fs/cgroup/" + secondGroup, "/sys/fs/cgroup/*/" + secondGroup} {
		found, _ := filepath.Glob(pattern) // the patterns are constants
		all = append(all, found...)
	}
	return all
}
