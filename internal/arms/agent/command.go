package agent

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/tarelab/tare/internal/outside/dirtar"
)

// Command is the hidden command as which tare starts itself there.
const Command = "__agent"

// Words after it.
const (
	wordServe   = "serve"   // SOCKET [DIR]: the first process
	wordJoin    = "join"    // SOCKET: leads the standard streams to it
	wordFill    = "fill"    // DIR: unpacks what comes in
	wordInstall = "install" // FILE: copies this binary
)

// Args are the arguments of this binary as an agent, which is asked at the socket,
// and removes a directory before it ends; empty: none.
func Args(socket, remove string) []string {
	args := []string{Command, wordServe, socket}
	if remove != "" {
		args = append(args, remove)
	}
	return args
}

// JoinArgs are those of a process whose standard input and output are then the
// stream to the agent.
func JoinArgs(socket string) []string { return []string{Command, wordJoin, socket} }

// FillArgs are those of a process that makes a directory of the archive that
// comes in.
func FillArgs(dir string) []string { return []string{Command, wordFill, dir} }

// InstallArgs are those of a process that copies this binary, for the container of
// another image to execute.
func InstallArgs(to string) []string { return []string{Command, wordInstall, to} }

// Main is the hidden command.
func Main(args []string) int {
	err := errors.New("this command is for tare itself")
	if len(args) == 3 && args[0] == wordServe {
		err = errors.Join(runAgent(args[1]), os.RemoveAll(args[2]))
	} else if len(args) == 2 {
		switch args[0] {
		case wordServe:
			err = runAgent(args[1])
		case wordJoin:
			err = join(args[1])
		case wordFill:
			err = fill(os.Stdin, args[1])
		case wordInstall:
			err = install(args[1])
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tare:", err)
		return 1
	}
	return 0
}

// join leads the standard input to the agent and what the agent says to the
// standard output, until the agent has ended.
func join(socket string) error {
	var conn *net.UnixConn
	var err error
	for end := time.Now().Add(joinBound); ; time.Sleep(10 * time.Millisecond) {
		conn, err = net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
		if err == nil {
			break
		}
		if time.Now().After(end) {
			return fmt.Errorf("speak with the pod's first process: %w", err)
		}
	}
	go func() {
		_, _ = io.Copy(conn, os.Stdin)
		_ = conn.CloseWrite() // the agent ends then, and says so by closing its end
	}()
	_, err = io.Copy(os.Stdout, conn)
	return errors.Join(err, conn.Close())
}

// fill makes a directory of an archive.
func fill(r io.Reader, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	if _, err := dirtar.Read(r, dir, true); err != nil {
		return fmt.Errorf("receive the data set: %w", err)
	}
	return nil
}

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
