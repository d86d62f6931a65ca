package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/outside/engine"
	"github.com/tarelab/tare/internal/outside/image"
	"github.com/tarelab/tare/internal/testing/enginetest"
	"github.com/tarelab/tare/internal/testing/imagebuild"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/hostlock"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

// contained runs tare in containers of one engine. The directory home is at the same path in them.
type contained struct {
	program    []string // the engine's, with its own flags
	privileged []string
	tag, home  string
}

// run runs tare in a container with these flags of the engine, and returns what it prints and its exit code.
func (c contained) run(t *testing.T, flags, args []string) (string, int) {
	t.Helper()
	cmd := c.command(t, flags, args)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (c contained) command(t *testing.T, flags, args []string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), stuck)
	t.Cleanup(cancel)
	all := []string{"run", "--rm", "--network", "none", "--user", "0", "-v", c.home + ":" + c.home, "-w", c.home,
		"-e", "XDG_STATE_HOME=" + filepath.Join(c.home, "state"), "-e", hostlock.DirEnv + "=" + c.home}
	all = append(append(append(all, ownLimits(t)...), flags...), c.tag, "__cli")
	all = append(slices.Clone(c.program[1:]), append(all, args...)...)
	return exec.CommandContext(ctx, c.program[0], all...)
}

// ownLimits are the flags that leave the resource limits as they are: Podman raises them, which not every root may. It
// lowers its own limit of processes to kernel.pid_max, and cannot give a container more.
func ownLimits(t *testing.T) (flags []string) {
	t.Helper()
	most, err := proc.FS("/").Word("proc/sys/kernel/pid_max")
	if err != nil {
		t.Fatal(err)
	}
	pids, err := strconv.ParseUint(most, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	for name, resource := range map[string]int{"nofile": unix.RLIMIT_NOFILE, "nproc": unix.RLIMIT_NPROC} {
		var l unix.Rlimit
		if err := unix.Getrlimit(resource, &l); err != nil {
			t.Fatal(err)
		}
		if name == "nproc" {
			l.Max = min(l.Max, pids)
		}
		if l.Max != unix.RLIM_INFINITY {
			flags = append(flags, "--ulimit", fmt.Sprintf("%s=%d:%d", name, l.Max, l.Max))
		}
	}
	return flags
}

// onHost are the flags with which tare in a container enters the host.
func (c contained) onHost(more ...string) []string {
	return append(append(slices.Clone(c.privileged), "--pid=host"), more...)
}

// asRoot is --privileged. Docker gives a privileged container capabilities that this root may not have; it gets all
// others then.
func asRoot(t *testing.T) []string {
	t.Helper()
	if has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, unix.CAP_SYS_RESOURCE, 0, 0, 0); err != nil || has == 1 {
		return []string{"--privileged"}
	}
	return []string{"--cap-add", "ALL", "--cap-drop", "SYS_RESOURCE", "--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined"}
}

// TestContainer runs tare in containers: it never takes one for the host. The tier release has Docker, too, and
// interrupted and killed runs.
func TestContainer(t *testing.T) {
	testneed.Root(t)
	built := imagebuild.Build(t, fmt.Sprintf("localhost/tare-in:p%d", os.Getpid()), "/proc/self/exe")
	podman := testneed.Tool(t, "podman")
	command := []string{podman, "--runtime", testneed.Tool(t, "runc")} // crun knows no host with both versions of control groups
	t.Run("podman", contained{command, []string{"--privileged"}, built.Tag, t.TempDir()}.all(built, engine.NewPodman(podman)))
	if !testneed.Tier("release") {
		return
	}
	enginetest.Docker(t)
	docker, err := engine.NewDocker("")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("docker", contained{[]string{testneed.Tool(t, "docker")}, asRoot(t), built.Tag, t.TempDir()}.all(built, docker))
}

// all are the tests with an engine into which they load the image.
func (c contained) all(built image.Info, images engine.Images) func(*testing.T) {
	return func(t *testing.T) {
		if err := built.Load(t.Context(), images); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := images.RemoveImage(context.Background(), built.Tag); err != nil {
				t.Error(err)
			}
		})
		t.Run("refused", c.refused)
		t.Run("enters", c.enters)
		if testneed.Tier("release") {
			t.Run("interrupted", c.interrupted)
			t.Run("terminal", c.terminal)
			t.Run("killed", c.killed)
		}
	}
}

// refused: without the rights to enter the host nothing is measured, and what reads files works.
func (c contained) refused(t *testing.T) {
	for _, x := range []struct {
		flags []string
		says  []string
	}{
		{nil, []string{"tare runs in a container, which is not the host", "hint: ", "--privileged --pid=host"}},
		{[]string{"--pid=host"}, []string{"tare runs in a container that may not enter its host", "hint: ", "--privileged"}},
		{c.privileged, []string{"tare runs in a container, which is not the host", "--pid=host"}},
	} {
		for _, args := range [][]string{{"run", "--budget", "5s"}, {"plan"}, {"calibrate"}} {
			out, code := c.run(t, x.flags, args)
			for _, text := range x.says {
				if !strings.Contains(out, text) {
					t.Errorf("%q %q: no %q in\n%s", x.flags, args, text, out)
				}
			}
			if code != 5 {
				t.Errorf("%q %q: exit code %d\n%s", x.flags, args, code, out)
			}
		}
	}
	if out, code := c.run(t, nil, []string{"doctor"}); code != 0 || !strings.Contains(out, "not ready for tare run") {
		t.Errorf("doctor ends with %d:\n%s", code, out)
	}
	if out, code := c.run(t, nil, []string{"presets", "show", "quick"}); code != 0 || !strings.Contains(out, "title:") {
		t.Errorf("presets end with %d:\n%s", code, out)
	}
	if results, err := filepath.Glob(filepath.Join(c.home, "tare-result*")); err != nil || len(results) > 0 {
		t.Errorf("results: %v, %v", results, err)
	}
}

// enters: a privileged container with the process IDs of its host measures the host, and leaves the result there.
func (c contained) enters(t *testing.T) {
	out, code := c.run(t, c.onHost(), []string{"run", "--workload", "commit", "--set", "commit.log=1MiB", "--arms", "host,cgroup", "--budget", "8s", "-q", "-o", "entered"})
	if code != 0 {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	result, err := record.Read(filepath.Join(c.home, "entered"))
	if err != nil {
		t.Fatal(err)
	}
	name, err := os.Hostname()
	if err != nil || result.Manifest.Host.Name != name {
		t.Errorf("measured on %s, and this host is %s (%v)", result.Manifest.Host.Name, name, err)
	}
	c.nothingLeft(t)
	if out, code := c.run(t, c.onHost(), []string{"doctor", "--format", "json"}); code != 0 || !strings.Contains(out, `"name": "`+name) {
		t.Errorf("doctor ends with %d:\n%s", code, out)
	}
}

// interrupted: SIGINT to the container's first process ends the run, with a report and a clean host.
func (c contained) interrupted(t *testing.T) {
	name := fmt.Sprintf("tare-in-%d", os.Getpid())
	cmd, gone := c.start(t, name, "interrupted", nil)
	if out, err := exec.Command(c.program[0], "kill", "--signal", "INT", name).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	<-gone
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d\n%s", code, cmd.Stderr)
	}
	c.nothingLeft(t)
}

// terminal: Ctrl-C on the container's terminal interrupts the run once, with the report on the terminal.
func (c contained) terminal(t *testing.T) {
	master, slave, err := pty()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	shown := make(chan []byte, 1)
	go func() {
		all, _ := io.ReadAll(master) // it ends with an error when the last process has closed the terminal
		shown <- all
	}()
	cmd, gone := c.start(t, fmt.Sprintf("tare-in-%d", os.Getpid()), "terminal", slave)
	slave.Close()
	if _, err := master.WriteString("\x03"); err != nil {
		t.Error(err)
	}
	<-gone
	text := string(<-shown)
	if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(text, "results in terminal") {
		t.Errorf("exit code %d\n%s", code, text)
	}
	c.nothingLeft(t)
}

// killed: after SIGKILL the guard and tare cleanup restore the host.
func (c contained) killed(t *testing.T) {
	name := fmt.Sprintf("tare-in-%d", os.Getpid())
	_, gone := c.start(t, name, "killed", nil)
	if out, err := exec.Command(c.program[0], "kill", "--signal", "KILL", name).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	<-gone
	for end := time.Now().Add(time.Minute); c.running() && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond) // the run notices that its parent has ended
	}
	if out, code := c.run(t, c.onHost(), []string{"cleanup"}); code != 0 {
		t.Errorf("cleanup ends with %d:\n%s", code, out)
	}
	c.nothingLeft(t)
	if _, err := record.Read(filepath.Join(c.home, "killed")); err != nil {
		t.Error(err)
	}
}

// start starts a long run and waits until it has measured. terminal is where it runs; nil: on none. gone is closed when
// it has ended.
func (c contained) start(t *testing.T, name, result string, terminal *os.File) (cmd *exec.Cmd, gone chan struct{}) {
	t.Helper()
	flags := c.onHost("--name", name)
	if terminal != nil {
		flags = append(flags, "-i", "-t")
	}
	cmd = c.command(t, flags, []string{"run", "--workload", "commit", "--set", "commit.log=1MiB", "--arms", "host,cgroup", "--budget", "5m", "-o", result})
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if terminal != nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone = make(chan struct{})
	go func() { _ = cmd.Wait(); close(gone) }()
	file := filepath.Join(c.home, result, record.RecordFile)
	for end := time.Now().Add(stuck / 2); ; time.Sleep(50 * time.Millisecond) {
		if b, err := os.ReadFile(file); err == nil && bytes.Contains(b, []byte(`"block"`)) {
			return cmd, gone
		}
		select {
		case <-gone:
			t.Fatalf("it ended by itself:\n%s", out.String())
		default:
		}
		if time.Now().After(end) {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			<-gone
			t.Fatalf("no window was measured:\n%s", out.String())
		}
	}
}

// running says whether the journal of a run that still goes on is there.
func (c contained) running() bool {
	left, err := journal.Leftovers(filepath.Join(c.home, "state", "tare"), nil)
	for _, l := range left {
		if l.Live {
			return true
		}
	}
	return err != nil
}

// nothingLeft checks that no journal and no copy of tare is left; a journal goes with its last step.
func (c contained) nothingLeft(t *testing.T) {
	t.Helper()
	for _, pattern := range []string{"state/tare/journal/*.jsonl", "state/tare/" + journal.Prefix + "*"} {
		if left, err := filepath.Glob(filepath.Join(c.home, pattern)); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}
