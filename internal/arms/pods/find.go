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

// A container on this host: its control groups, its first process, and where
// the host has what it sees.

// container is one.
type container struct {
	pid   int    // of its first process
	procs string // file with its processes
	// group is where the kubelet put it, without version 2 beside version 1.
	group cgroup.Group
}

// findContainer finds it by its id, which is the name of its group with every
// runtime and driver.
func findContainer(t *cgroup.Tree, id string) (container, error) {
	root := t.V2
	for _, c := range []string{"cpu", "memory", "pids"} {
		if t.V1[c] != "" {
			root = t.V1[c]
			break
		}
	}
	dir := ""
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // it has just been removed
			return fs.SkipDir
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == id || strings.HasSuffix(d.Name(), "-"+id+".scope")):
			dir = path
			return fs.SkipAll
		}
		return nil
	})
	if err == nil && dir == "" {
		err = errors.New("it has no group below " + root)
	}
	if err != nil {
		return container{}, fmt.Errorf("find container %s on this host: %w", id, err)
	}
	c := container{procs: filepath.Join(dir, "cgroup.procs")}
	if c.pid, err = firstProcess(c.procs); err != nil {
		return c, fmt.Errorf("find container %s on this host: %w", id, err)
	}
	if c.group, err = groupsOf(t, c.pid); err != nil {
		return c, fmt.Errorf("find the control groups of container %s: %w", id, err)
	}
	return c, nil
}

// firstProcess is the one that the container numbers 1.
func firstProcess(procs string) (int, error) {
	b, err := os.ReadFile(procs)
	if err != nil {
		return 0, err
	}
	for _, word := range strings.Fields(string(b)) {
		pid, _ := strconv.Atoi(word)
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, "NSpid:"); ok && strings.HasSuffix(strings.TrimSpace(rest), "\t1") {
				return pid, nil
			}
		}
	}
	return 0, errors.New("its first process is not there")
}

// groupsOf are the groups that a process is in, in every hierarchy with
// controllers.
func groupsOf(t *cgroup.Tree, pid int) (cgroup.Group, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return cgroup.Group{}, err
	}
	g := cgroup.Group{Tree: t, Dirs: map[string]string{}}
	for line := range strings.Lines(string(b)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		for name := range strings.SplitSeq(f[1], ",") {
			switch {
			case t.V1[name] != "":
				g.Dirs[name], g.Path = filepath.Join(t.V1[name], f[2]), strings.Trim(f[2], "/")
				g.Controllers = append(g.Controllers, name)
			case name == "" && t.Layout == cgroup.V2:
				addV2(&g, f[2])
			}
		}
	}
	slices.Sort(g.Controllers)
	if len(g.Dirs) == 0 {
		return g, fmt.Errorf("process %d is in none", pid)
	}
	return g, nil
}

// addV2 has the one directory of version 2 under the names of its controllers,
// of both versions.
func addV2(g *cgroup.Group, path string) {
	dir := filepath.Join(g.Tree.V2, path)
	g.Path = strings.Trim(path, "/")
	g.Dirs[cgroup.Unified] = dir
	for _, c := range g.Tree.V2Controllers {
		g.Controllers = append(g.Controllers, c)
		g.Dirs[c] = dir
		switch c {
		case "io":
			g.Dirs["blkio"] = dir
		case "cpu":
			g.Dirs["cpuacct"] = dir
		}
	}
}

// onHost is where this host has a directory that is mounted in a process's file
// system: by the host's own mount of the same file system. Where the host has
// none it is reached through the process.
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

// programDirs hold programs and their libraries; programFiles are what they
// look up to find each other and who they are.
var (
	programDirs  = []string{"bin", "lib", "lib32", "lib64", "libx32", "opt", "sbin", "usr"}
	programFiles = []string{"/etc/alternatives", "/etc/group", "/etc/ld.so.cache", "/etc/localtime", "/etc/nsswitch.conf", "/etc/passwd"}
)

// nodePrograms are the directories and files of this host that a pod has where
// no image brings the load's programs.
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

// rootLinks are the links at the top of this host's root among those.
func rootLinks() map[string]string {
	links := map[string]string{}
	for _, d := range programDirs {
		if to, err := os.Readlink("/" + d); err == nil {
			links[d] = to
		}
	}
	return links
}
