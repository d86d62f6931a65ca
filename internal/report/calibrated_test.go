package report

import (
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/record"
)

// The calibration that a record holds is told among what a sceptic asks, in the text
// with everything and on the page, and not in the summary.
func TestCalibratedIsTold(t *testing.T) {
	e := richRun()
	e.Calibrated = &record.Calibrated{Started: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), Kernel: "6.1",
		Covered: record.Proportion{Count: 19, Of: 20}, FalsePositives: record.Proportion{Count: 1, Of: 6},
		Smallest: []record.SmallestLoss{{Seconds: 60, Loss: 0.0213}, {Seconds: 600, Loss: 0.007}}}
	const want = "2026-11-20: 19 of 20 planted losses covered, 1 of 6 arms without one found to differ; arithmetic shows a loss of 2.1 % in 60 s, 0.7 % in 10 min (kernel 6.1 then)"
	if got := told(t, e, 100); !strings.Contains(got, want) {
		t.Errorf("the text has not %q:\n%s", want, got)
	}
	var page, short strings.Builder
	if err := english.HTML(&page, answered(e), Source{}); err != nil {
		t.Fatal(err)
	}
	if err := english.Text(&short, answered(e), Options{}); err != nil {
		t.Fatal(err)
	}
	if got := strings.ReplaceAll(page.String(), "\u00a0", " "); !strings.Contains(got, want) {
		t.Error("the page does not tell it")
	}
	if strings.Contains(short.String(), "calibrated") {
		t.Error("the summary tells it")
	}
	e.Host.Kernel = "6.1"
	if strings.Contains(told(t, e, 100), "then)") {
		t.Error("the kernel is the same")
	}
}
