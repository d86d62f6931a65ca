package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/nftables"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/loop"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// leaving leave something of a kind behind until the end of the test, and return a pattern of what
// hostLook must say of it. dir is a directory of the test, name a name. Others work on the host
// since before was taken.
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
	// This setting is how often a message of the network may come into the kernel's log.
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

// TestHostLookSees leaves something of each kind behind, and hostLook must see it.
func TestHostLookSees(t *testing.T) {
	testneed.Root(t)
	t.Setenv("TARETEST_SHARED_HOST", "") // by no name
	dir := t.TempDir()
	before := lookAtHost(t, dir)
	for what, leave := range leaving {
		t.Run(what, func(t *testing.T) { sees(t, before, dir, leave(t, before, dir, filepath.Base(filepath.Dir(dir)))) })
	}
}

// Enable controllers for the children of a group, and leave them enabled.
func TestHostLookSeesControllers(t *testing.T) {
	testneed.Root(t)
	group := makeGroup(t, "look"+filepath.Base(filepath.Dir(t.TempDir())))
	has := strings.Fields(read(filepath.Join(group, "cgroup.controllers")))
	if len(has) == 0 {
		t.Skip("no controller of version 2 is enabled at the root")
	}
	t.Setenv("TARETEST_SHARED_HOST", "")
	before := lookAtHost(t)
	must(t, os.WriteFile(filepath.Join(group, "cgroup.subtree_control"), []byte("+"+has[0]), 0))
	sees(t, before, "", fmt.Sprintf(`^changed: group %s was "", is "%s"$`, group, has[0]))
}

// sees fails unless hostLook says something that matches.
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

// makeGroup makes a control group, of version 2 if there is one.
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

// sleeping starts a process that sleeps, in a directory and in namespaces of its own.
func sleeping(t *testing.T, dir string, own uintptr) (pid int) {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.Dir, cmd.SysProcAttr = dir, &unix.SysProcAttr{Cloneflags: own}
	must(t, cmd.Start())
	t.Cleanup(func() { must(t, cmd.Process.Kill()); _ = cmd.Wait() })
	return cmd.Process.Pid
}

// imageOf makes an empty image of Podman's and returns its name, in lower case.
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

// keepTo binds a thread to some CPUs.
func keepTo(tid int, cpus []int) error {
	var set unix.CPUSet
	for _, c := range cpus {
		set.Set(c)
	}
	return unix.SchedSetaffinity(tid, &set)
}
