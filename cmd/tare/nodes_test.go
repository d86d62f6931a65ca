package main

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/testing/kubetest"
	"github.com/tarelab/tare/record"
)

const onNode = `
budget: 25s
generations: 2
window: 100ms
arms:
  host: {environment: host}
  cgroup: {environment: cgroup}
  pod: {environment: "besteffort:image=none"}
baseline: host
workloads:
  calls: {kind: rpc}
`

// outside is a client of the cluster that measures a node through its helper.
type outside struct {
	t     *testing.T
	admin *kubetest.Admin
	home  string
	dir   string
	node  string
	// states are where the nodes have their journals.
	states []string
	cmd    *exec.Cmd
	out    heard
	ids    []string // of runs on the node
}

func fromOutside(t *testing.T, args ...string) *outside {
	t.Helper()
	admin := kubetest.Need(t)
	o := &outside{t: t, admin: admin, home: t.TempDir(), node: admin.Here(t), states: []string{hereState}}
	return o.start(onNode, append([]string{"--nodes", o.node}, args...)...)
}

// hereState is this host's.
const hereState = "/var/lib/tare"

// start starts the run of an experiment.
func (o *outside) start(experiment string, args ...string) *outside {
	t := o.t
	t.Helper()
	o.dir = filepath.Join(o.home, "result")
	file := filepath.Join(o.home, "calls.yaml")
	if err := os.WriteFile(file, []byte(experiment), 0o600); err != nil {
		t.Fatal(err)
	}
	o.cmd = o.tool(append([]string{"run", file, "-o", o.dir, "--node-helper"}, args...)...)
	o.cmd.Stdout, o.cmd.Stderr = &o.out, &o.out
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		o.cmd.Process.Kill()
		o.cmd.Wait()
		o.tool("cleanup").Run()
	})
	return o
}

func (o *outside) tool(args ...string) *exec.Cmd {
	return commandLine(o.t, o.home, filepath.Join(o.home, "cache"), args...)
}

// onNode are the directories of helpers on the nodes.
func (o *outside) onNode() (dirs []string) {
	for _, state := range o.states {
		found, _ := filepath.Glob(filepath.Join(state, "tare-*"))
		dirs = append(dirs, found...)
	}
	return dirs
}

// measuring waits for a block in the record on the first node.
func (o *outside) measuring() {
	o.t.Helper()
	ids := map[string]string{} // of the run, by that of its helper
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		for _, dir := range o.onNode() {
			if b, _ := os.ReadFile(filepath.Join(dir, "result", record.RecordFile)); bytes.Contains(b, []byte(`"block":{`)) {
				ids[strings.TrimPrefix(filepath.Base(dir), "tare-")] = runID(filepath.Join(dir, "result"))
			}
		}
		if len(ids) > 0 {
			for helper, run := range ids {
				o.ids = append(o.ids, helper, run)
			}
			return
		}
		if time.Now().After(end) || hasEnded(o.cmd) {
			o.t.Fatalf("no block in the record\n%s", o.out.String())
		}
	}
}

// hasEnded is whether a command that nobody has waited for yet has ended.
func hasEnded(cmd *exec.Cmd) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, cmd.Process.Pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err != nil || info.Signo != 0
}

// clean wants nothing of tare's in the cluster and on the node.
func (o *outside) clean() {
	o.t.Helper()
	left := append(o.admin.Left(o.t), o.onNode()...)
	slices.Sort(o.ids)
	for _, id := range slices.Compact(o.ids) {
		left = append(left, leftOf(id)...)
		for _, state := range o.states {
			journals, _ := filepath.Glob(filepath.Join(state, "journal", id+".jsonl"))
			for _, j := range journals {
				text, _ := os.ReadFile(j)
				left = append(left, j+": "+string(text))
			}
		}
	}
	for _, l := range left {
		o.t.Errorf("left: %s", l)
	}
	_, roles := o.admin.Do(o.t, http.MethodGet, "/apis/rbac.authorization.k8s.io/v1/clusterroles?labelSelector=app.kubernetes.io%2Fmanaged-by%3Dtare", nil)
	_, bindings := o.admin.Do(o.t, http.MethodGet, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings?labelSelector=app.kubernetes.io%2Fmanaged-by%3Dtare", nil)
	if names := regexp.MustCompile(`"name":"tare-[^"]*"`).FindAll(append(roles, bindings...), -1); len(names) > 0 {
		o.t.Errorf("left: rights %s", names)
	}
}

// end waits for the client, and wants an exit code and a record.
func (o *outside) end(code int) *record.Result {
	o.t.Helper()
	o.wait(code)
	r := o.read(o.node)
	o.clean()
	return r
}

// lost wants the node's result to be lost, and the client to say so with what to do.
func (o *outside) lost(node string) {
	o.t.Helper()
	if _, err := os.Stat(filepath.Join(o.dir, node)); err == nil {
		o.t.Errorf("there is a result of node %s\n%s", node, o.out.String())
	}
	out := strings.Join(strings.Fields(o.out.String()), " ")
	for _, want := range []string{"the result of node " + node + " is lost", "--nodes " + node + " --node-helper"} {
		if !strings.Contains(out, want) {
			o.t.Errorf("does not say %q:\n%s", want, o.out.String())
		}
	}
}

// wait waits for the client, and wants an exit code.
func (o *outside) wait(code int) {
	o.t.Helper()
	o.cmd.Wait()
	if got := o.cmd.ProcessState.ExitCode(); got != code {
		o.t.Errorf("ended with %d, want %d\n%s", got, code, o.out.String())
	}
}

// read reads the record of a node.
func (o *outside) read(node string) *record.Result {
	o.t.Helper()
	r, err := record.Read(filepath.Join(o.dir, node))
	if err != nil {
		o.t.Fatalf("%v\n%s", err, o.out.String())
	}
	if h := r.Manifest.Host.Helper; h != nil {
		o.ids = append(o.ids, strings.TrimPrefix(h.Cgroup, "/tare-"), runID(r.Dir))
	}
	return r
}

// A node is measured from outside as if tare had been started there: on its
// host, which is labelled as what it is, and in a pod that is frozen.
func TestClusterNode(t *testing.T) {
	o := fromOutside(t, "--budget", "16s")
	r := o.end(0)
	h := r.Manifest.Host.Helper
	if h == nil || h.Node != o.node || h.Image == "" || h.Namespaces == "" || !strings.HasPrefix(h.Cgroup, "/tare-") {
		t.Errorf("labelled as %+v", h)
	}
	for _, l := range r.Manifest.Left {
		t.Errorf("left out: %+v", l)
	}
	windows := map[string]int{}
	for _, l := range r.Lines {
		if l.Block != nil {
			for _, w := range l.Block.Windows {
				windows[w.Arm]++
			}
		}
		if l.Pilot != nil && !strings.HasPrefix(l.Pilot.Pause, "freezer") {
			t.Errorf("paused by %s", l.Pilot.Pause)
		}
	}
	for _, arm := range []string{"host", "twin", "cgroup", "pod"} {
		if windows[arm] == 0 {
			t.Errorf("no window of %s: %v", arm, windows)
		}
	}
	out := o.out.String()
	t.Log(out)
	all, err := o.tool("report", "--verbose", filepath.Join(o.dir, o.node)).CombinedOutput()
	if err != nil {
		t.Errorf("report: %v\n%s", err, all)
	}
	for _, want := range []string{"node " + o.node + " through the node helper", "entered from a privileged pod", "--node-helper"} {
		if !strings.Contains(strings.Join(strings.Fields(out+string(all)), " "), want) {
			t.Errorf("does not say %q", want)
		}
	}
}

// Ctrl-C reaches the node; the record comes back.
func TestClusterNodeInterrupted(t *testing.T) {
	o := fromOutside(t)
	o.measuring()
	o.cmd.Process.Signal(syscall.SIGINT)
	r := o.end(130)
	if last := r.Lines[len(r.Lines)-1]; last.End == nil || last.End.Reason != "interrupted" {
		t.Errorf("%+v", last)
	}
}

// After SIGKILL of the client tare on the node restores it, and the client's guard removes the
// helper.
func TestClusterNodeKilled(t *testing.T) {
	o := fromOutside(t)
	o.measuring()
	o.cmd.Process.Kill()
	o.cmd.Wait()
	const within = 100 * time.Second // usually some seconds; on a busy host longer
	for end := time.Now().Add(within); len(o.onNode())+len(o.admin.Left(t)) > 0 && time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
	}
	o.clean()
	if out, err := o.tool("cleanup").CombinedOutput(); err != nil {
		t.Errorf("cleanup: %v\n%s", err, out)
	}
}

func TestClusterNodeErrors(t *testing.T) {
	admin := kubetest.Need(t)
	admin.Grant(t, "tare-outside")
	o := &outside{t: t, admin: admin, home: t.TempDir(), node: admin.Here(t), states: []string{hereState}}
	limited := kubetest.Kubeconfig(t, kubetest.As("tare-outside"))
	for _, c := range []struct {
		name string
		args []string
		says []string
	}{
		{"no such node", []string{"--node-helper", "--nodes", "nowhere"}, []string{`no node "nowhere"`, o.node}},
		{"no image", []string{"--node-helper", "--nodes", o.node, "--helper-image", "no.registry.invalid/none@sha256:" + strings.Repeat("0", 64)}, []string{"ErrImage", "none@sha256", "hint:"}},
		{"forbidden", []string{"--node-helper", "--nodes", o.node, "--kubeconfig", limited}, []string{`forbids user "tare-outside"`, "create serviceaccounts", "create, get pods/exec", "create, delete clusterroles", "--rbac --node-helper"}},
		{"not allowed", []string{"--nodes", o.node}, []string{"--node-helper"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := o.tool(append([]string{"run", "-o", filepath.Join(o.home, c.name), "--budget", "10s"}, c.args...)...).CombinedOutput()
			for _, want := range c.says {
				if err == nil || !strings.Contains(string(out), want) {
					t.Errorf("%v: does not say %q:\n%s", err, want, out)
				}
			}
		})
	}
	o.clean()
}
