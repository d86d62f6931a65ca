package cli

import (
	"fmt"

	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/plan"
)

// narrowFirst is the half-width, in logarithms, below which a first answer is printed at once. A
// wider one is printed when the workload's turn is over.
const narrowFirst = 0.1

// firstAnswers finds the first answer about the subject of each workload: the arm that its
// question is about.
type firstAnswers struct {
	subjects map[string]string // by workload, until the answer is printed
	last     run.Event
}

// expect sets the subjects from the plan.
func (f *firstAnswers) expect(p *plan.Plan) {
	f.subjects = map[string]string{}
	for i := range p.Loads {
		if s := p.Loads[i].Subject; s != "" {
			f.subjects[p.Loads[i].Name] = s
		}
	}
}

// line is the first answer that an event brings; empty: none. The event's own workload has one as
// soon as its interval is narrow. A workload whose turn the event ends has one with any interval.
func (f *firstAnswers) line(e run.Event) string {
	before := f.last
	f.last = e
	if before.Workload != e.Workload || before.Pass != e.Pass {
		if text := f.tell(before, vague); text != "" {
			return text
		}
	}
	return f.tell(e, narrowFirst)
}

// tell is the line about the subject, if its half-width is below widest; else empty.
func (f *firstAnswers) tell(e run.Event, widest float64) string {
	subject, ok := f.subjects[e.Workload]
	if !ok {
		return ""
	}
	for _, a := range e.Arms {
		if a.Arm == subject && a.Half < widest {
			delete(f.subjects, e.Workload)
			return fmt.Sprintf("%s: %s %s so far", e.Workload, a.Arm, effect(a))
		}
	}
	return ""
}

// stamp puts the seconds since the start of the run before a text.
func stamp(seconds float64, text string) string { return fmt.Sprintf("%5.0f s  %s", seconds, text) }
