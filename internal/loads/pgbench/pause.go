package pgbench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// pause stops pgbench until the gate opens. The server finishes the transactions in flight; their
// latencies do not count, because the thaw cuts them.
func (p *pgbenchRun) pause() error {
	if err := p.signal(unix.SIGSTOP); err != nil {
		return err
	}
	for !stopped(p.pid) && p.process.Alive() == nil {
		time.Sleep(100 * time.Microsecond)
	}
	if err := p.count(); err != nil {
		return err
	}
	p.m.Enter(p.slot, p.Clients)
	return p.signal(unix.SIGCONT)
}

func (p *pgbenchRun) signal(s unix.Signal) error {
	if err := unix.Kill(p.pid, s); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("send %v to pgbench: %w", s, err)
	}
	return nil
}

// stopped is true if every thread of a process is stopped.
func stopped(pid int) bool {
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/stat")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return false
		}
		// "pid (name) state ...": the name may hold anything but a newline.
		if _, after, _ := strings.Cut(string(b), ") "); !strings.HasPrefix(after, "T") {
			return false
		}
	}
	return len(files) > 0
}
