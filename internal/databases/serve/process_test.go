package serve

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

const sigterm = syscall.SIGTERM

func shell(t *testing.T, script string) (*Process, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	p, err := Start(exec.Command("/bin/sh", "-c", script), "the shell", &log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p, &log
}

func TestStopInOrder(t *testing.T) {
	p, log := shell(t, `trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.01; done`)
	for p.tail.last() == "" {
		time.Sleep(time.Millisecond)
	}
	if err := p.Alive(); err != nil {
		t.Error(err)
	}
	if err := p.Stop(readyLimit); err != nil || log.String() != "up\nbye\n" {
		t.Errorf("%v, %q", err, log)
	}
	if err := p.Stop(time.Second); err != nil {
		t.Errorf("stopped twice: %v", err)
	}
}

func TestStopIsBounded(t *testing.T) {
	p, _ := shell(t, `trap '' TERM; echo "writing pages"; while :; do sleep 0.01; done`)
	for p.tail.last() == "" {
		time.Sleep(time.Millisecond)
	}
	err := p.Stop(30 * time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "did not end within 30ms and was killed") || !strings.Contains(err.Error(), "writing pages") {
		t.Error(err)
	}
}

func TestLastWords(t *testing.T) {
	p, _ := shell(t, `for i in $(seq 200); do echo "line $i"; done; echo "x [ERROR] no such table"; echo after; exit 3`)
	<-p.Done()
	err := p.Alive()
	if err == nil || p.OK() || !strings.Contains(err.Error(), "exit status 3") || !strings.HasSuffix(err.Error(), ":\n  x [ERROR] no such table") {
		t.Error(err)
	}
	p, _ = shell(t, `printf "no newline at the end"`)
	<-p.Done()
	if err := p.Ended(); !p.OK() || !strings.HasSuffix(err.Error(), "ended:\n  no newline at the end") {
		t.Error(err)
	}
	if _, err := Start(exec.Command("/nowhere/at/all"), "nothing", &bytes.Buffer{}); err == nil {
		t.Error("started")
	}
}

func TestTailIsBounded(t *testing.T) {
	var l tail
	for i := range 1000 {
		fmt.Fprintf(&l, "%d %s\n", i, strings.Repeat("x", 1000))
	}
	l.Write(bytes.Repeat([]byte("y"), 1<<20))
	if shown := l.last(); len(l.lines) > tailLines || len(l.rest) > 1<<16 || len(shown) > (tailShown+1)*(tailWidth+10) {
		t.Errorf("%d lines, %d bytes pending, %d shown", len(l.lines), len(l.rest), len(shown))
	}
}
