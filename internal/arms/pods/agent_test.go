package pods

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/agent"
	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/linux/namespace"
	"github.com/tarelab/tare/internal/testing/environmenttest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// inPodCommand is an agent in a mount namespace whose /proc is that of its pid namespace, as in a pod.
const inPodCommand = "__agent-in-pod"

func inPod(args []string) int {
	if err := errors.Join(namespace.Private(), namespace.Proc()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code, _ := hidden.Run(agent.Roles(), append([]string{agent.Command}, args...))
	return code
}

// agentFixture is an agent without a cluster, in a pid namespace and a group as in a pod.
type agentFixture struct {
	*launch.Sandbox
	agent launch.Agent
	cmd   *exec.Cmd
	lost  int // how often it was asked what became of a child
}

func newAgentFixture(t *testing.T) *agentFixture {
	t.Helper()
	testneed.Root(t)
	j, err := journal.Open(t.TempDir(), runID("keep"))
	if err != nil {
		t.Fatal(err)
	}
	groups, err := launch.PlainGroups(nil)
	if err != nil {
		t.Fatal(err)
	}
	k := &agentFixture{}
	if k.Sandbox, err = launch.NewSandbox(environment.Spec{Run: j.Run(), Arm: "arm", Scratch: t.TempDir(), Journal: j}, groups); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	socket := filepath.Join(t.TempDir(), "ask")
	k.cmd = exec.Command("/proc/self/exe", append([]string{inPodCommand}, agent.Args(socket, "")[1:]...)...)
	k.cmd.Stderr = os.Stderr
	k.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS}
	if err := k.OnThread(k.cmd.Start); err != nil {
		t.Fatal(err)
	}
	pid := k.cmd.Process.Pid
	if err := k.Group.Add(pid); err != nil {
		t.Fatal(err)
	}
	procs := ""
	for _, dir := range k.Group.Dirs {
		procs = filepath.Join(dir, "cgroup.procs")
	}
	k.agent = launch.Agent{Pid: pid, Procs: procs}
	k.agent.Link, err = agent.Dial(t.Context(), pid, socket, func() environment.Exit {
		k.lost++
		return environment.Exit{Code: 99}
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// run starts a process of the suite of environments.
func (k *agentFixture) run(t *testing.T, args ...string) (environment.Running, string) {
	t.Helper()
	words, err := os.CreateTemp(t.TempDir(), "words")
	if err == nil {
		err = words.Truncate(1 << 20)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer words.Close()
	log, err := os.CreateTemp(t.TempDir(), "log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	c := k.Inside(environment.Process{Args: append([]string{environmenttest.Command, "token"}, args...), Files: []*os.File{words}, Log: log})
	p, err := k.StartByAgent(t.Context(), k.agent, c, k.Group)
	if err != nil {
		t.Fatal(err)
	}
	return p, log.Name()
}

// TestAgent starts one child after the other and checks how each ends.
func TestAgent(t *testing.T) {
	k := newAgentFixture(t)
	for _, c := range []struct {
		args []string
		want environment.Exit
	}{
		{[]string{"exit", "0"}, environment.Exit{}},
		{[]string{"exit", "3"}, environment.Exit{Code: 3}},
		{[]string{"fault"}, environment.Exit{Code: -1, Signal: "SIGSEGV"}},
		{[]string{"print"}, environment.Exit{}},
	} {
		p, log := k.run(t, c.args...)
		<-p.Done()
		if p.Exit() != c.want {
			t.Errorf("%v: %+v, want %+v", c.args, p.Exit(), c.want)
		}
		if said, _ := os.ReadFile(log); c.args[0] == "print" && !strings.Contains(string(said), "to standard output\nto standard error\n") {
			t.Errorf("log %q", said)
		}
	}
	p, _ := k.run(t, "deaf")
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
	<-p.Done()
	if want := (environment.Exit{Code: -1, Signal: "SIGKILL"}); p.Exit() != want {
		t.Errorf("%+v, want %+v", p.Exit(), want)
	}
	if k.lost != 0 {
		t.Errorf("asked %d times what became of a child", k.lost)
	}
	if err := k.agent.Close(); err != nil {
		t.Error(err)
	}
	if err := k.cmd.Wait(); err != nil {
		t.Errorf("the agent did not end in order: %v", err)
	}
}

// TestAgentLosesTare checks that the agent ends with its children when tare is gone.
func TestAgentLosesTare(t *testing.T) {
	k := newAgentFixture(t)
	p, _ := k.run(t, "deaf")
	if err := k.agent.Close(); err != nil {
		t.Error(err)
	}
	<-p.Done()
	if p.Exit().Signal != "SIGKILL" || k.lost != 0 {
		t.Errorf("%+v; asked %d times", p.Exit(), k.lost)
	}
	if err := k.cmd.Wait(); err != nil {
		t.Errorf("the agent did not end in order: %v", err)
	}
	if _, err := os.Stat(fmt.Sprint("/proc/", p.Pid())); !os.IsNotExist(err) {
		t.Errorf("the child is still there: %v", err)
	}
}

// TestTareLosesAgent checks that a child, frozen or not, ends with its agent, and that tare asks why the
// agent ended.
func TestTareLosesAgent(t *testing.T) {
	k := newAgentFixture(t)
	p, _ := k.run(t, "deaf")
	if err := k.Freezer.Freeze(time.Second); err != nil {
		t.Fatal(err)
	}
	if err := k.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if k.lost != 1 || p.Exit().Code != 99 {
		t.Errorf("%+v; asked %d times", p.Exit(), k.lost)
	}
	_ = k.cmd.Wait() // it reaps what was in its namespace
	if _, err := os.Stat(fmt.Sprint("/proc/", p.Pid())); !os.IsNotExist(err) {
		t.Errorf("the child is still there: %v", err)
	}
}
