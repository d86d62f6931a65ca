package cli

import (
	"fmt"

	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/plan"
)

// telling is the half-width, in logs, from which on a first answer is worth a line
// at once; a wider one is told when its turn is over.
const telling = 0.1

// firstAnswers finds the first answer about the subject of each workload, once.
type firstAnswers struct {
	subjects map[string]string // the subject of a workload; none: no entry
	last     run.Event         // of the workload whose turn it is
}

// expect takes the subjects from the plan.
func (f *firstAnswers) expect(p *plan.Plan) {
	f.subjects = map[string]string{}
	for i := range p.Loads {
		if s := p.Loads[i].Subject; s != "" {
			f.subjects[p.Loads[i].Name] = s
		}
	}
}

// line is the first answer that an event brings: of its own workload as soon as the
// interval is narrow, of the one whose turn it ends else. Empty: none.
func (f *firstAnswers) line(e run.Event) string {
	before := f.last
	f.last = e
	if before.Workload != e.Workload || before.Pass != e.Pass {
		if text := f.tell(before, vague); text != "" {
			return text
		}
	}
	return f.tell(e, telling)
}

// tell is the line about an event whose interval is narrower than widest.
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

// stamp prints the seconds since a run began before what was known then.
func stamp(seconds float64, text string) string { return fmt.Sprintf("%5.0f s  %s", seconds, text) }
