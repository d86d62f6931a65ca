package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/undo/hostlock"
	"github.com/tarelab/tare/record"
)

func ofQuick(t *testing.T) *record.Result {
	t.Helper()
	e, _, err := (&experimentFlags{Experiment: experiment.Quick}).load()
	if err != nil {
		t.Fatal(err)
	}
	return &record.Result{Dir: "r", Plan: record.Plan{Experiment: "quick", Source: string(e.YAML()), Seed: 7}}
}

// A record is continued with its own experiment, named or not, and with no other; only the budget
// may change.
func TestContinuesTheSameExperiment(t *testing.T) {
	for _, c := range []struct {
		flags experimentFlags
		why   string
	}{
		{experimentFlags{}, ""},
		{experimentFlags{Budget: "10m"}, ""},
		{experimentFlags{Experiment: "quick", Seed: "7"}, ""},
		{experimentFlags{Experiment: "redis-layers"}, "another experiment"},
		{experimentFlags{Seed: "8"}, "its seed is 7, and --seed says 8"},
		{experimentFlags{Workload: []string{"rpc"}}, "another experiment"},
		{experimentFlags{Set: []string{"rpc.concurrency=8"}}, "another experiment"},
	} {
		e, err := (&runCommand{experimentFlags: c.flags}).sameExperiment(ofQuick(t))
		if c.why != "" {
			var usage *usageError
			if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%+v: %v", c.flags, err)
			}
			continue
		}
		if err != nil || e.Seed != 7 || c.flags.Budget != "" && e.Budget != 10*time.Minute {
			t.Errorf("%+v: %+v, %v", c.flags, e, err)
		}
	}
}

func TestContinuesOnTheSameHost(t *testing.T) {
	was := record.Manifest{Tare: "v1", Host: record.Host{Name: "a", CPUs: 2, Mitigations: map[string]string{"x": "on"}}}
	is := was
	if d := hostDiffers(was, is); d != "" {
		t.Error(d)
	}
	is.Host.CPUs, is.Tare = 4, "v2"
	is.Host.Mitigations = map[string]string{"x": "off"}
	for _, want := range []string{`CPUs "2" there, "4" here`, "tare", `mitigation of x "on" there, "off" here`} {
		if d := hostDiffers(was, is); !strings.Contains(d, want) {
			t.Errorf("%q does not say %s", d, want)
		}
	}
	a := record.Plan{Workloads: []record.Workload{{Name: "rpc", Arms: []record.Arm{{Name: "host"}, {Name: "nat"}}}}}
	b := record.Plan{Workloads: []record.Workload{{Name: "rpc", Arms: []record.Arm{{Name: "host"}}}}}
	if d := armsDiffer(a, b); d != "no rpc/nat here" {
		t.Error(d)
	}
	if d := armsDiffer(b, a); d != "no rpc/nat there" {
		t.Error(d)
	}
	service := record.Plan{Workloads: []record.Workload{{Name: "rpc", Arms: []record.Arm{{Name: "host", RunsAs: record.AsService}}}}}
	if d := armsDiffer(b, service); d != `rpc/host runs as "" there and as "service" here` {
		t.Error(d)
	}
}

// A directory that cannot be continued is refused with the reason, and not changed.
func TestContinueRefuses(t *testing.T) {
	t.Setenv(hostlock.DirEnv, t.TempDir())
	none := t.TempDir()
	damaged := t.TempDir()
	for name, text := range map[string]string{
		record.PlanFile: `{"schema":"tare/plan/v1"}`, record.ManifestFile: `{"schema":"tare/manifest/v1"}`,
		record.RecordFile: "{\"run\":{\"schema\":\"tare/record/v1\"}}\nnonsense\n{}\n",
	} {
		if err := os.WriteFile(filepath.Join(damaged, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]struct {
		why  string
		code int
	}{none: {"no record.jsonl", exitUsage}, damaged: {"record.jsonl:2: damaged", exitError}} {
		err := (&runCommand{Continue: dir}).continueRun(nil)
		if exitCode(err) != want.code || !strings.Contains(err.Error(), want.why) {
			t.Errorf("%s: exit %d: %v", dir, exitCode(err), err)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(damaged, record.RecordFile)); !strings.Contains(string(b), "nonsense") {
		t.Error("the damaged record was changed")
	}
}
