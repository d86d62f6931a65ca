package cli

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/record"
)

// smallResult is a plan and a record of these arms in two launches; change changes each window.
// With three arms the permutation test takes most of the time.
func smallResult(t testing.TB, arms []record.Arm, change func(n int, b *record.Block, w *record.Window)) (plan, lines []byte) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "result")
	w, err := record.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	p := record.Plan{Schema: record.PlanSchema, Experiment: "small", Margin: 0.01, Precision: 0.01, Workloads: []record.Workload{{
		Name: "oltp", Kind: "oltp", Primary: "throughput", Baseline: "host", Metrics: []string{"throughput", "p99", "cpu_per_op"},
		Arms: arms,
	}}}
	began := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
	all := []record.Line{{Time: began, Run: &record.Run{Schema: record.RecordSchema, ID: "r1", Seed: 3}},
		{Time: began, Pilot: &record.Pilot{Workload: "oltp", Window: 0.2, Discard: 0.02, Pause: "freezer v2"}}}
	for n := range 8 {
		b := &record.Block{Workload: "oltp", Generation: n / 4, Number: n % 4}
		for i, arm := range arms {
			ops := uint64(1000 - 30*i + int(20*math.Sin(float64(5*n+i))))
			w := record.Window{Arm: arm.Name, Start: float64(3*n+i) * 0.22, Seconds: 0.2, Ops: ops, First: ops / 2, FirstSeconds: 0.1,
				Probes: map[string]record.Value{"cpu.used": record.Number(0.1), "cpu.throttled": record.Missing(record.InProse("no quota"))}}
			change(3*n+i, b, &w)
			b.Windows = append(b.Windows, w)
		}
		all = append(all, record.Line{Time: began.Add(time.Duration(n) * time.Second), Block: b})
	}
	all = append(all, record.Line{Time: began, Check: &record.Check{Workload: "oltp", Kind: "transparency", Rotated: 5000, Steady: 5010}},
		record.Line{Time: began, End: &record.End{Reason: "budget"}})
	if err := errors.Join(record.WriteJSON(dir, record.PlanFile, p), w.Append(all...)); err != nil {
		t.Fatal(err)
	}
	plan, planErr := os.ReadFile(filepath.Join(dir, record.PlanFile))
	lines, err = os.ReadFile(filepath.Join(dir, record.RecordFile))
	if err := errors.Join(planErr, err); err != nil {
		t.Fatal(err)
	}
	return plan, lines
}

var (
	hostAlone   = record.Arm{Name: "host"}
	hostAgain   = record.Arm{Name: "twin", Twin: true}
	inContainer = record.Arm{Name: "container", Step: "host", Remainder: true}
)

func unchanged(int, *record.Block, *record.Window) {}

// printed prints a result in all forms and returns its effects; nil: it was refused.
func printed(t *testing.T, dir string, plan, lines []byte) *record.Effects {
	t.Helper()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, record.PlanFile), plan, 0o600),
		os.WriteFile(filepath.Join(dir, record.RecordFile), lines, 0o600)); err != nil {
		t.Fatal(err)
	}
	result, err := record.Scan(dir)
	if err != nil {
		return nil
	}
	e, err := analysis.Analyse(result)
	if err != nil {
		return nil
	}
	for _, form := range forms {
		if form.print != nil {
			_ = form.print(io.Discard, e) // an error is allowed: JSON has no NaN
		}
	}
	_ = report.In(messages.In(messages.English)).Text(io.Discard, e, report.Options{Verbose: true})
	_ = report.In(messages.In(messages.English)).Markdown(io.Discard, e, nil)
	_ = (&console{}).page(io.Discard, result, e)
	return e
}

// No result of somebody else makes any form crash.
func FuzzReport(f *testing.F) {
	plan, lines := smallResult(f, []record.Arm{hostAlone, inContainer}, unchanged)
	f.Add(plan, lines)
	plan, lines = smallResult(f, []record.Arm{hostAlone, hostAgain, inContainer}, unchanged)
	f.Add(plan, lines)
	f.Add([]byte(`{"schema":"`+record.PlanSchema+`"}`), []byte("{}\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, plan, lines []byte) { printed(t, dir, plan, lines) })
}

// No numbers of windows make a form crash, and an interval that is not finite gives no verdict
// but undecided.
func FuzzWindows(f *testing.F) {
	f.Add(uint8(1), uint8(4), 0.2, 0.0, 0.1, 0.1, uint64(1000), uint64(500), 0, 0, "host")
	f.Add(uint8(3), uint8(1), 1e308, -1.0, 0.0, -1e308, uint64(math.MaxUint64), uint64(0), -1, math.MaxInt, "")
	f.Add(uint8(0), uint8(255), 0.0, 0.0, 0.0, 0.0, uint64(0), uint64(0), 0, 0, "container")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, from, every uint8, seconds, start, first, cpu float64, ops, half uint64, generation, number int, arm string) {
		for _, v := range []float64{seconds, start, first, cpu} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return // JSON has no such number
			}
		}
		plan, lines := smallResult(t, []record.Arm{hostAlone, inContainer}, func(n int, b *record.Block, w *record.Window) {
			if n < int(from) || every > 0 && n%int(every) != 0 {
				return
			}
			b.Generation, b.Number = generation, number
			w.Seconds, w.Start, w.FirstSeconds, w.Ops, w.First, w.Arm = seconds, start, first, ops, half, arm
			w.Probes["cpu.used"] = record.Number(cpu)
		})
		e := printed(t, dir, plan, lines)
		if e == nil {
			return
		}
		for _, x := range e.Effects {
			if r := x.Typical; r != nil && x.Verdict != record.Invalid && !(r.Low <= r.Ratio && r.Ratio <= r.High) {
				t.Errorf("%s of %s: %+v, %v", x.Metric, x.Arm, *r, x.Verdict)
			}
		}
	})
}

// The small result has effects, so that the fuzzer has something to change.
func TestSmallResult(t *testing.T) {
	plan, lines := smallResult(t, []record.Arm{hostAlone, hostAgain, inContainer}, unchanged)
	e := printed(t, t.TempDir(), plan, lines)
	if e == nil || len(e.Effects) == 0 || e.Effects[0].Typical == nil {
		t.Errorf("%+v", e)
	}
}
