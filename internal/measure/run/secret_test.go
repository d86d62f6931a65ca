package run_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/arms/layers"
	"github.com/tarelab/tare/internal/arms/oci"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// The value of a command's environment variable is in the command and in the load that starts it,
// and nowhere else: in no argument, in no other process, in no file that others can read, and in
// nothing that the run leaves.
func TestSecret(t *testing.T) {
	testneed.Root(t)
	testneed.Tool(t, "runc")
	const secret = "hunter2-planted"
	t.Setenv("TARETEST_PASSWORD", secret)
	c := catalog(plan.Rung{Environment: layers.Host}, plan.Rung{Environment: oci.Container{Runtime: "runc"}, On: "host"})
	c.Workload = func(string) (workload.Workload, bool) { return workload.Command{}, true }
	e := spinExperiment(12 * time.Second)
	e.Generations = 1
	e.Workloads = []experiment.Workload{{Name: "command", Kind: "command", Share: 1, Params: map[string]string{
		"command": `test "$TARETEST_PASSWORD" = hunter2-"planted" && sleep 0.01`, "shell": "on", "env": "TARETEST_PASSWORD",
	}}}
	host := inspect.Host("/")
	host.Volumes = volume.Supports(host, e.Volumes()...)
	p, err := plan.Build(e, c, host, []string{"tare", "run"})
	if err != nil {
		t.Fatal(err)
	}
	scratch, state, dir := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "result")
	p.Scratch = scratch
	var had []string
	_, err = run.Execute(t.Context(), run.Config{
		ID: idOf(t), Plan: p, Dir: dir, StateDir: state, Groups: host.Groups,
		Decide: func(record.Workload, []record.Line) run.Decision { return run.Decision{} },
		Progress: func(ev run.Event) {
			if ev.Phase == "measure" {
				had = append(had, processesWith(t, secret, idOf(t))...)
				holding(t, secret, 0o600, scratch, state, dir)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(had, "tare") {
		t.Errorf("no load had it, only %v: nothing was looked at", had)
	}
	holding(t, secret, 0, scratch, state, dir)
	r, err := record.Read(dir)
	if err != nil || len(r.Manifest.Settings) != 3 { // of the twin too
		t.Errorf("arms that were measured: %d, %v", len(r.Manifest.Settings), err)
	}
}

// processesWith returns the names of the processes of a run that have a word in their environment.
// It fails if a process has the word in its arguments, or a process outside of the run has it.
func processesWith(t *testing.T, word, id string) (names []string) {
	t.Helper()
	of := regexp.MustCompile(`/tare-` + id + `[-/]`)
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		name, _ := os.ReadFile(filepath.Join(dir, "comm"))
		groups, _ := os.ReadFile(filepath.Join(dir, "cgroup"))
		args, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if strings.Contains(string(args), word) {
			t.Errorf("an argument of %s: %q", name, args)
		}
		guard := strings.Contains(string(args), "\x00"+launch.GuardCommand+"\x00") // has what tare has: it takes back with it
		if b, _ := os.ReadFile(filepath.Join(dir, "environ")); guard || !strings.Contains(string(b), word) {
			continue
		}
		names = append(names, strings.TrimSpace(string(name)))
		if !of.Match(groups) {
			t.Errorf("the environment of %s in %s", name, groups)
		}
	}
	return names
}

// holding checks the mode of files with a word in them; 0: there must be no such file.
func holding(t *testing.T, word string, mode fs.FileMode, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // it may go meanwhile
			}
			b, _ := os.ReadFile(path)
			if info, err := d.Info(); err == nil && strings.Contains(string(b), word) && info.Mode().Perm() != mode {
				t.Errorf("%s, of mode %v", path, info.Mode())
			}
			return nil
		})
	}
}
