package cli

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/record"
)

// The plain display prints a line for the data and one for each launch, with the question's estimate, none for a block, and
// no control characters.
func TestPlain(t *testing.T) {
	var out bytes.Buffer
	p := &plain{w: &out, left: func() (float64, float64) { return 170, 180 }, questions: map[string]string{"oltp-read-only": "cgroup"}}
	e := measuring()
	p.event(run.Event{Workload: e.Workload, Phase: phasePrepare})
	p.event(run.Event{Workload: e.Workload, Phase: phasePrepare, Loading: "shop.sql:2, 40 s"})
	p.event(run.Event{Workload: e.Workload, Phase: phasePrepare, Loading: "shop.sql:3, 41 s"})
	for e.Generation = range 3 {
		e.Phase, e.Starting = phaseLaunch, 5
		for e.Ready = range 5 {
			p.event(e)
		}
		e.Phase = phaseMeasure
		for e.Block = range 5 {
			p.event(e)
		}
		e.Note = messages.Say("launches.room", "n", 2, "least", 4, "flag", "--budget 3m")
		p.event(e)
		e.Note = messages.Message{}
	}
	want := `   10 s  oltp-read-only: preparing the data, 2 min 50 s left of 3 min
   10 s  oltp-read-only: loading the dump: shop.sql:2, 40 s, 2 min 50 s left of 3 min
   10 s  oltp-read-only: launch 1, 2 min 50 s left of 3 min: cgroup -0.4 % ±0.8 %
   10 s  oltp-read-only: room for 2 of the 4 launches that verdicts need; --budget 3m would do
   10 s  oltp-read-only: launch 2, 2 min 50 s left of 3 min: cgroup -0.4 % ±0.8 %
   10 s  oltp-read-only: room for 2 of the 4 launches that verdicts need; --budget 3m would do
   10 s  oltp-read-only: launch 3, 2 min 50 s left of 3 min: cgroup -0.4 % ±0.8 %
   10 s  oltp-read-only: room for 2 of the 4 launches that verdicts need; --budget 3m would do
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}

// Whatever a run's names and estimates are, in either language no line about a launch is wider than 100 columns, each launch
// has one line, and of all arms it names the question alone.
func TestPlainFits(t *testing.T) {
	name := rapid.StringMatching(`[a-z][a-z0-9-]{0,39}`)
	estimate := rapid.Custom(func(t *rapid.T) run.Running {
		return run.Running{
			Ratio: math.Exp(rapid.Float64Range(-12, 40).Draw(t, "ratio")),
			Half:  rapid.SampledFrom([]float64{0, 1e-6, 0.004, 0.3, 0.69, 0.7, 3, math.Inf(1), math.NaN()}).Draw(t, "half"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		load, arms := name.Draw(t, "load"), rapid.SliceOfNDistinct(name, 1, 9, rapid.ID).Draw(t, "arms")
		l := plan.Load{Workload: record.Workload{Name: load}}
		var all []run.Running
		for _, a := range arms {
			l.Arms = append(l.Arms, plan.PlannedArm{Arm: record.Arm{Name: a}})
			x := estimate.Draw(t, "estimate")
			x.Arm = a
			all = append(all, x)
		}
		question := rapid.SampledFrom(arms).Draw(t, "question")
		l.Subject = question
		total := rapid.Float64Range(1, 4e6).Draw(t, "total")
		left := rapid.Float64Range(-5, total).Draw(t, "left")
		in := messages.In(rapid.SampledFrom([]messages.Language{messages.English, messages.Chinese}).Draw(t, "language"))
		var out bytes.Buffer
		p := &plain{w: &out, in: in, left: func() (float64, float64) { return left, total }}
		p.start(&plan.Plan{Loads: []plan.Load{l}}, "r")
		out.Reset()
		launches := rapid.IntRange(1, 4).Draw(t, "launches")
		for pass := 1; pass <= 2; pass++ {
			for g := range launches {
				for _, phase := range []string{phaseLaunch, phaseLaunch, "pilot", "check", phaseMeasure, phaseMeasure} {
					p.event(run.Event{Workload: load, Phase: phase, Pass: pass, Passes: 2, Generation: pass*1000 + g, Arms: all, Blocks: 9})
				}
			}
		}
		checkPlain(t, out.String(), 2*launches, question, arms)
	})
}

// checkPlain checks lines of the plain display.
func checkPlain(t *rapid.T, text string, launches int, question string, arms []string) {
	made := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if report.Width(line) > plainWidth {
			t.Errorf("%d columns: %s", report.Width(line), line)
		}
		if regexp.MustCompile(`launch \d|第 \d+ 次启动`).MatchString(line) {
			made++
		}
		_, after, _ := strings.Cut(line, ":")
		for _, a := range arms {
			if a != question && len(a) > 8 && strings.Contains(after, a) && !strings.Contains(question, a) {
				t.Errorf("%s is in %s", a, line)
			}
		}
	}
	if made != launches {
		t.Errorf("%d lines of %d launches:\n%s", made, launches, text)
	}
}

// A load without a subject is about the first arm that is compared.
func TestAskedArm(t *testing.T) {
	arm := func(name string, twin bool) plan.PlannedArm {
		return plan.PlannedArm{Arm: record.Arm{Name: name, Twin: twin}}
	}
	l := plan.Load{Workload: record.Workload{Baseline: "host"}, Arms: []plan.PlannedArm{arm("host", false), arm("twin", true)}}
	if got := askedArm(&l); got != "" {
		t.Errorf("of a baseline alone: %s", got)
	}
	if l.Arms = append(l.Arms, arm("slow", false), arm("fast", false)); askedArm(&l) != "slow" {
		t.Errorf("%s", askedArm(&l))
	}
	if l.Subject = "fast"; askedArm(&l) != "fast" {
		t.Errorf("%s", fmt.Sprint(askedArm(&l)))
	}
}
