package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/enginetest"
	"github.com/tarelab/tare/internal/testing/environmenttest"
)

// hostLook is everything on the host that runs could change, whether it bears their names or not:
// kind and name, with the content.
type hostLook map[string]string

// lookAtHost looks. The files in dirs count too.
func lookAtHost(t *testing.T, dirs ...string) hostLook {
	t.Helper()
	h := hostLook{}
	h.engines(t) // first: Podman makes files of its own when it is asked
	h.groups()
	h.threads()
	h.files(dirs)
	h.settings()
	snapshot := environmenttest.TakeSnapshot(t)
	for _, kind := range []string{"process", "link", "rule"} {
		for _, item := range snapshot[kind] {
			h[kind+" "+item] += "one " // there can be several
		}
	}
	for line := range strings.Lines(read("/proc/self/mountinfo")) {
		f := strings.Fields(line) // the first is a number that mounts inherit
		h["mount "+strings.Join(f[2:5], " ")+" "+f[len(f)-1]] = ""
	}
	loops, _ := filepath.Glob("/sys/block/loop*/loop/backing_file") // the patterns are constants
	for _, l := range loops {
		h["loop device "+l] = read(l)
	}
	return h
}

// read returns the text of a file; "" if it is gone, or a directory.
func read(path string) string {
	b, _ := os.ReadFile(path)
	return strings.TrimSpace(string(b))
}

// groups returns all control groups with the controllers that they enable.
func (h hostLook) groups() {
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			enabled := strings.Fields(read(filepath.Join(path, "cgroup.subtree_control")))
			slices.Sort(enabled)
			h["group "+path] = strings.Join(enabled, " ")
		}
		return nil
	})
}

// threads returns the CPUs of every thread and the namespaces of processes.
func (h hostLook) threads() {
	tasks, _ := filepath.Glob("/proc/[0-9]*/task/[0-9]*")
	for _, task := range tasks {
		stat := read(task + "/stat")
		_, after, _ := strings.Cut(stat, ") ")
		f := strings.Fields(after)
		_, cpus, _ := strings.Cut(read(task+"/status"), "Cpus_allowed_list:")
		if len(f) > 19 && cpus != "" {
			h["CPUs of thread "+filepath.Base(task)+" begun at "+f[19]] = strings.Fields(cpus)[0]
		}
	}
	spaces, _ := filepath.Glob("/proc/[0-9]*/ns/*")
	for _, s := range spaces {
		if to, err := os.Readlink(s); err == nil {
			h["namespace "+to] = ""
		}
	}
}

// files returns the files that tare writes to fixed places, and those in the directories.
func (h hostLook) files(dirs []string) {
	for _, pattern := range []string{"/var/tmp/*tare-*", "/tmp/tare-*-*", "/run/tare/*", "/run/netns/*", "/run/runc/*", "/run/crun/*", "/dev/shm/*", "/dev/mqueue/*"} {
		found, _ := filepath.Glob(pattern)
		for _, f := range found {
			if !strings.HasPrefix(f, "/run/tare/host.lock") {
				h["file "+f] = ""
			}
		}
	}
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				h["file "+path] = ""
			}
			return nil
		})
	}
}

// volatile are settings that the kernel changes by itself.
var volatile = regexp.MustCompile(`/random/|/fs/(dentry-state|inode-|file-nr|aio-nr|quota)|/pty/nr|ns_last_pid|conntrack_count|/perf_|/net/ipv[46]/(conf|neigh)/|/hung_task_detect_count|/sched_domain/|/binfmt_misc`)

// settings returns settings of the kernel.
func (h hostLook) settings() {
	for _, top := range []string{"/proc/sys/kernel", "/proc/sys/vm", "/proc/sys/net", "/proc/sys/user", "/proc/sys/fs"} {
		_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !volatile.MatchString(path) {
				if info, err := d.Info(); err == nil && info.Mode().Perm()&0o400 != 0 {
					h["setting "+path] = read(path)
				}
			}
			return nil
		})
	}
}

// engines returns the containers and images of Docker and Podman.
func (h hostLook) engines(t *testing.T) {
	t.Helper()
	if strings.HasPrefix(os.Getenv("DOCKER_HOST"), "unix:///tmp/docker") {
		for _, name := range enginetest.Named(t, "") {
			h[name] = ""
		}
	}
	for _, args := range [][]string{{"ps", "--all", "--format", "container {{.Names}}"}, {"images", "--format", "image {{.Repository}} {{.Tag}} {{.ID}}"}} {
		out, err := exec.Command("podman", args...).Output() // where there is none it has none
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(out)) {
			h["podman's "+strings.TrimSpace(line)] = ""
		}
	}
}

// Others change these kinds too. Of threads and settings only those that were there before and
// still are must be the same. Namespaces end with other processes.
var (
	mayCome = regexp.MustCompile(`^(CPUs|setting) `)
	mayGo   = regexp.MustCompile(`^(CPUs|setting|namespace) `)
)

// left returns what is not as it was; what goes within the time does not count. On a host on which
// others work (TARETEST_SHARED_HOST) only what has one of the names counts.
func (h hostLook) left(t *testing.T, within time.Duration, dirs []string, names ...string) []string {
	t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(200 * time.Millisecond) {
		all := append(h.differences(lookAtHost(t, dirs...)), processesOf(names)...)
		if os.Getenv("TARETEST_SHARED_HOST") != "" {
			all = slices.DeleteFunc(all, func(l string) bool {
				return !slices.ContainsFunc(names, func(n string) bool { return n != "" && strings.Contains(l, n) })
			})
		}
		if len(all) == 0 || time.Now().After(end) {
			return all
		}
	}
}

func (h hostLook) differences(now hostLook) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(now)) {
		was, there := h[name]
		switch {
		case !there && !mayCome.MatchString(name):
			all = append(all, "left behind: "+name)
		case there && was != now[name]:
			all = append(all, fmt.Sprintf("changed: %s was %q, is %q", name, was, now[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if _, there := now[name]; !there && !mayGo.MatchString(name) {
			all = append(all, "taken away: "+name)
		}
	}
	return all
}

// processesOf returns the processes that have one of the names in their arguments, their
// environment, their control group or their open files.
func processesOf(names []string) (all []string) {
	pids, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range pids {
		if p == fmt.Sprint("/proc/", os.Getpid()) {
			continue
		}
		text := read(p+"/cmdline") + read(p+"/environ") + read(p+"/cgroup")
		links, _ := filepath.Glob(p + "/fd/*")
		for _, l := range append(links, p+"/cwd", p+"/root", p+"/exe") {
			to, _ := os.Readlink(l)
			text += to
		}
		for _, n := range names {
			if n != "" && strings.Contains(text, n) {
				all = append(all, fmt.Sprintf("process %s of %s: %s", filepath.Base(p), n, strings.ReplaceAll(read(p+"/cmdline"), "\x00", " ")))
				break
			}
		}
	}
	return all
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
