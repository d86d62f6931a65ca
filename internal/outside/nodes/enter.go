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

// namespace is an opened namespace of the node's host.
type namespace struct {
	fd   int
	flag int // CLONE_NEW*
}

// entered are the namespaces that enter enters. The pod has the host's PID and network
// namespaces already (hostPID, hostNetwork).
var entered = []struct {
	name string
	flag int
}{{"ipc", unix.CLONE_NEWIPC}, {"uts", unix.CLONE_NEWUTS}, {"cgroup", unix.CLONE_NEWCGROUP}, {"mnt", unix.CLONE_NEWNS}}

// enter is roleEnter: it moves from the helper's container into the namespaces of the
// node's host and executes this binary there as roleHost, with a task. It returns only
// on errors.
func enter(task []string) error {
	var files []*os.File
	for _, path := range []string{"/proc/self/exe", kube.HelperToken, kube.HelperCA} {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	runtimePid, address := containerRuntime(os.Getppid)
	whose, opened, err := openNamespaces(runtimePid)
	if err != nil {
		return err
	}
	runtime.LockOSThread() // setns changes this thread only; exec makes it the process
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("unshare the root directory from other threads: %w", err)
	}
	for i, n := range opened {
		if err := unix.Setns(n.fd, n.flag); err != nil {
			return fmt.Errorf("enter the %s namespace of %s: %w", entered[i].name, whose, err)
		}
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	args := []string{"tare", Command, roleHost, whose}
	for _, f := range files {
		if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFD, 0); err != nil {
			return err
		}
		args = append(args, strconv.Itoa(int(f.Fd())))
	}
	self := fmt.Sprintf("/proc/self/fd/%d", files[0].Fd())
	return fmt.Errorf("execute this binary on the host: %w", unix.Exec(self, append(args, task...), environment(address)))
}

// environment is the environment of tare on the node. containerd is the address of its
// socket, or "".
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

// openNamespaces opens the namespaces of process 1, or those of the container runtime,
// which runs on the host too, where process 1 does not let this process look at it.
func openNamespaces(runtimePid int) (whose string, all []namespace, err error) {
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

func openAll(pid int) ([]namespace, error) {
	var all []namespace
	for _, k := range entered {
		fd, err := unix.Open(fmt.Sprintf("/proc/%d/ns/%s", pid, k.name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			for _, n := range all {
				unix.Close(n.fd)
			}
			return nil, err
		}
		all = append(all, namespace{fd, k.flag})
	}
	return all, nil
}

// containerRuntime finds the process of the container runtime above this one, and the
// address of containerd's socket in its arguments; 0 and "" where there is none. parent
// is the pid of this process's parent: runc, which executed this process in the
// container, may end during the search, and the shim becomes the parent. The search then
// begins anew.
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

// runtimeAbove looks at a process, its parent, and so on. It returns an error if a process
// ends before its parent was read.
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
