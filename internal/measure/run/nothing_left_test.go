package run_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/layers"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// refused is an environment whose Open fails as unsupported.
type refused struct{ environment.Environment }

func (refused) Name() string { return "refused" }

func (refused) Open(context.Context, environment.Spec) (environment.OpenArm, error) {
	return nil, hint.New(errors.New(`storageclass "fast" not found`), "kubectl get storageclass")
}

// A run in which only the baseline and its twin can be launched ends before it measures, as
// unsupported here, with reason and remedy, whether it has one workload or several. If another
// workload has an arm to compare, the run goes on.
func TestNothingIsLeftToCompare(t *testing.T) {
	testneed.Root(t)
	for name, workloads := range map[string][]experiment.Workload{
		"one workload":  {{Name: "spin", Kind: "spin", Share: 1}},
		"two workloads": {{Name: "spin", Kind: "spin", Share: 1}, {Name: "more", Kind: "spin", Share: 1}},
	} {
		e := spinExperiment(20 * time.Second)
		e.Workloads = workloads
		r, out, err := execute(context.Background(), t, e, catalog(plan.Rung{Environment: layers.Host}, plan.Rung{Environment: refused{layers.Host}}))
		if !errors.Is(err, facts.ErrUnsupported) || !strings.Contains(err.Error(), `nothing is left to compare with host (not supported here): refused: `) ||
			!strings.Contains(err.Error(), `storageclass "fast" not found`) || hint.Of(err) != "kubectl get storageclass" || out.Reason != "error" {
			t.Errorf("%s: ended by %q: %v (%s)", name, out.Reason, err, hint.Of(err))
		}
		for _, l := range r.Lines {
			if l.Block != nil {
				t.Errorf("%s: a block of %s was measured", name, l.Block.Workload)
			}
		}
	}
	e := spinExperiment(12 * time.Second)
	e.Workloads = []experiment.Workload{{Name: "spin", Kind: "spin", Share: 1, Arms: []string{"host", "refused"}}, {Name: "more", Kind: "spin", Share: 1, Arms: []string{"host", "cgroup"}}}
	r, out, err := execute(context.Background(), t, e, catalog(plan.Rung{Environment: layers.Host},
		plan.Rung{Environment: layers.Cgroup, On: "host"}, plan.Rung{Environment: refused{layers.Host}}))
	if err != nil || out.Reason != "budget" {
		t.Errorf("beside another workload: ended by %q: %v", out.Reason, err)
	}
	said := func(x record.Left) bool {
		return x.Workload == "spin" && strings.Contains(said.English(x.Reason), "not found")
	}
	for _, x := range r.Manifest.Left {
		if said(x) {
			return
		}
	}
	t.Errorf("left out: %+v", r.Manifest.Left)
}
