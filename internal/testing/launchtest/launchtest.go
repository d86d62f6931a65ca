// Package launchtest helps tests of environments: it opens arms and starts in them a process that reports
// its surroundings, such as mounts, limits and open files.
package launchtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// Main is the TestMain of a package that opens arms. The test binary has tare's hidden commands, and the
// command Look as the load. Killed works for the environments envs.
func Main(m *testing.M, envs ...environment.Environment) int {
	if code, ok := hidden.Run(launch.Roles(), os.Args[1:]); ok {
		return code
	}
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case launch.GuardCommand:
			return launch.GuardMain(steps.Kinds())
		case Look:
			return See(os.Args[2:])
		case holdCommand:
			for _, e := range envs {
				if e.Name() == os.Args[2] {
					fmt.Fprintln(os.Stderr, hold(e, os.Args[3], os.Args[4]))
				}
			}
			return 1
		}
	}
	return m.Run()
}

// Look is the command of the load: it writes a View to descriptor 3 and runs until it is killed. With
// "exit" it ends at once with code 7; with "serve ADDRESS" it answers there, with "dial ADDRESS" it
// asks there.
const Look = "__look"

const holdCommand = "__hold"

// View has the surroundings of a process in an arm, as the process itself sees them.
type View struct {
	Pid      int
	Hostname string
	Status   map[string]string // /proc/self/status
	Files    []string          // open descriptors
	Env      []string
	Dir      string
	Volume   []string          // names in the working directory
	Mounts   []string          // mount point, type, options; sorted
	Dev      []string          // names in /dev
	Limits   string            // /proc/self/limits
	Try      map[string]string // see tries
	Usr      string            // error of stat(2) for /usr/bin/env, which every host has; empty: none
}

// view is the View of this process.
func view() View {
	v := View{Pid: os.Getpid(), Status: map[string]string{}, Env: os.Environ()}
	v.Hostname, _ = os.Hostname()
	b, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(b), "\n") {
		if k, val, ok := strings.Cut(line, ":"); ok {
			v.Status[k] = strings.TrimSpace(val)
		}
	}
	fds, _ := os.ReadDir("/proc/self/fd")
	for _, fd := range fds {
		target, err := os.Readlink("/proc/self/fd/" + fd.Name())
		if err == nil {
			v.Files = append(v.Files, fd.Name()+" "+target)
		}
	}
	v.Dir, _ = os.Getwd()
	v.Volume, v.Dev = list("."), list("/dev")
	limits, _ := os.ReadFile("/proc/self/limits")
	v.Limits = string(limits)
	v.Mounts = mounts()
	v.Try = tries()
	if _, err := os.Stat("/usr/bin/env"); err != nil {
		v.Usr = err.Error()
	}
	return v
}

func list(dir string) []string {
	var all []string
	names, _ := os.ReadDir(dir)
	for _, n := range names {
		all = append(all, n.Name())
	}
	return all
}

func mounts() []string {
	var all []string
	seen, _ := proc.FS("/").Mounts()
	for _, m := range seen {
		all = append(all, strings.Join([]string{m.Point, m.Type, m.Options}, " "))
	}
	slices.Sort(all)
	return all
}

// tries does things that a container must not do, and returns their results by name.
func tries() map[string]string {
	hidden, _ := os.ReadFile("/proc/timer_list")
	read := func(f string, flags int) string {
		file, err := os.OpenFile(f, flags, 0)
		if err != nil {
			return errors.Unwrap(err).Error()
		}
		file.Close()
		return "opened"
	}
	_, _, unshare := unix.RawSyscall(unix.SYS_UNSHARE, 0, 0, 0) // no flags: it changes nothing
	_, _, bpf := unix.RawSyscall(unix.SYS_BPF, 0, 0, 0)
	return map[string]string{
		"timer_list": fmt.Sprint(len(hidden) > 0),
		"proc/sys":   read("/proc/sys/kernel/hostname", os.O_WRONLY),
		"sys":        read("/sys/kernel/profiling", os.O_WRONLY),
		"dev/mem":    read("/dev/mem", os.O_RDONLY),
		"dev/null":   read("/dev/null", os.O_RDWR),
		"unshare":    unshare.Error(),
		"bpf":        bpf.Error(),
	}
}

// See is the function of the command Look.
func See(args []string) int {
	f := os.NewFile(3, "view")
	if err := json.NewEncoder(f).Encode(view()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	f.Close()
	switch {
	case len(args) > 0 && args[0] == "exit":
		return 7
	case len(args) > 0 && args[0] == "eat":
		return eat()
	case len(args) > 1 && args[0] == "serve":
		return serve(args[1])
	case len(args) > 1 && args[0] == "dial":
		return dial(args[1])
	}
	for {
		time.Sleep(time.Hour)
	}
}

// Spec is the Spec of a test's arm, with its journal below state.
func Spec(t testing.TB, r environment.Environment, state string) environment.Spec {
	t.Helper()
	j, err := journal.Open(state, runID())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "table"), []byte("rows"), 0o644); err != nil {
		t.Fatal(err)
	}
	return environment.Spec{Run: j.Run(), Arm: r.Name(), Data: data, Scratch: t.TempDir(), Journal: j}
}

// Open opens an environment and closes it at the end of the test.
func Open(t testing.TB, r environment.Environment, change func(*environment.Spec)) environment.OpenArm {
	t.Helper()
	spec := Spec(t, r, t.TempDir())
	if change != nil {
		change(&spec)
	}
	a, err := r.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// Start starts a Look and returns its View.
func Start(t testing.TB, a environment.OpenArm, p environment.Process) (environment.Running, View) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p.Files, p.Log = []*os.File{w}, log
	if p.Args == nil {
		p.Args = []string{Look}
	}
	running, err := a.Start(t.Context(), p)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	var v View
	if err := json.NewDecoder(r).Decode(&v); err != nil { // a sandbox's runtime keeps the pipe open
		said, _ := os.ReadFile(log.Name())
		t.Fatalf("no view: %v, log %s", err, said)
	}
	return running, v
}

func runID() string { return fmt.Sprintf("t%x", time.Now().UnixNano()) }
