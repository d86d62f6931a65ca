package plan

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/record"
)

// place is an environment that only has a name, an answer and capabilities.
type place struct {
	name    string
	support facts.Support
	can     environment.Capabilities
}

func (p place) Name() string                            { return p.name }
func (p place) Title() record.Said                      { return record.InProse("the " + p.name) }
func (p place) Support(facts.Host) facts.Support        { return p.support }
func (p place) Capabilities() environment.Capabilities  { return p.can }
func (p place) Changes(environment.Spec) []facts.Change { return nil }
func (p place) Open(context.Context, environment.Spec) (environment.OpenArm, error) {
	return nil, errors.New("a plan opens nothing")
}

func ladder(missing string) Catalog {
	rung := func(name, on string) Rung {
		s := facts.Supported()
		if name == missing {
			s = facts.Unsupported(record.InProse("no "+name+" here"), record.InProse("install "+name))
		}
		return Rung{Environment: place{name, s, environment.Capabilities{Grouped: name != "host"}}, On: on}
	}
	net := rung("network", "rootfs")
	net.NeedsServer = true
	top := rung("container", "network")
	top.Remainder = true
	return Catalog{
		Rungs: []Rung{rung("host", ""), rung("cgroup", "host"), rung("rootfs", "cgroup"), net, top, rung("cpu-limit", "")},
		Workload: func(kind string) (workload.Workload, bool) {
			w, ok := map[string]workload.Workload{"commit": workload.Commit{}, "rpc": workload.RPC{}}[kind]
			return w, ok
		},
	}
}

// byName is a rung that is there only if an experiment names it.
func byName(name string, can environment.Capabilities) Rung {
	return Rung{Environment: place{name, facts.Supported(), can}, OnlyByName: true}
}

func asked(kinds ...string) *experiment.Experiment {
	e := &experiment.Experiment{Name: "x", Budget: time.Minute, Precision: 0.01, Margin: 0.01, Volume: "layer"}
	for _, k := range kinds {
		e.Workloads = append(e.Workloads, experiment.Workload{Name: k, Kind: k, Share: 1})
	}
	return e
}

func arms(l Load) string {
	var out []string
	for _, a := range l.Arms {
		out = append(out, a.Name+"<"+a.Step)
	}
	return strings.Join(out, " ")
}

func TestBuildOrdersTheLadder(t *testing.T) {
	p, err := Build(asked("commit", "rpc"), ladder(""), facts.Host{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := arms(p.Loads[0]); got != "host< twin< cgroup<host rootfs<cgroup container<rootfs cpu-limit<" {
		t.Errorf("a load without a server: %s", got)
	}
	if got := arms(p.Loads[1]); got != "host< twin< cgroup<host rootfs<cgroup network<rootfs container<network cpu-limit<" {
		t.Errorf("a load with a server: %s", got)
	}
	if p.Record.Seed == 0 || p.Record.Seed >= 1<<53 {
		t.Errorf("seed %d is none, or not exact in JSON", p.Record.Seed)
	}
	if sum := p.Loads[0].Budget + p.Loads[1].Budget; sum < 59.9 || sum > 60.1 || p.Loads[1].Budget <= p.Loads[0].Budget {
		t.Errorf("budgets %v and %v of 60 s for 6 and 7 arms", p.Loads[0].Budget, p.Loads[1].Budget)
	}
}

// A rung that is OnlyByName is in no experiment that does not name it.
func TestBuildHasWhatIsAskedFor(t *testing.T) {
	c := ladder("")
	c.Rungs = append(c.Rungs, byName("runc", environment.Capabilities{}))
	for _, want := range []struct {
		named []string
		arms  string
	}{
		{nil, "host< twin< cgroup<host rootfs<cgroup container<rootfs cpu-limit<"},
		{[]string{"container", "runc"}, "host< twin< container<host runc<"},
	} {
		e := asked("commit")
		e.Arms = want.named
		p, err := Build(e, c, facts.Host{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := arms(p.Loads[0]); got != want.arms {
			t.Errorf("arms %v: %s, want %s", want.named, got, want.arms)
		}
	}
}

// The container is the question if all other arms are there for its sake.
func TestTheQuestionOfAPlan(t *testing.T) {
	for _, c := range []struct {
		missing string
		named   []string
		want    string
	}{
		{"", nil, "container"},
		{"container", nil, "network"},
		{"", []string{"cgroup", "container"}, "container"},
		{"", []string{"container"}, ""},              // nothing else is asked
		{"", []string{"container", "cpu-limit"}, ""}, // so is the other
		{"", []string{"cpu-limit"}, ""},
	} {
		e := asked("rpc")
		e.Arms = c.named
		p, err := Build(e, ladder(c.missing), facts.Host{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Loads[0].Workload.Question; got != c.want {
			t.Errorf("arms %v without %q: the question is %q, want %q", c.named, c.missing, got, c.want)
		}
	}
}

// Every second block has the question's arms only, if the plan has a question and a first pass.
func TestQuestionBlocks(t *testing.T) {
	for _, c := range []struct {
		named []string
		want  string
	}{
		{nil, "host twin container"},
		{[]string{"cgroup", "container"}, ""},                                   // too few for a first pass
		{[]string{"cgroup", "rootfs", "network", "container", "cpu-limit"}, ""}, // cpu-limit is asked for by name
	} {
		e := asked("rpc")
		e.Arms = c.named
		p, err := Build(e, ladder(""), facts.Host{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.QuestionBlocks(&p.Loads[0]), " "); got != c.want {
			t.Errorf("arms %v: %q, want %q", c.named, got, c.want)
		}
	}
}

// Network, seccomp, capabilities and profile can be chosen of containers only, and a network only
// where a server is reached over it.
func TestBuildContainers(t *testing.T) {
	c := ladder("")
	c.Rungs = append(c.Rungs, byName("runc", environment.Capabilities{Container: true}),
		byName("podman", environment.Capabilities{Container: true, Images: true}),
		byName("chroot", environment.Capabilities{Archive: true}))
	for _, x := range []struct {
		kind string
		arm  experiment.ArmSpec
		says string
	}{
		{"rpc", experiment.ArmSpec{Environment: "runc", Options: record.Options{Network: "bridge", Seccomp: "unconfined"}}, ""},
		{"commit", experiment.ArmSpec{Environment: "runc", Options: record.Options{Capabilities: "none"}}, ""},
		{"commit", experiment.ArmSpec{Environment: "runc", Options: record.Options{Network: "bridge"}}, "no server"},
		{"rpc", experiment.ArmSpec{Environment: "runc", Options: record.Options{Network: "engine"}}, "without an engine"},
		{"commit", experiment.ArmSpec{Environment: "runc", Options: record.Options{Image: "x"}}, "no images"},
		{"commit", experiment.ArmSpec{Environment: "podman", Options: record.Options{Image: "x"}}, "cannot fill"},
		{"commit", experiment.ArmSpec{Environment: "podman", Options: record.Options{Image: "x", Volume: "bind"}}, ""},
		{"commit", experiment.ArmSpec{Environment: "chroot", Options: record.Options{Image: "x"}}, ""},
		{"commit", experiment.ArmSpec{Environment: "chroot"}, "needs an image"},
		{"rpc", experiment.ArmSpec{Environment: "chroot", Options: record.Options{Image: "x", Network: "host"}}, "makes no container"},
		{"rpc", experiment.ArmSpec{Environment: "cgroup", Options: record.Options{Seccomp: "unconfined"}}, "makes no container"},
		{"commit", experiment.ArmSpec{Environment: "runc", Options: record.Options{AppArmor: "default"}}, ""},
		{"commit", experiment.ArmSpec{Environment: "cgroup", Options: record.Options{AppArmor: "mine"}}, "makes no container"},
	} {
		e := asked(x.kind)
		x.arm.Name = "x"
		e.Named = []experiment.ArmSpec{{Name: "host", Environment: "host"}, x.arm}
		e.Workloads[0].Baseline = "host"
		p, err := Build(e, c, facts.Host{}, nil)
		if x.says != "" {
			if err == nil || !strings.Contains(err.Error(), x.says) || hint.Of(err) == "" {
				t.Errorf("%+v: %v, want an error that says %q", x.arm, err, x.says)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		a := p.Loads[0].Arms[2]
		want := environment.Container{Network: x.arm.Network, Seccomp: x.arm.Seccomp, Capabilities: x.arm.Capabilities, AppArmor: x.arm.AppArmor, Image: x.arm.Image}
		if a.Container != want || a.Arm.Network != want.Network || a.Shares != "" {
			t.Errorf("%+v", a)
		}
	}
}

func noPort(c environment.Container) error {
	if c.Network == environment.NetworkPublished {
		return hint.New(errors.New("no port"), "network: host")
	}
	return nil
}

// A server is reached at a published port unless another network was chosen. An environment that
// cannot publish ports is left out of that load's plan, not of other loads'.
func TestBuildPublished(t *testing.T) {
	c := ladder("")
	c.Rungs = append(c.Rungs, byName("podman", environment.Capabilities{Container: true, Refuses: noPort}))
	for _, x := range []struct {
		kind, network string
		left          bool
	}{{"rpc", "", true}, {"commit", "", false}, {"rpc", "published", true}, {"rpc", "host", false}} {
		e := asked(x.kind)
		e.Workloads[0].Baseline, e.Arms = "host", []string{"host", "podman"}
		if x.network != "" {
			e.Named = []experiment.ArmSpec{{Name: "host", Environment: "host"}, {Name: "podman", Environment: "podman", Options: record.Options{Network: x.network}}}
		}
		p, err := Build(e, c, facts.Host{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if left := len(p.Left) == 1 && said.English(p.Left[0].Reason) == "no port" && said.English(p.Left[0].Remedy) == "network: host"; left != x.left {
			t.Errorf("%+v: left out %+v", x, p.Left)
		}
	}
}

func TestBuildLeavesOutByName(t *testing.T) {
	p, err := Build(asked("commit"), ladder("rootfs"), facts.Host{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := arms(p.Loads[0]); got != "host< twin< cgroup<host container<cgroup cpu-limit<" {
		t.Errorf("without rootfs: %s", got)
	}
	if len(p.Left) != 1 || p.Left[0].Arm != "rootfs" || said.English(p.Left[0].Reason) != "no rootfs here" || said.English(p.Left[0].Remedy) != "install rootfs" {
		t.Errorf("left out: %+v", p.Left)
	}
}

func TestBuildNeedsItsBaseline(t *testing.T) {
	_, err := Build(asked("commit"), ladder("host"), facts.Host{}, nil)
	if !errors.Is(err, facts.ErrUnsupported) || hint.Of(err) != "install host" {
		t.Errorf("error %v, hint %q", err, hint.Of(err))
	}
}

func TestBuildKeepsTheBaselineOfAChoice(t *testing.T) {
	e := asked("commit")
	e.Arms = []string{"container"}
	p, err := Build(e, ladder(""), facts.Host{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := arms(p.Loads[0]); got != "host< twin< container<host" {
		t.Errorf("host and container: %s", got)
	}
}

// A volume that the host cannot have is refused with a remedy.
func TestBuildNeedsItsVolume(t *testing.T) {
	for word, remedy := range map[string]string{"dir:/dev/null": "make a file system on it", "dir:/no/such/place": "mount it first"} {
		e := asked("commit")
		e.Volume = word
		_, err := Build(e, ladder(""), facts.Host{Volumes: volume.Supports(facts.Host{}, word)}, nil)
		if err == nil || !strings.Contains(err.Error(), "volume "+word) || !strings.Contains(hint.Of(err), remedy) {
			t.Errorf("%s: %v (%s)", word, err, hint.Of(err))
		}
	}
}
