package nodes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/outside/kube"
)

// space is an opened namespace of the node's host.
type space struct {
	fd   int
	flag int
}

// kinds are the namespaces that are entered. Processes, network and the host's
// name are those of the node already: the pod has them (hostPID, hostNetwork).
var kinds = []struct {
	name string
	flag int
}{{"ipc", unix.CLONE_NEWIPC}, {"uts", unix.CLONE_NEWUTS}, {"cgroup", unix.CLONE_NEWCGROUP}, {"mnt", unix.CLONE_NEWNS}}

// enter goes from the helper's container into the namespaces of the node's host,
// and executes this binary there. It returns on errors only.
func enter(words []string) error {
	var files []*os.File
	for _, path := range []string{"/proc/self/exe", kube.HelperToken, kube.HelperCA} {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	runtimePid, address := containerRuntime(os.Getppid)
	whose, spaces, err := openSpaces(runtimePid)
	if err != nil {
		return err
	}
	runtime.LockOSThread() // what follows is of this thread, which becomes the process
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("have a root directory of its own: %w", err)
	}
	for i, s := range spaces {
		if err := unix.Setns(s.fd, s.flag); err != nil {
			return fmt.Errorf("enter the %s namespace of %s: %w", kinds[i].name, whose, err)
		}
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	args := []string{"tare", Command, wordHost, whose}
	for _, f := range files {
		if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFD, 0); err != nil {
			return err
		}
		args = append(args, strconv.Itoa(int(f.Fd())))
	}
	self := fmt.Sprintf("/proc/self/fd/%d", files[0].Fd())
	return fmt.Errorf("execute this binary on the host: %w", unix.Exec(self, append(args, words...), environment(address)))
}

// environment is that of tare on the node.
func environment(containerd string) []string {
	env := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8",
		"KUBERNETES_SERVICE_HOST=" + os.Getenv("KUBERNETES_SERVICE_HOST"),
		"KUBERNETES_SERVICE_PORT=" + os.Getenv("KUBERNETES_SERVICE_PORT"),
	}
	if containerd != "" {
		env = append(env, "CONTAINERD_ADDRESS="+containerd)
	}
	return env
}

// openSpaces opens the namespaces of process 1, or, where that one is not to be
// looked at, those of the container runtime, which runs on the host too.
func openSpaces(runtimePid int) (whose string, spaces []space, err error) {
	for _, c := range []struct {
		pid  int
		name string
	}{{1, "process 1"}, {runtimePid, "the container runtime"}} {
		if c.pid == 0 {
			continue
		}
		opened, openErr := openAll(c.pid)
		if openErr == nil {
			return c.name, opened, nil
		}
		err = errors.Join(err, fmt.Errorf("open the namespaces of %s: %w", c.name, openErr))
	}
	return "", nil, err
}

func openAll(pid int) ([]space, error) {
	var all []space
	for _, k := range kinds {
		fd, err := unix.Open(fmt.Sprintf("/proc/%d/ns/%s", pid, k.name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			for _, s := range all {
				unix.Close(s.fd)
			}
			return nil, err
		}
		all = append(all, space{fd, k.flag})
	}
	return all, nil
}

// containerRuntime is the process that looks after this container, and where its
// containerd listens, as its arguments say; 0 and "" where there is none. Whoever executed
// this process in the container (runc) ends at any moment, and its parent is another one
// then: it is looked for anew.
func containerRuntime(parent func() int) (pid int, address string) {
	for range 100 {
		pid, address, err := runtimeAbove(parent())
		if err == nil {
			return pid, address
		}
		time.Sleep(10 * time.Millisecond)
	}
	return 0, ""
}

// runtimeAbove looks at a process, its parent, and so on. Its error is a process that is
// gone before its parent is known.
func runtimeAbove(pid int) (_ int, address string, err error) {
	for pid > 1 {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		args := strings.Split(string(b), "\x00")
		switch name := filepath.Base(args[0]); {
		case strings.HasPrefix(name, "containerd-shim"):
			for i, a := range args[:len(args)-1] {
				if strings.TrimLeft(a, "-") == "address" {
					address = args[i+1]
				}
			}
			return pid, address, nil
		case name == "conmon", name == "crio":
			return pid, "", nil
		}
		p, err := proc.FS("/").Process(pid)
		if err != nil {
			return 0, "", err
		}
		pid = p.Parent
	}
	return 0, "", nil
}
