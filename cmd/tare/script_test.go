package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/outside/image"
	"github.com/tarelab/tare/internal/undo/hostlock"
	"github.com/tarelab/tare/record"
)

// commands are the commands of the scripts beside those of testscript.
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"exits":     exits,
		"signals":   signals,
		"terminal":  terminal,
		"fields":    fields,
		"untouched": untouched,
		"result":    result,
		"usages":    usages,
		"smallimage": func(ts *testscript.TestScript, _ bool, args []string) {
			var b bytes.Buffer
			ts.Check(image.Small{Tag: "localhost/tare-test:small"}.Write(&b))
			ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o600))
		},
	}
}

// exits CODE PROGRAM ARGS...: runs a program, which must end with this exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	cmd := command(ts, args[1:])
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	err := cmd.Run()
	wantExit(ts, err, args[0])
}

// signals SIGNAL CODE FILE PATTERN PROGRAM ARGS...: starts a program, waits until the file matches
// the pattern or the program ends, sends the signal and checks the exit code ("KILL" for a program
// that the signal ended). A signal that begins with "all" goes to the process group, as Ctrl-C on a
// terminal does. One that begins with "unguarded" is sent after the guard of the run was killed.
func signals(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 5 {
		ts.Fatalf("usage: signals SIGNAL CODE FILE PATTERN PROGRAM ARGS...")
	}
	name, all := strings.CutPrefix(args[0], "all")
	name, unguarded := strings.CutPrefix(name, "unguarded")
	signal := unix.SignalNum("SIG" + name)
	if signal == 0 {
		ts.Fatalf("no signal %s", name)
	}
	cmd := command(ts, args[4:])
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	ts.Check(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if err := await(ts.MkAbs(args[2]), args[3], ended); err != nil {
		cmd.Process.Kill()
		ts.Fatalf("%v", err)
	}
	target := cmd.Process.Pid
	if all {
		target = -target
	}
	if unguarded {
		ts.Check(syscall.Kill(guardOf(ts, cmd.Process.Pid), unix.SIGKILL))
	}
	ts.Check(syscall.Kill(target, signal))
	wantExit(ts, <-ended, args[1])
}

// guardOf returns the guard of a run, a child of the run's process.
func guardOf(ts *testscript.TestScript, run int) int {
	var children []byte
	of, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", run)) // the pattern is good
	for _, file := range of {
		b, _ := os.ReadFile(file)
		children = append(append(children, ' '), b...)
	}
	for child := range strings.FieldsSeq(string(children)) {
		b, _ := os.ReadFile("/proc/" + child + "/cmdline")
		if bytes.Contains(b, []byte("\x00"+launch.GuardCommand+"\x00")) {
			pid, err := strconv.Atoi(child)
			ts.Check(err)
			return pid
		}
	}
	ts.Fatalf("the run has no guard")
	return 0
}

// await waits until a file matches a pattern.
func await(path, pattern string, ended <-chan error) error {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	for {
		if b, err := os.ReadFile(path); err == nil && re.Match(b) {
			return nil
		}
		select {
		case err := <-ended:
			return fmt.Errorf("ended (%v) before %s matched %q", err, path, pattern)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// terminal CODE PROGRAM ARGS...: runs a program with standard output and error on a pseudo-terminal
// of 100 by 30; what it wrote becomes standard output.
func terminal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: terminal CODE PROGRAM ARGS...")
	}
	master, slave, err := pty()
	ts.Check(err)
	defer master.Close()
	cmd := command(ts, args[1:])
	cmd.Stdout, cmd.Stderr = slave, slave
	err = cmd.Start()
	slave.Close()
	ts.Check(err)
	var out bytes.Buffer
	io.Copy(&out, master) // ends with EIO when the last writer is gone
	ts.Stdout().Write(out.Bytes())
	wantExit(ts, cmd.Wait(), args[0])
}

func pty() (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 100})
	}
	if err == nil {
		slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
	}
	return master, slave, err
}

// fields FILE PATH...: the file holds one JSON value that has every path (a.b.0.c); for PATH=VALUE
// it has that value too.
func fields(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: fields FILE PATH...")
	}
	var root any
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(dec.Decode(&root))
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		ts.Fatalf("%s holds more than one value", args[0])
	}
	for _, a := range args[1:] {
		path, want, given := strings.Cut(a, "=")
		got, err := lookUp(root, path)
		if err != nil {
			ts.Fatalf("%s: %v", args[0], err)
		}
		if given && fmt.Sprint(got) != want {
			ts.Fatalf("%s: %s is %v, want %s", args[0], path, got, want)
		}
	}
}

// untouched DIR: nothing is left on the host of the run whose result is in DIR.
func untouched(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: untouched DIR")
	}
	first, _, _ := strings.Cut(ts.ReadFile(filepath.Join(args[0], "record.jsonl")), "\n")
	var line record.Line
	ts.Check(json.Unmarshal([]byte(first), &line))
	if line.Run == nil || line.Run.ID == "" {
		ts.Fatalf("no run in %s", first)
	}
	for _, left := range leftOf(line.Run.ID) {
		ts.Logf("left: %s", left)
		defer ts.Fatalf("the host is not as it was")
	}
}

// leftOf returns whatever bears the id of a run: control groups, directories, mounts, links and
// processes.
func leftOf(id string) []string {
	var out []string
	for _, pattern := range []string{"/sys/fs/cgroup/*tare-%s*", "/sys/fs/cgroup/*/*tare-%s*", "/sys/fs/cgroup/*/*/*tare-%s*", "/var/tmp/*%s*", "/run/netns/*%s*"} {
		found, _ := filepath.Glob(fmt.Sprintf(pattern, id))
		out = append(out, found...)
	}
	for _, table := range []string{"/proc/self/mountinfo", "/proc/net/dev"} {
		b, _ := os.ReadFile(table)
		for _, l := range strings.Split(string(b), "\n") {
			if strings.Contains(l, id) {
				out = append(out, table+": "+l)
			}
		}
	}
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, c := range commands {
		if b, _ := os.ReadFile(c); bytes.Contains(b, []byte(id)) {
			out = append(out, c+": "+string(bytes.ReplaceAll(b, []byte{0}, []byte(" "))))
		}
	}
	return out
}

func lookUp(v any, path string) (any, error) {
	for _, part := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			next, ok := x[part]
			if !ok {
				return nil, fmt.Errorf("no %s of %s", part, path)
			}
			v = next
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(x) {
				return nil, fmt.Errorf("no element %s of %s (%d elements)", part, path, len(x))
			}
			v = x[i]
		default:
			return nil, fmt.Errorf("no %s of %s in %v", part, path, v)
		}
	}
	return v, nil
}

// command makes a command with the script's directory and environment.
func command(ts *testscript.TestScript, args []string) *exec.Cmd {
	path := ""
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		candidate := filepath.Join(dir, args[0])
		if info, err := os.Stat(candidate); err == nil && !info.IsDir() {
			path = candidate
			break
		}
	}
	if path == "" {
		ts.Fatalf("no program %s", args[0])
	}
	cmd := exec.Command(path, args[1:]...)
	cmd.Args[0] = args[0]
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"WORK", "PATH", "HOME", "TMPDIR", "XDG_STATE_HOME", "XDG_CACHE_HOME", hostlock.DirEnv, "ORDINARY_HOME", "TERM", "NO_COLOR", "LANG", "LC_MESSAGES", "TARE_LANG",
		"XDG_CONFIG_HOME", "TARE_BUDGET", "TARE_FORMAT", "TARE_VERBOSE", "TARE_ARMS", "TARE_SET", "TARE_COLOUR", "GOCOVERDIR", "GORACE"} {
		if v := ts.Getenv(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	return cmd
}

func wantExit(ts *testscript.TestScript, err error, want string) {
	got := "0"
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() < 0:
		status := exit.Sys().(syscall.WaitStatus)
		got = strings.TrimPrefix(unix.SignalName(status.Signal()), "SIG")
	case errors.As(err, &exit):
		got = strconv.Itoa(exit.ExitCode())
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit %s, want %s", got, want)
	}
}
