package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/cgroup"
)

// Child describes a child of tare.
type Child struct {
	Request Request
	// Files are inherited as descriptors 3, 4, ...; Log is standard output and standard error;
	// nil: /dev/null.
	Files []*os.File
	Log   *os.File
	// Group is joined first; the zero value is no group.
	Group cgroup.Group
	// Leave moves the child to the root group of every hierarchy before it joins Group; nil: the
	// child stays in tare's groups where Group has none.
	Leave *cgroup.Tree
	// Clone are the namespaces that are made with the child (CLONE_NEW...). A user namespace maps
	// this user to root.
	Clone uintptr
	// Net is a network namespace that the child enters; nil: none.
	Net *os.File
	// ShimStarted is called with the pid of the child that looks after a container, before the
	// child does anything.
	ShimStarted func(pid int) error
	// Created is called between the creation and the start of a container; it may be nil.
	Created func() error
}

// Namespaces are the namespaces of a container but for its network, as flags of clone(2). An
// ordinary user needs a user namespace too.
func Namespaces(user bool) uintptr {
	flags := uintptr(unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC)
	if user {
		flags |= unix.CLONE_NEWUSER
	}
	return flags
}

// log is a descriptor of the child's log. The caller closes it.
func (c Child) log() (*os.File, error) {
	if c.Log == nil {
		return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	fd, err := unix.FcntlInt(c.Log.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("hand the log over: %w", err)
	}
	return os.NewFile(uintptr(fd), c.Log.Name()), nil
}

// Start starts a child from the thread and returns when the child executes the load.
func (t *Thread) Start(ctx context.Context, c Child) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	parent, child, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	cmd := command(c, child)
	err = t.start(cmd.Start)
	child.Close()
	if err != nil {
		return nil, fmt.Errorf("start this binary: %w", err)
	}
	p, err := openChild(cmd, c.Group)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { parent.Close() })
	err = instruct(p, c, parent)
	if !stop() {
		err = ctx.Err()
	}
	if err != nil {
		killErr := p.Kill()
		<-p.Done()
		return nil, errors.Join(err, killErr)
	}
	return p, nil
}

// command is the command that starts the child.
func command(c Child, socket *os.File) *exec.Cmd {
	cmd := exec.Command(selfPath, InitCommand, strconv.Itoa(FirstFile+len(c.Files)))
	cmd.Args[0] = "tare"
	cmd.Env = environ() // the load gets Request.Env
	cmd.ExtraFiles = append(slices.Clone(c.Files), socket)
	if c.Net != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, c.Net)
	}
	if c.Log != nil {
		cmd.Stdout, cmd.Stderr = c.Log, c.Log
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		// A daemon has a session of its own. The kernel divides the CPUs among sessions
		// (autogroup), so that in tare's session an arm without a cpu control group would share
		// with whatever else the user runs there. Ctrl-C in the terminal is for tare alone.
		Setsid:    true,
		Pdeathsig: syscall.SIGKILL,

		Cloneflags: c.Clone,
	}
	if c.Clone&unix.CLONE_NEWUSER != 0 {
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return cmd
}

// instruct moves the child into its groups, sends its Request and waits until it executes the
// load.
func instruct(p *Process, c Child, parent *net.UnixConn) error {
	if c.Leave != nil {
		if err := c.Leave.Leave(p.Pid()); err != nil {
			return err
		}
	}
	tasks, group := splitJoin(c.Group)
	if len(group.Dirs) > 0 {
		if err := group.Add(p.Pid()); err != nil {
			return err
		}
	}
	r := c.Request
	r.Files, r.Tasks, r.Net = len(c.Files), tasks, c.Net != nil
	r.Member = membershipOf(c.Group)
	r.MountNS, r.PidNS = c.Clone&unix.CLONE_NEWNS != 0, c.Clone&unix.CLONE_NEWPID != 0
	return sendRequest(parent, r)
}

// socketPair makes a pair of connected sockets with close-on-exec.
func socketPair() (parent *net.UnixConn, child *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a socket: %w", err)
	}
	f := os.NewFile(uintptr(fds[0]), "socket")
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		unix.Close(fds[1])
		return nil, nil, fmt.Errorf("make a socket: %w", err)
	}
	return conn.(*net.UnixConn), os.NewFile(uintptr(fds[1]), "socket"), nil
}
