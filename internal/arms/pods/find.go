package pods

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
)

// container is a container of a pod on this host.
type container struct {
	pid   int    // of its first process
	procs string // a file cgroup.procs of the container
	// group has the groups of the kubelet: those of version 1, or of version 2 where it is the
	// only one.
	group cgroup.Group
}

// findContainer finds a container by its id, which is in the name of its group with all
// runtimes and cgroup drivers.
func findContainer(t *cgroup.Tree, id string) (container, error) {
	dir, err := t.OfContainer(id)
	if err != nil {
		return container{}, fmt.Errorf("find container %s on this host: %w", id, err)
	}
	var c container
	if c.pid, c.procs, err = firstProcess(dir); err != nil {
		return c, fmt.Errorf("find container %s on this host: %w", id, err)
	}
	if c.group, err = groupsOf(t, c.pid); err != nil {
		return c, fmt.Errorf("find the control groups of container %s: %w", id, err)
	}
	return c, nil
}

// firstProcess is the process with pid 1 in the container, with the file that lists it: crun of CRI-O makes a group
// below that of the container.
func firstProcess(dir string) (pid int, procs string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "cgroup.procs" {
			return nil // a group that was removed meanwhile has no process
		}
		b, _ := os.ReadFile(path)
		for _, word := range strings.Fields(string(b)) {
			n, _ := strconv.Atoi(word)
			if isFirst(n) {
				pid, procs = n, path
				return fs.SkipAll
			}
		}
		return nil
	})
	if err == nil && pid == 0 {
		err = errors.New("its first process is not there")
	}
	return pid, procs, err
}

// isFirst says whether a process has pid 1 in its innermost pid namespace, and another one here.
func isFirst(pid int) bool {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "NSpid:"); ok && strings.HasSuffix(strings.TrimSpace(rest), "\t1") {
			return true
		}
	}
	return false
}

// groupsOf are the groups of a process in all hierarchies with controllers.
func groupsOf(t *cgroup.Tree, pid int) (cgroup.Group, error) {
	paths, err := proc.FS("/").Cgroups(strconv.Itoa(pid))
	if err != nil {
		return cgroup.Group{}, err
	}
	g := cgroup.Group{Tree: t, Dirs: map[string]string{}}
	for name, path := range paths {
		switch {
		case t.V1[name] != "":
			g.Dirs[name], g.Path = filepath.Join(t.V1[name], path), strings.Trim(path, "/")
			g.Controllers = append(g.Controllers, name)
		case name == "" && t.Layout == cgroup.V2:
			g.Path = strings.Trim(path, "/")
			g.AddV2(filepath.Join(t.V2, path), t.V2Controllers)
		}
	}
	slices.Sort(g.Controllers)
	if len(g.Dirs) == 0 {
		return g, fmt.Errorf("process %d is in none", pid)
	}
	return g, nil
}

// onHost is the path on this host of a directory that is mounted in a process's root: below
// the host's mount of the same file system, or through /proc/PID/root if the host has none.
func onHost(pid int, point string) (string, error) {
	through := fmt.Sprintf("/proc/%d/root%s", pid, point)
	want, err := os.Stat(through)
	if err != nil {
		return "", fmt.Errorf("find the pod's volume: %w", err)
	}
	inside, err := proc.FS("/").MountsOf(strconv.Itoa(pid))
	if err != nil {
		return "", fmt.Errorf("find the pod's volume: %w", err)
	}
	i := slices.IndexFunc(inside, func(m proc.Mount) bool { return m.Point == point })
	if i < 0 {
		return "", fmt.Errorf("find the pod's volume: nothing is mounted at %s in it", point)
	}
	host, err := proc.FS("/").Mounts()
	if err != nil {
		return "", fmt.Errorf("find the pod's volume: %w", err)
	}
	for _, m := range host {
		rest, ok := strings.CutPrefix(inside[i].Root, strings.TrimSuffix(m.Root, "/"))
		if m.Major != inside[i].Major || m.Minor != inside[i].Minor || !ok || rest != "" && rest[0] != '/' {
			continue
		}
		path := filepath.Join(m.Point, rest)
		if st, err := os.Stat(path); err == nil && os.SameFile(st, want) {
			return path, nil
		}
	}
	return through, nil
}

// programDirs hold programs and libraries. Programs read programFiles to find libraries, users
// and the time zone.
var (
	programDirs  = []string{"bin", "lib", "lib32", "lib64", "libx32", "opt", "sbin", "usr"}
	programFiles = []string{"/etc/alternatives", "/etc/group", "/etc/ld.so.cache", "/etc/localtime", "/etc/nsswitch.conf", "/etc/passwd"}
)

// nodePrograms are the directories and files of this host that a pod without an image of its
// own mounts.
func nodePrograms() []string {
	var all []string
	for _, d := range programDirs {
		if st, err := os.Lstat("/" + d); err == nil && st.IsDir() {
			all = append(all, "/"+d)
		}
	}
	for _, f := range programFiles {
		if _, err := os.Stat(f); err == nil {
			all = append(all, f)
		}
	}
	return all
}

// rootLinks are the programDirs that are links on this host, as /bin to usr/bin.
func rootLinks() map[string]string {
	links := map[string]string{}
	for _, d := range programDirs {
		if to, err := os.Readlink("/" + d); err == nil {
			links[d] = to
		}
	}
	return links
}
