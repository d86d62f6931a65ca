package cli

import (
	"fmt"
	"slices"

	"github.com/tarelab/tare/internal/base/messages"
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

// sized is a line whose names have at most so many columns.
type sized func(columns int) string

// longestName is the longest name that a workload or an arm can have.
const longestName = 40

// lines are what an event says beside its phase: the first answer that it brings, and its note. The event's own workload has
// an answer as soon as its interval is narrow. A workload whose turn the event ends has one with any interval.
func (f *firstAnswers) lines(e run.Event, in messages.Catalog) (all []sized) {
	before := f.last
	f.last = e
	var text sized
	if before.Workload != e.Workload || before.Pass != e.Pass {
		text = f.tell(before, vague, in)
	}
	if text == nil {
		text = f.tell(e, narrowFirst, in)
	}
	if text != nil {
		all = append(all, text)
	}
	if e.Note.Key != "" {
		all = append(all, func(columns int) string {
			return in.Text("join.colon", "subject", cut(e.Workload, columns+1), "what", in.Say(e.Note))
		})
	}
	return all
}

// tell is the line about the subject, if its half-width is below widest; else nil.
func (f *firstAnswers) tell(e run.Event, widest float64, in messages.Catalog) sized {
	subject, ok := f.subjects[e.Workload]
	if !ok {
		return nil
	}
	at := slices.IndexFunc(e.Arms, func(a run.Running) bool { return a.Arm == subject && a.Half < widest })
	if at < 0 {
		return nil
	}
	delete(f.subjects, e.Workload)
	a := e.Arms[at]
	return func(columns int) string {
		return in.Text("progress.first", "load", cut(e.Workload, columns+1), "arm", cut(a.Arm, columns+1), "effect", effect(a))
	}
}

// stamp puts the seconds since the start of the run before a text.
func stamp(seconds float64, text string) string { return fmt.Sprintf("%5.0f s  %s", seconds, text) }
