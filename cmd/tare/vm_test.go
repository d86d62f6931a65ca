package main

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/hostlock"
	"github.com/tarelab/tare/record"
)

// groupsOf returns every control group with the controllers that it enables for its children, on a
// host where nothing else makes any.
func groupsOf(t *testing.T) map[string]string {
	t.Helper()
	const root = "/sys/fs/cgroup"
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		enabled, err := os.ReadFile(filepath.Join(path, "cgroup.subtree_control"))
		all[path] = strings.TrimSpace(string(enabled))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sameGroups fails unless the control groups are as they were.
func sameGroups(t *testing.T, before map[string]string) {
	t.Helper()
	now := groupsOf(t)
	if maps.Equal(before, now) {
		return
	}
	for _, dir := range slices.Sorted(maps.Keys(now)) {
		if was, ok := before[dir]; !ok || was != now[dir] {
			t.Errorf("%s enables %q, was %q (there: %v)", dir, now[dir], was, ok)
		}
	}
	for dir := range before {
		if _, ok := now[dir]; !ok {
			t.Errorf("%s is gone", dir)
		}
	}
}

const vmExperiment = `title: control groups of version 2
budget: 40s
workloads:
  commit: {kind: commit}
arms:
  host: {environment: host}
  cgroup: {environment: cgroup}
  runc: {environment: runc}
`

// onV2 is tare on a host with control groups of version 2 only.
type onV2 struct {
	t      *testing.T
	state  string
	dir    string // of the result
	groups map[string]string
}

func newOnV2(t *testing.T, tier string) onV2 {
	t.Helper()
	testneed.Long(t, tier)
	testneed.Root(t)
	state := t.TempDir()
	return onV2{t: t, state: state, dir: filepath.Join(state, "result"), groups: groupsOf(t)}
}

func (v onV2) tool(args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		v.t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"__cli"}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+v.state, hostlock.DirEnv+"="+v.state)
	return cmd
}

// must runs tare and returns what it prints on standard output.
func (v onV2) must(args ...string) string {
	v.t.Helper()
	cmd := v.tool(args...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		v.t.Fatalf("tare %s: %v\n%s\n%s", strings.Join(args, " "), err, out, said.String())
	}
	return string(out)
}

func (v onV2) experiment(text string) string {
	file := filepath.Join(v.state, "experiment.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		v.t.Fatal(err)
	}
	return file
}

// TestVMRun is everything on such a host: what it can do, a run, its record, and the host after it.
func TestVMRun(t *testing.T) {
	v := newOnV2(t, "vm")
	t.Log(v.must("doctor"))
	v.must("run", v.experiment(vmExperiment), "-q", "-o", v.dir)
	r, err := record.Read(v.dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.Manifest.Host.Cgroup != "v2" {
		t.Errorf("control groups %s", r.Manifest.Host.Cgroup)
	}
	if l := r.Manifest.Left; len(l) != 0 {
		t.Errorf("left out: %+v", l)
	}
	windows := map[string]int{}
	ended := ""
	for _, l := range r.Lines {
		if l.End != nil {
			ended = l.End.Reason
		}
		if l.Block != nil {
			for _, w := range l.Block.Windows {
				windows[w.Arm]++
			}
		}
	}
	if ended == "" || windows["host"] == 0 || windows["cgroup"] == 0 || windows["runc"] == 0 {
		t.Errorf("ended %q, windows %v", ended, windows)
	}
	for arm, settings := range r.Manifest.Settings {
		for _, s := range settings {
			if s.Wanted != "" && s.Wanted != s.Got {
				t.Errorf("%s: %+v", arm, s)
			}
		}
	}
	for _, form := range []string{"text", "json"} {
		out := v.must("report", v.dir, "--format", form)
		if form == "json" && !json.Valid([]byte(out)) {
			t.Errorf("no JSON: %s", out)
		} else if form == "text" {
			t.Log(out)
		}
	}
	sameGroups(t, v.groups)
	if out := v.must("cleanup"); !strings.Contains(out, "nothing to clean up") {
		t.Errorf("cleanup: %s", out)
	}
}

// TestVMKilled: the same after a kill in the middle and tare cleanup.
func TestVMKilled(t *testing.T) {
	v := newOnV2(t, "vm")
	cmd := v.tool("run", v.experiment(vmExperiment), "-q", "-o", v.dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	for measuring := false; !measuring; {
		select {
		case <-ended:
			t.Fatal("the run ended before it was killed")
		case <-time.After(20 * time.Millisecond):
		}
		b, _ := os.ReadFile(filepath.Join(v.dir, record.RecordFile))
		measuring = strings.Contains(string(b), `"block"`)
	}
	cmd.Process.Signal(syscall.SIGKILL)
	<-ended
	v.must("cleanup")
	for _, left := range leftOf(runID(v.dir)) {
		t.Errorf("left: %s", left)
	}
	sameGroups(t, v.groups)
}
