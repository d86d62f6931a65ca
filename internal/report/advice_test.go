package report

import (
	"bytes"
	"errors"
	"slices"
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
		c := record.Candidate{Remedies: []string{name}, Does: []string{does}, Arm: name, For: []record.LossCause{record.LossNeighbourCPU}, Gives: []record.Said{record.Say(gives)}}
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
			remedy("cpu-idle", "the neighbour runs only on CPU time that nobody else wants", "gives_neighbour_turn", 3.2, 0.96, 0.05, record.SaysFaster, record.KeyCPUIdle, "1", "0"),
			remedy("cpu-quota", "the neighbour uses at most a quarter of the CPU time", "gives_unused_cpu", 2.1, 0.5, 0.4, record.SaysFaster, record.KeyCPUMax, "0.5", ""),
			remedy("sched-idle", "the neighbour's threads have the policy SCHED_IDLE", "gives_neighbour_turn", 1.001, 0.0, 1, record.SaysNoDifference, record.KeySched, "idle", ""),
			{Remedies: []string{"qos-level"}, Does: []string{"offline"}, Arm: "qos-level", Skipped: &record.Left{Arm: "qos-level", Reason: record.InProse("this kernel's control groups have no cpu.qos_level"), Remedy: record.InProse("a kernel of openEuler")}},
		},
	}
	proved.Proof = &record.RemedyResult{Stage: "3-proof", Gained: ratio(3.2), Left: ratio(0.97), Regained: share(0.957), Kept: ratio(0.05), Launches: 9, Answer: record.Says{Word: record.SaysFaster}}
	helpless := proved
	helpless.Remedy, helpless.Proof, helpless.Standing, helpless.Reason = nil, nil, record.StandingNoHelp, record.Say("none_faster")
	helpless.Candidates = proved.Candidates[2:]
	helpless.Causes = []record.CauseShare{{Causes: []record.LossCause{record.LossNeighbourCPU, record.LossNeighbourDisk}, By: record.ByDesign, Tells: record.InProse("arms with cpu.idle, io.max")}}
	both := remedy("cpu-quota", "", "gives_unused_cpu", 2.67, 1.1, 0.4, record.SaysUndecided, record.KeyCPUMax, "0.5", "")
	both.Remedies, both.Arm = []string{"cpu-idle", "cpu-split"}, "both"
	both.Result.Regained = nil
	unproved := proved
	unproved.Standing, unproved.Reason = record.StandingUndecided, record.Say("stages_contradict", "stage", "1-loss", "lost", record.Ratio{Ratio: 0.3, Low: 0.294, High: 0.306}, "stage_again", "3-proof", "lost_again", record.Ratio{Ratio: 0.68, Low: 0.66, High: 0.7})
	unproved.Candidates = append(slices.Clone(proved.Candidates), both)
	unproved.Differs = []string{"neighbour=hogs", "memory=4294967296"}
	noisy := slices.Clone(stages)
	noisy[0].Foreign = 0.9
	noisy[1].Warnings = []record.Warning{{Workload: "oltp", Arm: "none", Text: record.InProse("3 of 73 launches of none were 100 % slower than the others"), Remedy: record.InProse("find out what stalls")}}
	noisy[2].Dropped = &record.Dropped{Windows: 40, WindowsOf: 240, Reasons: map[string]int{record.DropSilent: 40}}
	unfound := helpless
	unfound.Candidates, unfound.Causes, unfound.Standing, unfound.Reason = nil, nil, record.StandingSkipped, record.InProse("no cause is found that a remedy could be for")
	unfound.Differs, unfound.Neighbour = []string{"memory=4294967296"}, ""
	unfound.Excluded = []record.ExcludedCause{{Cause: record.LossMemoryLimit, Evidence: record.Evidence{Metric: "memory.limit_hits", Unit: "1", Per: "second"}}}
	unfound.Grown = []record.Evidence{{Metric: "pressure.io.some", Unit: "s", Per: "operation", Arm: 0.0018, Against: 0.00001}}
	alone := proved
	alone.Causes = []record.CauseShare{
		{Causes: []record.LossCause{record.LossCPULimit}, Share: share(0.83), By: record.ByRemedy, Stage: "2-proof", Evidence: []record.Evidence{{Metric: "cpu.throttled", Unit: "s", Per: "second", Arm: 0.9}}},
		{Causes: []record.LossCause{record.LossServer}, By: record.ByDesign, Evidence: []record.Evidence{{Metric: "disk.flushes", Unit: "1", Per: "operation", Arm: 1.52, Against: 0.55}}},
	}
	alone.Candidates, alone.Differs, alone.Proof = proved.Candidates[:1], []string{"binlog=on", "sync_binlog=1"}, proved.Candidates[0].Result
	doubtful := []record.AdviceNoLoss{{Workload: "rpc", Arm: "none", Answer: record.Says{Word: record.SaysInvalid, Reason: record.InProse("the baseline differs from itself by +13.6 % [+4.4, +23.6]")}}}
	kept := []record.AdviceNoLoss{{Workload: "rpc", Arm: "none", Answer: record.Says{Word: record.SaysUndecided, Seconds: 60}}}
	return map[string]*record.Advice{
		"proved":   {Experiment: "colocation", Host: host, Seconds: 175, Margin: 0.02, Stages: stages, Losses: []record.AdviceLoss{proved}, NotLost: kept},
		"helpless": {Experiment: "colocation", Host: host, Seconds: 110, Margin: 0.02, Stages: stages[:2], Losses: []record.AdviceLoss{helpless}},
		"even":     {Experiment: "colocation", Host: host, Seconds: 45, Margin: 0.02, Stages: stages[:1], NotLost: []record.AdviceNoLoss{{Workload: "rpc", Arm: "none", Answer: record.Says{Word: record.SaysNoLoss, Bound: 0.01}}}},
		"unproved": {Experiment: "colocation", Host: host, Seconds: 175, Margin: 0.02, Stages: noisy, Losses: []record.AdviceLoss{unproved}},
		"unfound":  {Experiment: "colocation", Host: host, Seconds: 45, Margin: 0.02, Stages: stages[:1], Losses: []record.AdviceLoss{unfound}},
		"alone":    {Experiment: "colocation", Host: host, Seconds: 110, Margin: 0.02, Stages: []record.AdviceStage{stages[0], {Kind: record.StageProof, Workload: "oltp", Dir: "2-proof", Seconds: 60}}, Losses: []record.AdviceLoss{alone}},
		"busy":     {Experiment: "colocation", Host: host, Seconds: 110, Margin: 0.02, Stages: noisy[:1], NotLost: doubtful, Left: []record.Left{{Workload: "rpc", Arm: "idle", Reason: record.InProse("it has isolation, and tare advise looks for what helps without")}}},
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
		if name == "proved" {
			golden(t, "advice."+name+".full.txt", long.Bytes())
			golden(t, "advice."+name+".md", markdown.Bytes())
		}
		if n := strings.Count(short.String(), "\n"); n > 25 {
			t.Errorf("%s has %d lines:\n%s", name, n, short.String())
		}
	}
}

// What the proof did not show looks like nothing that was proved: no remedy, no settings, no figure that is regained, no
// lines and no price. Two remedies together have the names of both.
func TestUnprovedRemedy(t *testing.T) {
	for _, standing := range []record.AdviceStanding{record.StandingUndecided, record.StandingNoHelp, record.StandingInvalid, record.StandingSkipped, record.StandingProved} {
		a := advices()["unproved"]
		a.Losses[0].Standing = standing
		for _, details := range []bool{false, true} {
			var out bytes.Buffer
			if err := Print(&out, english.Advice(a, details), Options{Width: 100}); err != nil {
				t.Fatal(err)
			}
			for _, label := range []string{"\n  remedy  ", "\n  settings  ", "\n  regained  ", "\n  price  ", "\n  cpu-idle   neighbour cpu.idle=1", "lines that apply the remedy"} {
				proved := standing == record.StandingProved && (details || !strings.HasPrefix(label, "lines") && !strings.Contains(label, "cpu-idle"))
				if label == "\n  remedy  " && details {
					continue // the head of the table of candidates
				}
				if got := strings.Contains(out.String(), label); got != proved {
					t.Errorf("%s, details %v: %q: %v\n%s", standing, details, label, got, out.String())
				}
			}
			if strings.Contains(out.String(), "both") || !strings.Contains(out.String(), "cpu-idle + cpu-split") {
				t.Errorf("both are not named:\n%s", out.String())
			}
		}
	}
}

// The sheet has the warnings of every stage, what was dropped, and what other processes used, also where nothing is lost.
func TestAdviceHasTheWarnings(t *testing.T) {
	for name, want := range map[string][]string{
		"unproved": {"1-loss: other processes used up to 90 % of the CPUs (cpu.foreign)", "2-candidates, none: 3 of 73 launches", "3-proof: 40 of 240 windows were dropped"},
		"busy":     {"other processes used up to 90 % of the CPUs (cpu.foreign)", "invalid: the baseline differs from itself by +13.6 %", "idle in rpc: skipped: it has isolation"},
	} {
		var out bytes.Buffer
		if err := Print(&out, english.Advice(advices()[name], false), Options{Width: 300}); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%s: no %q in\n%s", name, w, out.String())
			}
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
		"docker run --detach --name NAME --volumes-from NAME-before --network=host --cpus=2 IMAGE\n", "  NAME:\n", "    network_mode: host\n", "    ports: !reset null\n",
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
