package environmenttest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/linux/proc"
)

// expect waits for the end of a process and compares how it ended. Then Kill must do nothing.
func (p process) expect(t *testing.T, want environment.Exit) {
	t.Helper()
	if got := p.wait(t); got != want {
		t.Errorf("ended as %+v, want %+v; its log: %s", got, want, p.said(t))
	}
	if err := p.Kill(); err != nil {
		t.Errorf("kill of what has ended: %v", err)
	}
}

func exitCodes(t *testing.T, f *fixture) {
	for _, code := range []int{0, 1, 3, 255} {
		f.start(t, "exit", fmt.Sprint(code)).expect(t, environment.Exit{Code: code})
	}
	f.startOutside(t, "exit", "4").expect(t, environment.Exit{Code: 4})
}

func fault(t *testing.T, f *fixture) {
	f.start(t, "fault").expect(t, environment.Exit{Code: -1, Signal: "SIGSEGV"})
	f.startOutside(t, "fault").expect(t, environment.Exit{Code: -1, Signal: "SIGSEGV"})
}

func killedFromOutside(t *testing.T, f *fixture) {
	for _, start := range []func(*testing.T, string, ...string) process{f.start, f.startOutside} {
		p := start(t, "count")
		p.ready(t)
		if err := unix.Kill(p.Pid(), unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		p.expect(t, environment.Exit{Code: -1, Signal: "SIGKILL"})
	}
}

// deaf checks that Kill ends a process that ignores signals.
func deaf(t *testing.T, f *fixture) {
	for _, start := range []func(*testing.T, string, ...string) process{f.start, f.startOutside} {
		p := start(t, "deaf")
		p.ready(t)
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
		p.expect(t, environment.Exit{Code: -1, Signal: "SIGKILL"})
	}
}

func outOfMemory(t *testing.T, f *fixture) {
	g := f.arm.Place().Group
	file := "memory.limit_in_bytes"
	if _, err := g.Dir("memory"); err != nil {
		t.Log("the kernel ends nobody here before the host's memory is used up: ", err)
		return
	}
	if _, err := g.Read("memory", file); err != nil {
		file = "memory.max"
	}
	if err := g.Set("memory", file, fmt.Sprint(96<<20)); err != nil {
		t.Fatal(err)
	}
	f.start(t, "grab").expect(t, environment.Exit{Code: -1, Signal: "SIGKILL", OOM: true})
	// Exit.OOM is not set for a process that ends otherwise, although the OOM killer has already ended
	// another process of its cgroup.
	p := f.start(t, "count")
	p.ready(t)
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
	p.expect(t, environment.Exit{Code: -1, Signal: "SIGKILL"})
}

// given checks the arguments, binary and data that the process sees.
func given(t *testing.T, f *fixture) {
	odd := []string{"", " ", "a b", "ä\n\t", `"quoted" $HOME \`, "--flag=x", strings.Repeat("long", 1000)}
	exe, err := hashFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	want, err := list(f.spec.Data)
	if err != nil {
		t.Fatal(err)
	}
	volume := f.arm.Place().Volume
	p := f.start(t, "report", append([]string{volume}, odd...)...)
	p.expect(t, environment.Exit{})
	var got report
	if err := json.Unmarshal([]byte(p.said(t)), &got); err != nil {
		t.Fatalf("%v in %q", err, p.said(t))
	}
	if args := append([]string{Command, f.token, "report", volume}, odd...); !slices.Equal(got.Args, args) {
		t.Errorf("arguments %q, want %q", got.Args, args)
	}
	if got.Exe != exe {
		t.Errorf("runs another binary: %s, want %s", got.Exe, exe)
	}
	if d := cmp.Diff(want, got.Data); d != "" {
		t.Error("the data set in the arm:", d)
	}
	if !f.opts.Led && got.Table != tableText { // with an agent, descriptor 4 is another file
		t.Errorf("descriptor 4 reads %q", got.Table)
	}
}

func logAndFiles(t *testing.T, f *fixture) {
	for _, start := range []func(*testing.T, string, ...string) process{f.start, f.startOutside} {
		p := start(t, "print")
		p.expect(t, environment.Exit{})
		if got := p.said(t); !strings.Contains(got, "to standard output\n") || !strings.Contains(got, "to standard error\n") {
			t.Errorf("log %q", got)
		}
	}
	// Without a log, writing succeeds and goes to /dev/null.
	file, _ := f.newWords(t)
	defer file.Close()
	running, err := f.arm.Start(t.Context(), environment.Process{Args: []string{Command, f.token, "print"}, Files: []*os.File{file}})
	if err != nil {
		t.Fatal(err)
	}
	process{Running: running, log: "/dev/null"}.expect(t, environment.Exit{})
}

func startCancelled(t *testing.T, f *fixture) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p, err := f.tryStart(t, ctx, false, "count"); err == nil {
		t.Errorf("started process %d although cancelled", p.Pid())
	}
	if left := withToken(f.token); len(left) > 0 {
		t.Errorf("a cancelled start left %v", left)
	}
	f.start(t, "exit", "0").expect(t, environment.Exit{}) // the arm can be used again
}

// ownSession checks that the processes in the arm and beside it are each in a session of their own, by
// which the kernel divides the CPUs (autogroup).
func ownSession(t *testing.T, f *fixture) {
	sessions, autogroups := map[int]int{}, map[int]int{}
	in, out := f.start(t, "count"), f.startOutside(t, "count")
	in.ready(t)
	out.ready(t)
	for _, pid := range []int{os.Getpid(), in.Pid(), out.Pid()} {
		sid, err := unix.Getsid(pid)
		if err != nil {
			t.Fatal(err)
		}
		sessions[sid]++
		group, err := proc.FS("/").Autogroup(pid)
		if err != nil { // session 0, or a kernel without autogroups
			group.ID = -1
		}
		autogroups[group.ID]++
	}
	if len(sessions) != 3 || len(autogroups) != 3 && autogroups[-1] != 3 {
		t.Errorf("the test, the arm's process and the one beside it are in sessions %v, autogroups %v", sessions, autogroups)
	}
}
