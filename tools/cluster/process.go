package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// patience is how long a part may take to start or to end.
const patience = 2 * time.Minute

// start starts a part of the cluster, which outlives this process, and writes its pid and start time to a
// file. within calls a function in the namespaces of the part.
func (c cluster) start(within func(func() error) error, name, path string, args ...string) error {
	log, err := os.Create(c.in("log", name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := within(cmd.Start); err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	if err := c.writePid(name, cmd.Process.Pid); err != nil {
		return errors.Join(err, cmd.Process.Kill())
	}
	go func() { _ = cmd.Wait() }()
	return nil
}

func (c cluster) writePid(name string, pid int) error {
	return os.WriteFile(c.in("pid", name), fmt.Appendf(nil, "%d %s\n", pid, startTicks(pid)), 0o600)
}

// prefer raises the priority of a part above that of the loads, which use all CPUs; without the right to
// do so it does nothing. With autogroup the nice value of the session counts between sessions, and that
// of the process only within its session, so it sets both.
func (c cluster) prefer(name string) {
	const nice = -10
	pid := c.pid(name)
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", pid), fmt.Append(nil, nice), 0)
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	for _, t := range tasks {
		var tid int
		if _, err := fmt.Sscan(filepath.Base(t), &tid); err == nil {
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, tid, nice)
		}
	}
}

// startTicks is the start time, field 22 of /proc/PID/stat; empty if there is no such process.
func startTicks(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	end := bytes.LastIndexByte(b, ')')
	f := strings.Fields(string(b[end+1:]))
	if len(f) < 20 || f[0] == "Z" {
		return ""
	}
	return f[19]
}

// pid is the pid of a part, 0 if it does not run.
func (c cluster) pid(name string) int {
	b, _ := os.ReadFile(c.in("pid", name))
	var pid int
	var ticks string
	if n, _ := fmt.Sscan(string(b), &pid, &ticks); n != 2 || startTicks(pid) != ticks {
		return 0
	}
	return pid
}

// stop ends a part and waits for its end.
func (c cluster) stop(name string) error {
	pid := c.pid(name)
	if pid == 0 {
		return nil
	}
	_ = syscall.Kill(pid, syscall.SIGTERM)
	const polite = 10 * time.Second
	for begun := time.Now(); c.pid(name) != 0; time.Sleep(20 * time.Millisecond) {
		if took := time.Since(begun); took > patience {
			return fmt.Errorf("%s (process %d) does not end", name, pid)
		} else if took > polite {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return nil
}

// await waits until a condition holds. It fails at once if a part has ended.
func (c cluster) await(what string, parts []string, ok func() error) error {
	var last error
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(100 * time.Millisecond) {
		if last = ok(); last == nil {
			return nil
		}
		for _, p := range parts {
			if c.pid(p) == 0 {
				return fmt.Errorf("%s ended: %s", p, c.tail(p))
			}
		}
	}
	return fmt.Errorf("waited %v for %s: %w; the logs are in %s", patience, what, last, c.in("log"))
}

// tail is the end of a part's log.
func (c cluster) tail(name string) string {
	b, _ := os.ReadFile(c.in("log", name+".log"))
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}

// shims are containerd's shims of this cluster.
func (c cluster) shims() []int {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var all []int
	for _, file := range files {
		b, _ := os.ReadFile(file)
		args := strings.Split(string(b), "\x00")
		if !strings.HasPrefix(filepath.Base(args[0]), "containerd-shim") {
			continue
		}
		for i, a := range args {
			if a == "-address" && i+1 < len(args) && args[i+1] == c.in("containerd.sock") {
				var pid int
				if _, err := fmt.Sscan(filepath.Base(filepath.Dir(file)), &pid); err == nil {
					all = append(all, pid)
				}
			}
		}
	}
	return all
}
