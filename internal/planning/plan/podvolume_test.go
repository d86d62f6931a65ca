package plan

import (
	"errors"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/planning/experiment"

	"github.com/tarelab/tare/record"
)

// pod is a place in a cluster.
type pod struct {
	place
	levels string
}

func (p pod) Capabilities() environment.Capabilities {
	return environment.Capabilities{With: p.with, Pod: true}
}

func (p pod) with(levels string) (environment.Environment, error) {
	if strings.Contains(levels, "none") {
		return nil, errors.New("no StorageClass none")
	}
	p.levels = levels
	return p, nil
}

func levelsOf(e environment.Environment) string {
	if p, ok := e.(pod); ok {
		return p.levels
	}
	return "no pod"
}

func withPods(missing string) Catalog {
	c := ladder(missing)
	c.Rungs = append(c.Rungs, Rung{Environment: pod{place{"besteffort", facts.Supported(), environment.Capabilities{}}, ""}, OnlyByName: true})
	return c
}

// The volume of a pod is an option of its environment: arms on different volumes share no processes.
// No other environment can have one.
func TestBuildVolumesOfPods(t *testing.T) {
	e := asked("commit")
	e.Volume = "pvc:slow"
	e.Named = []experiment.ArmSpec{
		{Name: "here", Environment: "besteffort", Options: record.Options{Volume: "emptydir"}}, {Name: "usual", Environment: "besteffort"},
		{Name: "claim", Environment: "besteffort:client=pod", Options: record.Options{Volume: "pvc:fast"}}, {Name: "host", Environment: "host", Options: record.Options{Volume: "pvc:fast"}},
		{Name: "bound", Environment: "besteffort", Options: record.Options{Volume: "bind"}},
	}
	e.Workloads[0].Baseline = "here"
	p, err := Build(e, withPods(""), facts.Host{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"here": "volume=emptydir", "twin": "volume=emptydir", "usual": "volume=pvc:slow", "claim": "client=pod,volume=pvc:fast", "bound": "",
	}
	for _, a := range p.Loads[0].Arms {
		if got := levelsOf(a.Env); got != want[a.Name] || a.Shares != "" {
			t.Errorf("%s: %q, on the processes of %q", a.Name, got, a.Shares)
		}
		delete(want, a.Name)
	}
	if len(want) > 0 || len(p.Left) != 1 || p.Left[0].Arm != "host" || !strings.Contains(said.English(p.Left[0].Reason), "host is no pod") || p.Left[0].Remedy.IsZero() {
		t.Errorf("missing %v, skipped %+v", want, p.Left)
	}
	e.Named[2].Volume = "pvc:none"
	if _, err := Build(e, withPods(""), facts.Host{}, nil); err == nil || !strings.Contains(err.Error(), "no StorageClass none") {
		t.Errorf("%v", err)
	}
}

// The volume of all arms of a ladder: pods have it, and a baseline on this host is refused.
func TestBuildLadderOnVolumeOfPods(t *testing.T) {
	e := asked("commit")
	e.Volume, e.Arms = "pvc:fast", []string{"besteffort"}
	_, err := Build(e, withPods(""), facts.Host{}, nil)
	if !errors.Is(err, facts.ErrUnsupported) || !strings.Contains(err.Error(), "host is no pod") || hint.Of(err) == "" {
		t.Errorf("%v (%s)", err, hint.Of(err))
	}
	p, err := Build(e, withPods(""), facts.Host{PodNode: "node"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a := p.Loads[0].Arms[0]; a.Name != "besteffort" || levelsOf(a.Env) != "volume=pvc:fast" {
		t.Errorf("%s in %q", a.Name, levelsOf(a.Env))
	}
}

func TestOnVolumeOfPod(t *testing.T) {
	for _, c := range [][3]string{
		{"besteffort", "pvc:a", "besteffort:volume=pvc:a"}, {"besteffort:image=x/y:1", "emptydir", "besteffort:image=x/y:1,volume=emptydir"},
		{"besteffort", "bind", "besteffort"}, {"besteffort", "", "besteffort"},
	} {
		if got := OnVolumeOfPod(c[0], c[1]); got != c[2] {
			t.Errorf("%s on %q: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}
