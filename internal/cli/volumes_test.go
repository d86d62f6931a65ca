package cli

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// planned plans a preset with flags for a host that has control groups, namespaces and every
// volume.
func planned(t *testing.T, preset string, volumes ...string) *plan.Plan {
	t.Helper()
	words := catalog.Words()
	f := experimentFlags{Experiment: preset, Volume: volumes}
	src, ok := experiment.Preset(preset)
	if !ok {
		t.Fatalf("no preset %s", preset)
	}
	e, err := experiment.Parse(preset+".yaml", src, words)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.apply(e, words); err != nil {
		t.Fatalf("%s: %v", preset, err)
	}
	host := facts.Host{Root: true, Groups: &cgroup.Tree{}, Features: map[string]facts.Support{}, Volumes: map[string]facts.Support{}}
	for _, feature := range facts.Features() {
		host.Features[feature] = facts.Supported()
	}
	for _, v := range e.Volumes() {
		host.Volumes[v] = facts.Supported()
	}
	p, err := plan.Build(e, catalog.Plan(nil), host, nil)
	if err != nil {
		t.Fatalf("%s: %v", preset, err)
	}
	return p
}

// on formats the arms of a load, each with its environment and its volume.
func on(l plan.Load) string {
	var out []string
	for _, a := range l.Arms {
		if !a.Twin {
			out = append(out, a.Name+"="+a.Env.Name()+"/"+a.Volume.Name())
		}
	}
	return strings.Join(out, " ")
}

// Several named volumes replace a preset's arms in each workload. The first is the baseline.
func TestPresetsAcrossVolumes(t *testing.T) {
	for preset, want := range map[string]struct{ environment, loads string }{
		"storage":       {"host", "random sequential-read sequential-write random-read random-write read-only write-only read-write delete"},
		"mysql-volumes": {"rootfs", "write-only read-write"},
	} {
		p := planned(t, preset, "dir:/ssd", "nfs:filer:/export,vers=4.2", "rbd:rbd/tare")
		arms := strings.ReplaceAll("dir-ssd=ENV/dir-ssd nfs-filer-export-vers-4-2=ENV/nfs-filer-export-vers-4-2 rbd-rbd-tare=ENV/rbd-rbd-tare", "ENV", want.environment)
		var loads []string
		for _, l := range p.Loads {
			loads = append(loads, l.Name)
			if got := on(l); got != arms || !l.Arms[1].Twin {
				t.Errorf("%s, %s: %s", preset, l.Name, got)
			}
		}
		if got := strings.Join(loads, " "); got != want.loads || len(p.Left) != 0 {
			t.Errorf("%s: %s, left out %v", preset, got, p.Left)
		}
	}
}

// One named volume is under every arm: what do container and pod lose on the same export?
func TestStudyOnOneVolume(t *testing.T) {
	scripts := map[string]string{}
	for _, preset := range []string{"storage"} {
		p := planned(t, preset, "nfs:filer:/export")
		for _, l := range p.Loads {
			if got := on(l); !strings.HasPrefix(got, "host=host/nfs-filer-export container=container/nfs-filer-export") {
				t.Errorf("%s, %s: %s", preset, l.Name, got)
			}
			scripts[l.Name] = l.Params["script"] + l.Params["rw"]
			if l.Params["rw"] != "" && (l.Params["engine"] != "libaio" || l.Params["iodepth"] != "128" || l.Params["bs"] != "4KiB" || l.Params["direct"] != "on") {
				t.Errorf("%s: %v", l.Name, l.Params)
			}
		}
		if !slices.ContainsFunc(p.Left, func(x record.Left) bool { return x.Arm == "pod" }) {
			t.Errorf("%s: the pod is neither there nor left out by name: %v", preset, p.Left)
		}
	}
	for load, want := range map[string]string{"random": "randrw", "sequential-read": "read", "sequential-write": "write", "random-read": "randread",
		"random-write": "randwrite", "read-only": "oltp_read_only", "write-only": "oltp_write_only", "read-write": "oltp_read_write", "delete": "oltp_delete"} {
		if scripts[load] != want {
			t.Errorf("%s is %q, want %q", load, scripts[load], want)
		}
	}
}

// A preset may name directories that a host lacks: these arms are skipped. A directory that --volume names
// must be there.
func TestMissingDirectories(t *testing.T) {
	e, err := parsePreset("mysql-volumes")
	if err != nil {
		t.Fatal(err)
	}
	const missing = "dir:/no/such/directory"
	for i, a := range e.Named {
		if a.Name == "mounted" {
			e.Named[i].Volume = missing
		}
	}
	host, err := inspectHost(e, nil, nil, "")
	if err != nil {
		t.Errorf("an arm of the preset: %v", err)
	}
	if s := host.Volumes[missing]; s.Answer != facts.No || s.Remedy.IsZero() {
		t.Errorf("the arm is not skipped with a remedy: %+v", s)
	}
	var usage *usageError
	if _, err = inspectHost(e, []string{"bind", missing}, nil, ""); !errors.As(err, &usage) || !strings.Contains(err.Error(), "volume "+missing) {
		t.Errorf("--volume: %v", err)
	}
	e.Volume = missing
	if _, err = inspectHost(e, nil, nil, ""); !errors.As(err, &usage) {
		t.Errorf("volume of the experiment: %v", err)
	}
}

// In an experiment on volumes of pods each --volume is one more arm. Of others a volume of pods replaces
// the arms, and the baseline becomes a pod. The pods that the cluster is asked about are those of the plan.
func TestVolumesOfPods(t *testing.T) {
	words := catalog.Words()
	for _, c := range []struct {
		preset   string
		volumes  []string
		arms, of string
	}{
		{"pod-volumes", nil, "emptydir hostpath", "besteffort:volume=emptydir besteffort:volume=hostpath"},
		{"pod-volumes", []string{"pvc:fast"}, "emptydir hostpath pvc-fast", "besteffort:volume=emptydir besteffort:volume=hostpath besteffort:volume=pvc:fast"},
		{"pod-volumes", []string{"pvc:fast", "pvc:slow"}, "emptydir hostpath pvc-fast pvc-slow",
			"besteffort:volume=emptydir besteffort:volume=hostpath besteffort:volume=pvc:fast besteffort:volume=pvc:slow"},
		{"postgres-layers", []string{"emptydir", "pvc:fast"}, "emptydir pvc-fast", "besteffort:volume=emptydir besteffort:volume=pvc:fast"},
	} {
		f := experimentFlags{Experiment: c.preset, Volume: c.volumes}
		e, err := f.parse(words)
		if err == nil {
			err = f.apply(e, words)
		}
		if err != nil {
			t.Fatalf("%s: %v", c.preset, err)
		}
		var arms, of []string
		for _, a := range e.ArmsOf(&e.Workloads[0]) {
			arms = append(arms, a.Name)
		}
		for _, p := range podsOf(e, nil) {
			if word := p.Name() + ":" + p.Title().Value("levels").(string); !slices.Contains(of, word) {
				of = append(of, word)
			}
		}
		if strings.Join(arms, " ") != c.arms || strings.Join(of, " ") != c.of || e.Workloads[0].Baseline != "emptydir" {
			t.Errorf("%s %v: baseline %s, arms %v, pods %v", c.preset, c.volumes, e.Workloads[0].Baseline, arms, of)
		}
	}
	f := experimentFlags{Experiment: "pod-volumes", Volume: []string{"emptydir"}}
	e, err := f.parse(words)
	if err == nil {
		err = f.apply(e, words)
	}
	if err == nil || !strings.Contains(err.Error(), "given twice") {
		t.Errorf("an emptyDir twice: %v", err)
	}
}
