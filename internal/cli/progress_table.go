package cli

import (
	"regexp"
	"runtime"
	"time"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/record"
)

// answerSoFar computes the answer of a run that is going on, from the lines that the run keeps for its own
// decisions. It is used by the thread of the run alone, while no window is open.
type answerSoFar struct {
	plan    record.Plan
	lines   map[string][]record.Line // by workload
	effects *record.Effects          // nil: nothing to print yet
	ended   time.Time                // of the last computation
	took    time.Duration
}

// mostLinesSoFar bounds the time and memory of the table: 20 000 blocks take a tenth of a second. A run with
// more has narrow intervals, and keeps the last table.
const mostLinesSoFar = 20_000

// shareSoFar is the part of the time that computing the answer may take.
const shareSoFar = 0.02

// add takes the lines of a workload so far, and computes the answer again if it has time for that. Its garbage is
// collected at once, not within a window.
func (a *answerSoFar) add(m *record.Manifest, load record.Workload, lines []record.Line) {
	if a.lines == nil {
		a.lines = map[string][]record.Line{}
	}
	a.lines[load.Name] = lines
	began := time.Now()
	if float64(began.Sub(a.ended))*shareSoFar < float64(a.took) {
		return
	}
	r := record.Result{Plan: a.plan, Manifest: *m, Running: true}
	r.Plan.Workloads = nil // those without a line would be skipped ones
	for _, w := range a.plan.Workloads {
		if len(a.lines[w.Name]) > 0 {
			r.Plan.Workloads = append(r.Plan.Workloads, w)
			r.Lines = append(r.Lines, a.lines[w.Name]...)
		}
	}
	if len(r.Lines) > mostLinesSoFar {
		return
	}
	if e, err := analysis.SoFar(&r); err == nil {
		a.effects = e
	}
	runtime.GC()
	a.ended = time.Now()
	a.took = a.ended.Sub(began)
}

// table formats the answer for a terminal, in lines that are narrower than width; 0: of unknown width.
func (a *answerSoFar) table(in report.Language, width int, color bool) []string {
	if a.effects == nil || a.effects.Answer == nil || len(a.effects.Answer.Tables) == 0 {
		return nil
	}
	return in.Live(a.effects, report.Options{Width: max(width-1, 0), Color: color})
}

// has says whether the table has a row for an arm of a workload.
func (a *answerSoFar) has(workload, arm string) bool {
	if a.effects == nil || a.effects.Answer == nil {
		return false
	}
	for _, t := range a.effects.Answer.Tables {
		for _, r := range t.Rows {
			if r.Workload == workload && r.Arm == arm {
				return true
			}
		}
	}
	return false
}

// attributes matches the colours of a line.
var attributes = regexp.MustCompile(`\x1b\[[\d;]*m`)

// columnsOf is the width of a drawn line without its colours.
func columnsOf(line string) int { return report.Width(attributes.ReplaceAllString(line, "")) }

// rowsOf is how many rows drawn lines take on a terminal that is width columns wide now: one that became
// narrower has wrapped them.
func rowsOf(lines []string, width int) (rows int) {
	for _, l := range lines {
		rows++
		if width > 0 {
			rows += max(0, columnsOf(l)-1) / width
		}
	}
	return rows
}

// cut shortens a text to a width in columns; 0: no limit. The last column stays free, because
// some terminals wrap there.
func cut(text string, width int) string {
	if width <= 0 || report.Width(text) < width {
		return text
	}
	at := 0
	for i, r := range text {
		if at += report.RuneWidth(r); at > width-2 {
			return text[:i] + "…"
		}
	}
	return text
}
