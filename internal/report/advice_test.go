package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/tarelab/tare/record"
)

// advices are one with a proved remedy, one where nothing helps, and one where nothing is lost.
func advices() map[string]*record.Advice {
	ratio := func(x float64) *record.Ratio { return &record.Ratio{Ratio: x, Low: x * 0.98, High: x * 1.02} }
	share := func(x float64) *record.Share { return &record.Share{Share: x, Low: x - 0.03, High: x + 0.03} }
	set := func(key record.SettingKey, value, was string) (apply, undo []record.RemedySetting) {
		return []record.RemedySetting{{On: record.OnNeighbour, Key: key, Value: value}}, []record.RemedySetting{{On: record.OnNeighbour, Key: key, Value: was}}
	}
	remedy := func(name, does, gives string, gained, regained, kept float64, word record.AnswerWord, key record.SettingKey, value, was string) record.Candidate {
		c := record.Candidate{Remedies: []string{name}, Does: []string{does}, Arm: name, For: []record.LossCause{record.LossNeighbourCPU}, Gives: []string{gives}}
		c.Apply, c.Undo = set(key, value, was)
		c.Result = &record.RemedyResult{Gained: ratio(gained), Left: ratio(gained * 0.3), Regained: share(regained), Kept: ratio(kept), Launches: 6, Answer: record.Says{Word: word, Bound: 0.02}}
		return c
	}
	host := record.Host{Name: "db7", CPUs: 2}
	stages := []record.AdviceStage{
		{Kind: record.StageLoss, Dir: "1-loss", Seconds: 45, Seed: 1}, {Kind: record.StageCandidates, Workload: "oltp", Dir: "2-candidates", Seconds: 67, Seed: 2},
		{Kind: record.StageProof, Workload: "oltp", Dir: "3-proof", Seconds: 60, Seed: 3},
	}
	best := 0
	proved := record.AdviceLoss{
		Workload: "oltp", Metric: "throughput", Arm: "none", Baseline: "alone", Neighbour: "hogs", Lost: *ratio(0.3), Standing: record.StandingProved, Remedy: &best,
		Causes: []record.CauseShare{
			{Causes: []record.LossCause{record.LossNeighbourCPU}, Share: share(0.86), By: record.ByParts, Evidence: []record.Evidence{{Metric: "cpu.wait", Unit: "s", Per: "second", Arm: 3.1, Against: 0.02}}},
			{Causes: []record.LossCause{record.LossNeighbourCaches}, Share: share(0.14), By: record.ByParts},
		},
		Candidates: []record.Candidate{
			remedy("cpu-idle", "the neighbour runs only on CPU time that nobody else wants", "the neighbour's turn while the load works", 3.2, 0.96, 0.05, record.SaysFaster, record.KeyCPUIdle, "1", "0"),
			remedy("cpu-quota", "the neighbour uses at most a quarter of the CPU time", "CPU time that nobody uses", 2.1, 0.5, 0.4, record.SaysFaster, record.KeyCPUMax, "0.5", ""),
			remedy("sched-idle", "the neighbour's threads have the policy SCHED_IDLE", "the neighbour's turn", 1.001, 0.0, 1, record.SaysNoDifference, record.KeySched, "idle", ""),
			{Remedies: []string{"qos-level"}, Does: []string{"offline"}, Arm: "qos-level", Skipped: &record.Left{Arm: "qos-level", Reason: "this kernel's control groups have no cpu.qos_level", Remedy: "a kernel of openEuler"}},
		},
	}
	proved.Proof = &record.RemedyResult{Gained: ratio(3.2), Left: ratio(0.97), Regained: share(0.957), Kept: ratio(0.05), Launches: 9, Answer: record.Says{Word: record.SaysFaster}}
	helpless := proved
	helpless.Remedy, helpless.Proof, helpless.Standing, helpless.Reason = nil, nil, record.StandingNoHelp, "every remedy that this host can have was measured, and none is faster"
	helpless.Candidates = proved.Candidates[2:]
	helpless.Causes = []record.CauseShare{{Causes: []record.LossCause{record.LossNeighbourCPU, record.LossNeighbourDisk}, Share: share(1), By: record.ByDesign, Tells: "arms with cpu.idle, io.max"}}
	kept := []record.AdviceNoLoss{{Workload: "rpc", Arm: "none", Answer: record.Says{Word: record.SaysUndecided, Seconds: 60}}}
	return map[string]*record.Advice{
		"proved":   {Experiment: "colocation", Host: host, Seconds: 175, Margin: 0.02, Stages: stages, Losses: []record.AdviceLoss{proved}, NotLost: kept},
		"helpless": {Experiment: "colocation", Host: host, Seconds: 110, Margin: 0.02, Stages: stages[:2], Losses: []record.AdviceLoss{helpless}},
		"even":     {Experiment: "colocation", Host: host, Seconds: 45, Margin: 0.02, Stages: stages[:1], NotLost: []record.AdviceNoLoss{{Workload: "rpc", Arm: "none", Answer: record.Says{Word: record.SaysNoLoss, Bound: 0.01}}}},
		"open":     {Experiment: "colocation", Host: host, Seconds: 45, Margin: 0.02, Stages: stages[:1], NotLost: kept},
	}
}

// The proof sheet is as it was, in all forms, and short.
func TestAdvice(t *testing.T) {
	for name, a := range advices() {
		var short, long, markdown bytes.Buffer
		for _, err := range []error{
			Print(&short, english.Advice(a, false), Options{Width: 100}), Print(&long, english.Advice(a, true), Options{Width: 100}), PrintMarkdown(&markdown, english.Advice(a, false)),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		golden(t, "advice."+name+".txt", short.Bytes())
		golden(t, "advice."+name+".full.txt", long.Bytes())
		golden(t, "advice."+name+".md", markdown.Bytes())
		if n := strings.Count(short.String(), "\n"); n > 25 {
			t.Errorf("%s has %d lines:\n%s", name, n, short.String())
		}
	}
}

// Every cause has words.
func TestLossCausesHaveWords(t *testing.T) {
	for _, c := range record.LossCauses() {
		if _, ok := lossCauses[c]; !ok {
			t.Errorf("no words for %s", c)
		}
	}
}

// Lines to be typed are whole and keep their spaces, however narrow the terminal is.
func TestLinesAreWhole(t *testing.T) {
	a := advices()["proved"]
	c := &a.Losses[0].Candidates[0]
	c.Apply = []record.RemedySetting{{On: record.OnLoad, Key: record.KeyNetwork, Value: "host"}, {On: record.OnLoad, Key: record.KeyCPUMax, Value: "2"}}
	c.Undo = []record.RemedySetting{{On: record.OnLoad, Key: record.KeyCPUMax, Value: "1.5"}, {On: record.OnLoad, Key: record.KeyNetwork, Value: "bridge"}}
	var out, markdown bytes.Buffer
	if err := errors.Join(Print(&out, english.Advice(a, true), Options{Width: 60}), PrintMarkdown(&markdown, english.Advice(a, true))); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"docker run --detach --name NAME --network=host --cpus=2 IMAGE\n", "  NAME:\n", "    network_mode: host\n", "    ports: !reset null\n",
		`--patch '{"spec":{"template":{"spec":{"containers":[{"name":"NAME","resources":{"limits":{"cpu":"2"}}}],"dnsPolicy":"ClusterFirstWithHostNet","hostNetwork":true}}}}'` + "\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
		if !strings.Contains(markdown.String(), want) {
			t.Errorf("no %q in\n%s", want, markdown.String())
		}
	}
}
