package plan

import (
	"errors"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/record"
)

// leveled is a place with levels behind its name.
type leveled struct{ place }

func (l leveled) Capabilities() environment.Capabilities {
	return environment.Capabilities{With: l.with}
}

func (l leveled) with(levels string) (environment.Environment, error) {
	if levels != "cpu=1" {
		return nil, errors.New("no level " + levels)
	}
	l.name += " with one CPU"
	return l, nil
}

// A named arm has the environment with its levels; the record has the word as it was written.
func TestBuildLevels(t *testing.T) {
	build := func(word string) (*Plan, error) {
		c := ladder("")
		c.Rungs = append(c.Rungs, Rung{Environment: leveled{place{"pod", facts.Supported(), environment.Capabilities{}}}, OnlyByName: true})
		e := asked("commit")
		e.Named = []experiment.ArmSpec{{Name: "host", Environment: "host"}, {Name: "one", Environment: word}}
		e.Workloads[0].Baseline = "host"
		return Build(e, c, facts.Host{}, nil)
	}
	p, err := build("pod:cpu=1")
	if err != nil {
		t.Fatal(err)
	}
	a := p.Loads[0].Arms[2]
	if a.Env.Name() != "pod with one CPU" || a.Environment != "pod:cpu=1" {
		t.Errorf("%s, %s", a.Env.Name(), a.Environment)
	}
	for word, want := range map[string]string{"pod:x": "no level x", "host:cpu=1": "has no levels", "pdo:cpu=1": `no environment is called "pdo"`} {
		if _, err := build(word); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", word, err, want)
		}
	}
}

// Where the pods are on another node, nothing on this host is compared with them, and the first pod
// that is possible is the baseline.
func TestBuildAway(t *testing.T) {
	c := ladder("guaranteed")
	for _, name := range []string{"guaranteed", "besteffort", "burstable"} {
		s := facts.Supported()
		if name == "guaranteed" {
			s = facts.Unsupported(record.InProse("no "+name+" here"), record.InProse("name an image"))
		}
		c.Rungs = append(c.Rungs, Rung{Environment: place{name, s, environment.Capabilities{Pod: true}}, OnlyByName: true})
	}
	host := facts.Host{PodNode: "n1"}
	chosen := asked("commit")
	chosen.Arms = []string{"cgroup", "guaranteed", "besteffort", "burstable"}
	named := asked("commit")
	named.Workloads[0].Baseline = "here"
	named.Workloads[0].Named = []experiment.ArmSpec{
		{Name: "here", Environment: "host"}, {Name: "best", Environment: "guaranteed"},
		{Name: "busy", Environment: "besteffort", Neighbour: "noise"}, {Name: "least", Environment: "besteffort"}, {Name: "more", Environment: "burstable"},
	}
	named.Neighbours = []experiment.Neighbour{{Name: "noise", Kind: "commit"}}
	one := asked("commit") // nobody has named the host, which is the baseline of the experiment
	one.Workloads[0].Baseline, one.Workloads[0].Named, one.Workloads[0].Arms = "here", named.Workloads[0].Named, []string{"least"}
	c.Neighbour = c.Workload
	for _, x := range []struct {
		e          *experiment.Experiment
		arms, left string
	}{
		{chosen, "besteffort< twin< burstable<", "cgroup guaranteed"},
		{named, "least< twin< more<", "here best busy"},
		{one, "least< twin<", ""},
	} {
		p, err := Build(x.e, c, host, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := arms(p.Loads[0]); got != x.arms || p.PodNode != "n1" {
			t.Errorf("arms %s on %q, want %s", got, p.PodNode, x.arms)
		}
		var left []string
		for _, l := range p.Left {
			left = append(left, l.Arm)
			if strings.Contains(l.Arm, "guaranteed") || l.Arm == "best" {
				continue
			}
			if !strings.Contains(said.English(l.Reason), "n1") || !strings.Contains(said.English(l.Remedy), "--node-helper") {
				t.Errorf("%+v", l)
			}
		}
		if got := strings.Join(left, " "); got != x.left {
			t.Errorf("left out %q, want %q", got, x.left)
		}
	}
	chosen.Arms = []string{"guaranteed"}
	if _, err := Build(chosen, c, host, nil); err == nil || !strings.Contains(err.Error(), "no guaranteed here") {
		t.Errorf("no pod at all: %v", err)
	}
}

// The plan says what arms without a container run as, from the control groups of the host.
func TestBuildRunsAs(t *testing.T) {
	c := ladder("")
	for i, as := range map[int]string{0: record.AsService, 1: ""} {
		r := c.Rungs[i].Environment.(place)
		if as != "" {
			r.can.RunsAs = func(*cgroup.Tree) string { return as }
		}
		c.Rungs[i].Environment = r
	}
	check := func(e *experiment.Experiment) {
		t.Helper()
		p, err := Build(e, c, facts.Host{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range p.Loads[0].Arms[:3] {
			want := record.AsService
			if a.Environment == "cgroup" {
				want = ""
			}
			if a.RunsAs != want {
				t.Errorf("%s runs as %q, want %q", a.Name, a.RunsAs, want)
			}
		}
	}
	check(asked("commit"))
	named := asked("commit")
	named.Workloads[0].Baseline = "alone"
	named.Workloads[0].Named = []experiment.ArmSpec{{Name: "alone", Environment: "host"}, {Name: "group", Environment: "cgroup"}}
	check(named)
}

// The neighbour of a service is one: arms with and without a cpu group of the neighbour share processes.
func TestNeighbourOfAService(t *testing.T) {
	arm := func(name, as string, isolated bool) PlannedArm {
		a := PlannedArm{Arm: record.Arm{Name: name, Environment: "host", RunsAs: as}, Neighbour: &Neighbour{}}
		if isolated {
			a.Arm.Isolation, a.Isolation = []string{"cpu.weight"}, []isolation.Settings{{Neighbour: []string{"cpu"}, Live: true}}
		}
		return a
	}
	for as, shared := range map[string]bool{record.AsService: true, record.AsProcess: false, "": false} {
		all := []PlannedArm{arm("none", as, false), arm("weight", as, true)}
		shareProcesses(all)
		instances := Instances(all)
		if got := all[1].Shares == "none"; got != shared || instances[0].Service != (as == record.AsService) {
			t.Errorf("as %q: shared %v, service %v", as, got, instances[0].Service)
		}
	}
}
