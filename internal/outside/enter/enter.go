// Package enter is for tare in a container: it says whether this process is in one, and moves it into the
// namespaces of the container's host. Package nodes uses it in the pod of a node helper; Run does it for every
// command of tare in a privileged container that sees the processes of its host. The package must not know
// clusters or what is measured.
package enter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/proc"
)

// Kind is a kind of namespaces.
type Kind struct {
	name string // in /proc/PID/ns
	flag int    // CLONE_NEW*
}

// kindsOfContainer are the namespaces that a container has although it sees the processes of its host.
func kindsOfContainer() []Kind { return append([]Kind{{"net", unix.CLONE_NEWNET}}, OfPod()...) }

// OfPod are those of a pod that has the host's network, too.
func OfPod() []Kind {
	return []Kind{{"ipc", unix.CLONE_NEWIPC}, {"uts", unix.CLONE_NEWUTS}, {"cgroup", unix.CLONE_NEWCGROUP}, {"mnt", unix.CLONE_NEWNS}}
}

// Path is the search path of programs on a host.
const Path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Namespaces has the opened namespaces of a host.
type Namespaces struct {
	// Whose is the process that the namespaces were opened at, for users.
	Whose string
	// Containerd is the address of containerd's socket, as the container's shim has it; "": not known.
	Containerd string

	kinds []Kind
	fds   []int // of each kind
}

// Find opens the namespaces of process 1, or those of the container runtime, which runs on the host too, where
// process 1 does not let this process look at it.
func Find(kinds []Kind) (Namespaces, error) {
	pid, address := containerRuntime(os.Getppid)
	d := Namespaces{Containerd: address, kinds: kinds}
	var errs []error
	for _, at := range []struct {
		pid   int
		whose string
	}{{1, "process 1"}, {pid, runtimeItself}} {
		if at.pid == 0 {
			continue
		}
		fds, err := openAll(at.pid, kinds)
		if err == nil {
			d.Whose, d.fds = at.whose, fds
			return d, nil
		}
		errs = append(errs, fmt.Errorf("open the namespaces of %s: %w", at.whose, err))
	}
	return d, errors.Join(errs...)
}

func openAll(pid int, kinds []Kind) ([]int, error) {
	var all []int
	for _, k := range kinds {
		fd, err := unix.Open(fmt.Sprintf("/proc/%d/ns/%s", pid, k.name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			for _, n := range all {
				unix.Close(n)
			}
			return nil, err
		}
		all = append(all, fd)
	}
	return all, nil
}

// Go moves the calling thread through the door; the thread is locked, and must execute a program next.
func (d Namespaces) Go() error {
	runtime.LockOSThread() // setns changes this thread only; exec makes it the process
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("unshare the root directory from other threads: %w", err)
	}
	for i, k := range d.kinds {
		if err := unix.Setns(d.fds[i], k.flag); err != nil {
			return fmt.Errorf("enter the %s namespace of %s: %w", k.name, d.Whose, err)
		}
	}
	return unix.Chdir("/")
}

// Execute executes the first of the opened files, this binary, on the host. It returns only on errors. The
// program inherits the files; its arguments are before, the number of each file, and after.
func Execute(files []*os.File, before, after, env []string) error {
	args := slices.Clone(before)
	for _, f := range files {
		if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFD, 0); err != nil {
			return err
		}
		args = append(args, strconv.Itoa(int(f.Fd())))
	}
	self := fmt.Sprintf("/proc/self/fd/%d", files[0].Fd())
	return fmt.Errorf("execute this binary on the host: %w", unix.Exec(self, append(args, after...), env))
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
