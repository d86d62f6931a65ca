package compare

import (
	"math"
	"testing"

	"github.com/tarelab/tare/record"
)

// The mean of two changes lies between them on the scale of logarithms, its standard error is half the
// root of the sum of squares, and one workload without a change leaves none.
func TestMeans(t *testing.T) {
	of := func(workload string, ratio float64) record.Change {
		return record.Change{Workload: workload, Metric: "throughput", Arm: "container", Baseline: "host", Primary: true, Subject: true,
			Before: &record.Ratio{Ratio: 1}, After: &record.Ratio{Ratio: ratio}, Change: &record.Ratio{Ratio: ratio, SE: 0.03, DF: 10}, Bound: &record.Ratio{Ratio: ratio}}
	}
	all := []record.Change{of("a", 0.8), of("b", 1)}
	other := of("a", 0.5)
	other.Subject = false
	m := means(append(all, other), 0.01, map[string]bool{"throughput": true})
	if len(m) != 1 || math.Abs(m[0].Change.Ratio-math.Sqrt(0.8)) > 1e-9 || math.Abs(m[0].Change.SE-0.03/math.Sqrt2) > 1e-9 || math.Abs(m[0].Change.DF-20) > 1e-9 {
		t.Fatalf("%+v", m)
	}
	if !(m[0].Change.Low < m[0].Change.Ratio && m[0].Change.High < 1) {
		t.Errorf("%+v", m[0].Change)
	}
	if !m[0].Verdict.Worse() {
		t.Errorf("11 %% less throughput is %v", m[0].Verdict)
	}
	all[1].Bound = nil
	if m := means(all, 0.01, map[string]bool{"throughput": true}); len(m) != 1 || m[0].Verdict != record.Undecided || m[0].Reason.IsZero() {
		t.Errorf("b has too few launches: %+v", m)
	}
	if one := means(all[:1], 0.01, nil); len(one) != 0 {
		t.Errorf("a mean of one: %+v", one)
	}
	all[1].Change = nil
	if m := means(all, 0.01, nil); len(m) != 1 || m[0].Change != nil || m[0].Reason.IsZero() {
		t.Errorf("without a change of b: %+v", m)
	}
}

// An interval three times as wide as the margin allows takes nine times the time.
func TestNeeded(t *testing.T) {
	c := &record.Comparison{Margin: 0.01, Before: record.Side{Seconds: 100}, After: record.Side{Seconds: 60}, Changes: []record.Change{
		{Primary: true, Subject: true, Change: &record.Ratio{Ratio: 1, Low: 0.97, High: 1.03}},
		{Primary: true, Change: &record.Ratio{Ratio: 1, Low: 0.5, High: 2}},
	}}
	if got := needed(c); math.Abs(got-900) > 1e-6 {
		t.Errorf("%v s", got)
	}
	c.Changes[0].Verdict = record.Slower
	if got := needed(c); got != 0 {
		t.Errorf("decided, and %v s", got)
	}
}

// A version is named once: "crun: 1.8.1", whatever the program prints before it.
func TestNumbers(t *testing.T) {
	got := numbers(map[string]string{
		"crun": "crun version 1.8.1", "fio": "fio-3.33", "stress": "stress 1.0.7", "stress-ng": "stress-ng, version 0.15.06 (gcc 12.2.0)", "mysqld": "8.0.36", "runc": "runc",
	})
	for name, want := range map[string]string{"crun": "1.8.1", "fio": "3.33", "stress": "1.0.7", "stress-ng": "0.15.06 (gcc 12.2.0)", "mysqld": "8.0.36", "runc": "runc"} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
}
