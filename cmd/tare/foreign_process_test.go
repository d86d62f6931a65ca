package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/tarelab/tare/internal/linux/cgroup"
)

// foreignProgram is a process that has nothing to do with tare.
const foreignProgram = "testdata/foreign.py"

// noticed is what such a process has seen when its input ends.
type noticed struct {
	Signals []string
	Turns   int // of 1 ms
}

// bystander is such a process as its parent sees it; the parent is told of every stop.
type bystander struct {
	name string
	cmd  *exec.Cmd
	in   io.Closer
	out  *bytes.Buffer
	done chan []string // what its parent was told of
}

// stand starts one as a user, in a control group unless that is nil.
func stand(t *testing.T, name, does string, group *cgroup.Group, user int) *bystander {
	t.Helper()
	program, err := os.ReadFile(foreignProgram)
	must(t, err)
	b := &bystander{name: name, out: &bytes.Buffer{}, done: make(chan []string)}
	b.cmd = exec.Command("python3", "-c", string(program), does, strconv.Itoa(user))
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a group of its own to the scheduler
	in, err := b.cmd.StdinPipe()
	must(t, err)
	r, w, err := os.Pipe()
	must(t, err)
	b.in, b.cmd.Stdout, b.cmd.Stderr = in, w, os.Stderr
	must(t, b.cmd.Start())
	w.Close()
	if group != nil {
		must(t, group.Add(b.cmd.Process.Pid))
	}
	ready := make([]byte, 6)
	if _, err := io.ReadFull(r, ready); err != nil {
		t.Fatal(err)
	}
	whole := make(chan struct{})
	go func() { defer close(whole); _, _ = io.Copy(b.out, r); r.Close() }()
	go func() { told := b.watch(); <-whole; b.done <- told }()
	return b
}

// watch waits for stops and for the end of the process.
func (b *bystander) watch() (told []string) {
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(b.cmd.Process.Pid, &status, syscall.WUNTRACED|syscall.WCONTINUED, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return append(told, err.Error())
		case status.Stopped():
			told = append(told, "stopped by "+status.StopSignal().String())
		case status.Continued():
			told = append(told, "continued")
		case status.Signaled():
			return append(told, "ended by "+status.Signal().String())
		default:
			return told
		}
	}
}

// end ends the process and says what was done to it.
func (b *bystander) end(t *testing.T) (done []string) {
	t.Helper()
	b.in.Close()
	done = <-b.done
	var seen noticed
	if err := json.Unmarshal(b.out.Bytes(), &seen); err != nil {
		return append(done, "it said "+b.out.String())
	}
	for _, s := range seen.Signals {
		done = append(done, "signalled: "+s)
	}
	if seen.Turns == 0 {
		done = append(done, "it did not run")
	}
	t.Logf("%s: %d turns of 1 ms", b.name, seen.Turns)
	return done
}
