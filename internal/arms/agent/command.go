package agent

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/tarelab/tare/internal/linux/clonetree"
	"github.com/tarelab/tare/internal/outside/dirtar"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// The hidden commands as which tare starts itself in a pod.
const (
	Command        = "__agent"
	joinCommand    = "__agent-join"
	fillCommand    = "__agent-fill"
	refillCommand  = "__agent-refill"
	installCommand = "__agent-install"
)

// Roles are the hidden commands of this package.
func Roles() []hidden.Role {
	return []hidden.Role{
		{
			Name: Command, Args: "SOCKET [DIR]", Run: exitCode(func(args []string) error {
				err := runAgent(args[0])
				if len(args) > 1 {
					err = errors.Join(err, os.RemoveAll(args[1]))
				}
				return err
			}),
			Purpose: "the first process of a pod: takes requests at the socket; removes the directory when it ends",
		},
		{
			Name: joinCommand, Args: "SOCKET", Run: exitCode(func(args []string) error { return join(args[0]) }),
			Purpose: "connects its standard input and output with the agent, for a stream from outside of the pod",
		},
		{
			Name: fillCommand, Args: "DIR", Run: exitCode(func(args []string) error { return fill(os.Stdin, args[0]) }),
			Purpose: "unpacks the data set that arrives as an archive on standard input",
		},
		{
			Name: refillCommand, Args: "DIR FROM", Run: exitCode(func(args []string) error {
				forgetSharedMemory()
				return refill(args[0], args[1])
			}),
			Purpose: "replaces the data by a copy of the data set that is kept in the pod",
		},
		{
			Name: installCommand, Args: "FILE", Run: exitCode(func(args []string) error { return install(args[0]) }),
			Purpose: "copies tare's binary to where the container of another image executes it",
		},
	}
}

// exitCode prints the error of a hidden command and makes an exit code of it.
func exitCode(do func(args []string) error) func(args []string) int {
	return func(args []string) int {
		if err := do(args); err != nil {
			fmt.Fprintln(os.Stderr, "tare:", err)
			return 1
		}
		return 0
	}
}

// Args are the arguments of tare's binary as an agent that listens at socket. The agent
// removes the directory remove before it ends; empty: none.
func Args(socket, remove string) []string {
	args := []string{Command, socket}
	if remove != "" {
		args = append(args, remove)
	}
	return args
}

// JoinArgs are the arguments of a process whose standard input and output are the stream to
// the agent at socket.
func JoinArgs(socket string) []string { return []string{joinCommand, socket} }

// FillArgs are the arguments of a process that unpacks its standard input into dir, and replaces what
// is there.
func FillArgs(dir string) []string { return []string{fillCommand, dir} }

// RefillArgs are the arguments of a process that replaces dir by a copy of the directory from.
func RefillArgs(dir, from string) []string { return []string{refillCommand, dir, from} }

// InstallArgs are the arguments of a process that copies tare's binary to a file.
func InstallArgs(to string) []string { return []string{installCommand, to} }

// join copies standard input to the agent and the agent's events to standard output, until
// the agent has ended.
func join(socket string) error {
	var conn *net.UnixConn
	var err error
	for end := time.Now().Add(joinBound); ; time.Sleep(10 * time.Millisecond) {
		conn, err = net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
		if err == nil {
			break
		}
		if time.Now().After(end) {
			return fmt.Errorf("connect to the pod's first process: %w", err)
		}
	}
	go func() {
		_, _ = io.Copy(conn, os.Stdin)
		_ = conn.CloseWrite() // the agent ends then and closes its side
	}()
	_, err = io.Copy(os.Stdout, conn)
	return errors.Join(err, conn.Close())
}

// fill unpacks an archive into a directory, in the place of what is there.
func fill(r io.Reader, dir string) error {
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755)); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	if _, err := dirtar.Read(r, dir, true); err != nil {
		return fmt.Errorf("receive the data set: %w", err)
	}
	return nil
}

// refill replaces a directory by a copy of another one.
func refill(dir, from string) error {
	return errors.Join(os.RemoveAll(dir), clonetree.Copy(dir, from))
}

// forgetSharedMemory removes the files of shared memory that killed processes of this user have left. It does
// nothing as root: no pod of tare's is.
func forgetSharedMemory() {
	const shm = "/dev/shm"
	left, _ := os.ReadDir(shm) // a pod may have none
	for _, e := range left {
		if os.Getuid() != 0 {
			_ = os.RemoveAll(filepath.Join(shm, e.Name()))
		}
	}
}

// install copies tare's binary to a new file.
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
