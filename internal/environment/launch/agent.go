package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/unixsock"
)

// The kubelet starts a pod's container once: a load that were its first process
// would take the pod with it. So that process is this binary as an agent. It is
// asked at a socket to start a child, which is told what to do like the child of
// any arm, over a socket of its own; it says how the child ended; and it ends,
// with everything in the container, when whoever asked is gone.

const (
	// agentWord makes Main an agent, at the socket that is the next argument.
	agentWord = "keep"
	// installWord makes Main copy its own binary to the next argument.
	installWord = "install"
	// agentBound is how long an agent waits for somebody to ask.
	agentBound = 2 * time.Minute
)

// AgentArgs are the arguments of this binary as an agent; the socket is as the
// container sees it.
func AgentArgs(socket string) []string { return []string{InitCommand, agentWord, socket} }

// InstallArgs are the arguments of this binary that make it copy itself.
func InstallArgs(to string) []string { return []string{InitCommand, installWord, to} }

// agentRequest is what an agent is asked, as a line of JSON. With it come descriptors:
// the log, the files that the child inherits from 3 on, and its socket.
type agentRequest struct {
	Files int `json:"files"`
}

// agentEvent is what an agent answers, as a line; exactly one field is set.
type agentEvent struct {
	Pid     int      `json:"pid,omitempty"`  // of the child, in the agent's pid namespace
	Exit    *int     `json:"exit,omitempty"` // its wait status
	Failure *failure `json:"failure,omitempty"`
}

// runAgent is the life of an agent.
func runAgent(path string) error {
	runtime.LockOSThread() // a child ends with the thread that started it
	conn, err := unixsock.AcceptOne(path, agentBound)
	if err != nil {
		return err
	}
	requests := make(chan []int)
	go func() {
		err := readRequests(conn, requests)
		if err != nil && !errors.Is(err, io.EOF) {
			fmt.Fprintln(os.Stderr, "tare:", err)
			os.Exit(failed)
		}
		os.Exit(0) // tare is gone: with this process everything here ends
	}()
	out := json.NewEncoder(conn)
	for files := range requests {
		if err := serveRequest(files, out); err != nil {
			return err
		}
	}
	return nil
}

// readRequests passes on the descriptors of each request.
func readRequests(conn *net.UnixConn, requests chan<- []int) error {
	text, control := make([]byte, 1<<10), make([]byte, unix.CmsgSpace(4*(mostFiles+2)))
	for {
		n, nc, _, _, err := conn.ReadMsgUnix(text, control)
		if err == nil && n == 0 {
			err = io.EOF
		}
		if err != nil {
			return err
		}
		files, err := descriptors(control[:nc])
		if err != nil {
			return err
		}
		var r agentRequest
		if err := json.Unmarshal(text[:n], &r); err != nil {
			return fmt.Errorf("read what tare asks: %w", err)
		}
		if len(files) != r.Files+2 {
			return fmt.Errorf("%d descriptors came, want %d, a log and a socket", len(files), r.Files)
		}
		requests <- files
	}
}

// serveRequest starts a child with these descriptors and says how it ended.
func serveRequest(files []int, out *json.Encoder) error {
	pid, err := fork(files)
	for _, fd := range files {
		unix.Close(fd)
	}
	if err != nil {
		return out.Encode(agentEvent{Failure: failureOf(fmt.Errorf("start a child: %w", err))})
	}
	if err := out.Encode(agentEvent{Pid: pid}); err != nil {
		return err
	}
	status := int(reap(pid))
	// The end of a container's first process is the end of all others in it.
	_ = unix.Kill(-1, unix.SIGKILL)
	if err := out.Encode(agentEvent{Exit: &status}); err != nil {
		return err
	}
	reap(0)
	return nil
}

func fork(files []int) (int, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	log := uintptr(files[0])
	inherited := []uintptr{null.Fd(), log, log}
	for _, fd := range files[1:] {
		inherited = append(inherited, uintptr(fd))
	}
	socket := strconv.Itoa(len(inherited) - 1)
	return syscall.ForkExec(selfPath, []string{"tare", InitCommand, socket}, &syscall.ProcAttr{
		Env: environ(), Files: inherited, Sys: &syscall.SysProcAttr{Setsid: true},
	})
}

// reap waits for a child, and for every orphan that ends meanwhile; for all of
// them where pid is 0.
func reap(pid int) unix.WaitStatus {
	for {
		var ws unix.WaitStatus
		got, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case err == unix.EINTR:
		case err != nil: // there is none
			return ws
		case got == pid:
			return ws
		}
	}
}

// install copies this binary, for the container of another image to execute.
func install(to string) error {
	from, err := os.Open(selfPath)
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}
