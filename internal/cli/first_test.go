package cli

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// ladder is a plan of two loads: one with a real container, one whose top rung is
// rootfs.
func ladder() *plan.Plan {
	arm := func(name, step string, remainder bool) plan.PlannedArm {
		return plan.PlannedArm{Arm: record.Arm{Name: name, Step: step, Remainder: remainder}}
	}
	below := []plan.PlannedArm{arm("host", "", false), arm("twin", "", false), arm("cgroup", "host", false), arm("rootfs", "cgroup", false)}
	return &plan.Plan{
		Record: record.Plan{Experiment: "quick", Budget: 180},
		Loads: []plan.Load{
			{Workload: record.Workload{Name: "oltp"}, Subject: "container", Arms: append(below[:4:4], arm("container", "rootfs", true), arm("cpu-limit", "", false))},
			{Workload: record.Workload{Name: "rpc"}, Subject: "rootfs", Arms: append(below[:4:4], arm("cpu-limit", "", false))},
		},
	}
}

// at is an event of a load in a pass; half is the half-width of its subject's effect.
func at(load string, pass int, arm string, half float64) run.Event {
	return run.Event{
		Workload: load, Number: 1, Of: 2, Pass: pass, Passes: 2, Phase: phaseMeasure, Blocks: 9,
		Arms: []run.Running{{Arm: "cgroup", Ratio: 1, Half: 0.01}, {Arm: arm, Ratio: 0.988, Half: half}},
	}
}

// The first answer about the subject is printed once: when its interval is narrow, or at the end
// of its turn. Subjects without an interval and other arms have none.
func TestFirstAnswers(t *testing.T) {
	var f firstAnswers
	f.expect(ladder())
	var got []string
	for _, e := range []run.Event{
		{Workload: "oltp", Pass: 1, Phase: "launch"},
		at("oltp", 1, "container", math.Inf(1)),
		at("oltp", 1, "container", 0.5),
		at("oltp", 1, "container", 0.034),
		at("oltp", 1, "container", 0.01),
		at("rpc", 1, "cpu-limit", 0.01),
		at("rpc", 1, "rootfs", 0.9),
		at("rpc", 1, "rootfs", 0.2),
		at("oltp", 2, "container", 0.005),
		at("rpc", 2, "rootfs", 0.005),
	} {
		text := ""
		for _, line := range f.lines(e, messages.Catalog{}) {
			text += line(longestName)
		}
		got = append(got, text)
	}
	want := make([]string, 10)
	want[3] = "oltp: container -1.2 % ±3.4 % so far"
	want[8] = "rpc: rootfs -1.2 % ±20.0 % so far"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Both displays show the line, and neither shows the effects of a calibration.
func TestFirstAnswersAreShown(t *testing.T) {
	left := func() (float64, float64) { return 166, 180 }
	const want = "   14 s  oltp: container -1.2 % ±3.4 % so far\n"
	for _, hidden := range []bool{false, true} {
		var out bytes.Buffer
		file, err := os.Create(filepath.Join(t.TempDir(), "screen"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for _, display := range []progress{
			&plain{w: &out, left: left},
			&screen{console: &console{stderr: file, color: "never", getenv: os.Getenv}, left: left},
		} {
			if hidden {
				display = blind{display}
			}
			display.start(ladder(), "r")
			launched := at("oltp", 1, "container", math.Inf(1))
			launched.Phase = phaseLaunch
			display.event(launched)
			display.event(at("oltp", 1, "container", 0.034))
			display.event(at("rpc", 1, "rootfs", math.Inf(1)))
			display.end()
		}
		drawn, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		for where, text := range map[string]string{"plain": out.String(), "screen": string(drawn)} {
			if strings.Contains(text, want) == hidden {
				t.Errorf("%s, hidden %v: %q", where, hidden, text)
			}
			if !strings.Contains(text, "pass 1 of 2") || !strings.Contains(text, "2 min 46 s left of 3 min") {
				t.Errorf("%s: no pass or no time left: %q", where, text)
			}
		}
	}
}
