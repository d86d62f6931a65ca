package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/engine/enginetest"
	"github.com/tarelab/tare/internal/environment/environmenttest"
	"github.com/tarelab/tare/internal/linux/loop"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/testneed"
)

// hostLook is what runs could have changed on the host, whole and not only what has
// their names: a kind and a name, and what is there.
type hostLook map[string]string

// lookAtHost looks. dirs are directories whose files count too.
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

// read is the text of a file; "" of one that is gone, or of a directory.
func read(path string) string {
	b, _ := os.ReadFile(path)
	return strings.TrimSpace(string(b))
}

// groups are all control groups with what they enable, and those of resctrl.
func (h hostLook) groups() {
	for _, top := range []string{"/sys/fs/cgroup", "/sys/fs/resctrl"} {
		_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && !strings.HasPrefix(path, "/sys/fs/resctrl/info") {
				enabled := strings.Fields(read(filepath.Join(path, "cgroup.subtree_control")))
				slices.Sort(enabled)
				h["group "+path] = strings.Join(enabled, " ")
			}
			return nil
		})
	}
}

// threads are the CPUs of every thread and the namespaces that processes are in.
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

// files are those that tare puts somewhere by itself, and those below the directories.
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

// volatile are settings of the kernel that it changes by itself.
var volatile = regexp.MustCompile(`/random/|/fs/(dentry-state|inode-|file-nr|aio-nr|quota)|/pty/nr|ns_last_pid|conntrack_count|/perf_|/net/ipv[46]/(conf|neigh)/|/hung_task_detect_count|/sched_domain/|/binfmt_misc`)

// settings are those of the kernel.
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

// engines are the containers and images of Docker and Podman.
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

// Kinds that others change too: of threads and settings only what was there and still is
// must be the same, and namespaces end with others' processes.
var (
	mayCome = regexp.MustCompile(`^(CPUs|setting) `)
	mayGo   = regexp.MustCompile(`^(CPUs|setting|namespace) `)
)

// left is what is not as it was, when what is gone within the time does not count. Where
// others work on this host meanwhile (TARE_SHARED_HOST), it has to have one of the names.
func (h hostLook) left(t *testing.T, within time.Duration, dirs []string, names ...string) []string {
	t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(200 * time.Millisecond) {
		all := append(h.differences(lookAtHost(t, dirs...)), processesOf(names)...)
		if os.Getenv("TARE_SHARED_HOST") != "" {
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

// processesOf are the processes that have one of the names in their arguments, their
// environment, their control group or what they hold open.
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

// leaving leave something of a kind behind, until the end of the test, and return a
// pattern of what is to be told of it. dir is a directory of the test's own, name a name;
// others work on the host since it was looked at before.
var leaving = map[string]func(t *testing.T, before hostLook, dir, name string) (told string){
	"group": func(t *testing.T, _ hostLook, _, name string) string {
		group := makeGroup(t, name)
		return "^left behind: group " + group + "$"
	},
	"file": func(t *testing.T, _ hostLook, dir, _ string) string {
		must(t, os.WriteFile(filepath.Join(dir, "left"), nil, 0o600))
		return "^left behind: file " + dir + "/left$"
	},
	"CPUs": func(t *testing.T, _ hostLook, _, _ string) string {
		pid := os.Getpid()
		had, err := sched.CPUs(pid)
		must(t, err)
		if len(had) < 2 {
			t.Skip("there is one CPU")
		}
		t.Cleanup(func() { must(t, keepTo(pid, had)) })
		must(t, keepTo(pid, had[:1]))
		return fmt.Sprintf(`^changed: CPUs of thread %d begun at \d+ was ".+", is "%d"$`, pid, had[0])
	},
	"process": func(t *testing.T, _ hostLook, dir, _ string) string {
		return fmt.Sprintf(`^left behind: process %d \(sleep\)$`, sleeping(t, dir, 0))
	},
	"name of a process": func(t *testing.T, _ hostLook, dir, _ string) string {
		return fmt.Sprintf("^process %d of %s: sleep ", sleeping(t, dir, 0), dir)
	},
	"namespace": func(t *testing.T, before hostLook, dir, _ string) string {
		for { // it can have the number of one that has ended since
			space, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/uts", sleeping(t, dir, unix.CLONE_NEWUTS)))
			must(t, err)
			if _, was := before["namespace "+space]; !was {
				return "^left behind: namespace " + regexp.QuoteMeta(space) + "$"
			}
		}
	},
	"mount": func(t *testing.T, _ hostLook, dir, _ string) string {
		must(t, unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"))
		t.Cleanup(func() { must(t, unix.Unmount(dir, 0)) })
		return `^left behind: mount \S+ / ` + dir + " rw,size=64k"
	},
	"container": func(t *testing.T, _ hostLook, dir, name string) string {
		podman(t, "create", "--name", name, "--network", "none", imageOf(t, dir, name), "/none")
		t.Cleanup(func() { podman(t, "rm", name) })
		return "^left behind: podman's container " + name + "$"
	},
	"image": func(t *testing.T, _ hostLook, dir, name string) string {
		return `^left behind: podman's image \S+/` + imageOf(t, dir, name) + ` latest \w+$`
	},
	"class of resctrl": func(t *testing.T, _ hostLook, _, name string) string {
		class := filepath.Join("/sys/fs/resctrl", name)
		if err := os.Mkdir(class, 0o755); err != nil {
			t.Skipf("this kernel has no resctrl, or none that is mounted: %v", err)
		}
		t.Cleanup(func() { must(t, os.Remove(class)) })
		return "^left behind: group " + class + "$"
	},
	"loop device": func(t *testing.T, _ hostLook, dir, _ string) string {
		image := filepath.Join(dir, "image")
		must(t, os.WriteFile(image, make([]byte, 1<<20), 0o600))
		d, err := loop.Attach(image)
		testneed.Feature(t, "loop", err)
		t.Cleanup(func() { must(t, errors.Join(d.Release(), d.Gone())) })
		told := "loop device /sys/block/" + filepath.Base(d.Path) + "/loop/backing_file"
		return fmt.Sprintf(`^left behind: %s$|^changed: %s was ".*", is "%s`, told, told, image) // it can be one that was another's
	},
	"link": func(t *testing.T, _ hostLook, _, _ string) string {
		link := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: fmt.Sprintf("look%d", os.Getpid())}} // without addresses
		testneed.Feature(t, "bridge", netlink.LinkAdd(link))
		t.Cleanup(func() { must(t, netlink.LinkDel(link)) })
		return "^left behind: link bridge " + link.Name + " master 0$"
	},
	"rule": func(t *testing.T, _ hostLook, _, name string) string {
		c, err := nftables.New()
		must(t, err)
		table := c.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: name}) // nothing goes through it
		testneed.Feature(t, "nftables", c.Flush())
		t.Cleanup(func() { c.DelTable(table); must(t, c.Flush()) })
		return fmt.Sprintf("^left behind: rule table %d %s$", table.Family, name)
	},
	// How often a message of the network may come into the kernel's log.
	"setting": func(t *testing.T, _ hostLook, _, _ string) string {
		const path = "/proc/sys/net/core/message_burst"
		had, err := strconv.Atoi(read(path))
		if err != nil || unix.Access(path, unix.W_OK) != nil {
			t.Skipf("%s is not to be written here: %v", path, err)
		}
		t.Cleanup(func() { must(t, os.WriteFile(path, []byte(strconv.Itoa(had)), 0)) })
		must(t, os.WriteFile(path, []byte(strconv.Itoa(had+1)), 0))
		return fmt.Sprintf(`^changed: setting %s was "%d", is "%d"$`, path, had, had+1)
	},
}

// TestHostLookSees leaves something of each kind behind, and wants it told.
func TestHostLookSees(t *testing.T) {
	testneed.Root(t)
	t.Setenv("TARE_SHARED_HOST", "") // by no name
	dir := t.TempDir()
	before := lookAtHost(t, dir)
	for what, leave := range leaving {
		t.Run(what, func(t *testing.T) { sees(t, before, dir, leave(t, before, dir, filepath.Base(filepath.Dir(dir)))) })
	}
}

// Controllers that are enabled for the children of a group, and stay so.
func TestHostLookSeesControllers(t *testing.T) {
	testneed.Root(t)
	group := makeGroup(t, "look"+filepath.Base(filepath.Dir(t.TempDir())))
	has := strings.Fields(read(filepath.Join(group, "cgroup.controllers")))
	if len(has) == 0 {
		t.Skip("no controller of version 2 is enabled at the root")
	}
	t.Setenv("TARE_SHARED_HOST", "")
	before := lookAtHost(t)
	must(t, os.WriteFile(filepath.Join(group, "cgroup.subtree_control"), []byte("+"+has[0]), 0))
	sees(t, before, "", fmt.Sprintf(`^changed: group %s was "", is "%s"$`, group, has[0]))
}

// sees wants what matches to be told.
func sees(t *testing.T, before hostLook, dir, told string) {
	t.Helper()
	var dirs []string
	if dir != "" {
		dirs = []string{dir}
	}
	left := before.left(t, 0, dirs, dir)
	if !slices.ContainsFunc(left, regexp.MustCompile(told).MatchString) {
		t.Errorf("nothing matches %s in\n%s", told, strings.Join(left, "\n"))
	}
}

// makeGroup makes a control group, of version 2 where there is that.
func makeGroup(t *testing.T, name string) string {
	t.Helper()
	var tops []string
	for _, hierarchy := range []string{"", "unified", "*"} {
		found, _ := filepath.Glob(filepath.Join("/sys/fs/cgroup", hierarchy, "cgroup.procs")) // the patterns are good
		tops = append(tops, found...)
	}
	if len(tops) == 0 {
		t.Skip("there are no control groups")
	}
	group := filepath.Join(filepath.Dir(tops[0]), name)
	must(t, os.Mkdir(group, 0o755))
	t.Cleanup(func() { must(t, os.Remove(group)) })
	return group
}

// sleeping is a process that sleeps, in a directory and in namespaces of its own.
func sleeping(t *testing.T, dir string, own uintptr) (pid int) {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.Dir, cmd.SysProcAttr = dir, &unix.SysProcAttr{Cloneflags: own}
	must(t, cmd.Start())
	t.Cleanup(func() { must(t, cmd.Process.Kill()); _ = cmd.Wait() })
	return cmd.Process.Pid
}

// imageOf makes an image of Podman's with nothing in it, and returns its name: in lower case.
func imageOf(t *testing.T, dir, name string) string {
	t.Helper()
	testneed.Tool(t, "podman")
	name = strings.ToLower(name)
	empty := filepath.Join(dir, "empty.tar")
	must(t, os.WriteFile(empty, make([]byte, 1024), 0o600)) // two blocks of zeros end an archive
	podman(t, "import", empty, name)
	t.Cleanup(func() { podman(t, "rmi", name) })
	return name
}

func podman(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("podman", args...).CombinedOutput(); err != nil {
		t.Fatalf("podman %v: %v\n%s", args, err, out)
	}
}

// keepTo keeps a thread to some CPUs.
func keepTo(tid int, cpus []int) error {
	var set unix.CPUSet
	for _, c := range cpus {
		set.Set(c)
	}
	return unix.SchedSetaffinity(tid, &set)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
