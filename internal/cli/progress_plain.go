package cli

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// plain prints a line when data is prepared and one for each launch, with the estimate of the question alone. No line about
// a phase is wider than plainWidth.
type plain struct {
	w         io.Writer
	in        messages.Catalog
	left      func() (left, total float64)
	first     firstAnswers
	questions map[string]string // the arm that each workload is about
	last      string            // workload, phase and launch of the last line
	at        time.Time         // of the last line
}

const (
	// plainWidth is the width of plain lines in columns.
	plainWidth = 100
	// quietFor is the shortest time between two lines about a dump that is being loaded.
	quietFor = 10 * time.Second
)

func (p *plain) start(pl *plan.Plan, dir string) {
	p.first.expect(pl)
	p.questions = map[string]string{}
	for i := range pl.Loads {
		p.questions[pl.Loads[i].Name] = askedArm(&pl.Loads[i])
	}
	p.say(opening(pl, dir, p.in))
}

// askedArm is the arm that a load is about: its subject, or the first arm that is compared; "": none is.
func askedArm(l *plan.Load) string {
	if l.Subject != "" {
		return l.Subject
	}
	if at := slices.IndexFunc(l.Arms, func(a plan.PlannedArm) bool { return a.Name != l.Baseline && !a.Twin }); at >= 0 {
		return l.Arms[at].Name
	}
	return ""
}

func (p *plain) say(text string) { fmt.Fprintln(p.w, export.Terminal(text)) }

// fit prints a text in one line: with whole names, with short names, without the time.
func (p *plain) fit(text func(names int, time bool) string) {
	line := ""
	for _, names := range []int{longestName, 24, 16} {
		if line = export.Clean(text(names, true)); report.Width(line) <= plainWidth {
			break
		}
	}
	if report.Width(line) > plainWidth {
		line = export.Clean(text(16, false))
	}
	fmt.Fprintln(p.w, cut(line, plainWidth+1))
}

func (p *plain) measured(*record.Manifest, record.Workload, []record.Line) {}

func (p *plain) end() {}

func (p *plain) event(e run.Event) {
	left, total := p.left()
	for _, text := range p.first.lines(e, p.in) {
		p.fit(func(names int, _ bool) string { return stamp(total-left, text(names)) })
	}
	if e.Phase != phasePrepare && e.Phase != phaseLaunch {
		return
	}
	state := fmt.Sprint(e.Workload, e.Phase, e.Generation, e.Loading != "")
	if state == p.last && (e.Loading == "" || time.Since(p.at) < quietFor) {
		return
	}
	p.last, p.at = state, time.Now()
	p.fit(func(names int, time bool) string { return stamp(total-left, p.line(e, left, total, names, time)) })
}

// line is about a phase, with names of at most so many columns, and with or without the time that is left.
func (p *plain) line(e run.Event, left, total float64, names int, time bool) string {
	what, rest := p.in.Text("progress.launch", "n", e.Generation+1), ""
	if e.Phase == phasePrepare {
		what = phaseText(e, p.in)
	}
	if time {
		rest = timeLeft(left, total, p.in)
	}
	load := p.in.JoinAll("join.comma", cut(e.Workload, names+1), passOf(e, p.in))
	text := p.in.Text("join.colon", "subject", load, "what", p.in.JoinAll("join.comma", what, rest))
	at := slices.IndexFunc(e.Arms, func(a run.Running) bool { return a.Arm == p.questions[e.Workload] })
	if e.Phase == phaseLaunch && at >= 0 && e.Arms[at].Half < vague {
		text = p.in.Text("join.colon", "subject", text, "what", cut(e.Arms[at].Arm, names+1)+" "+effect(e.Arms[at]))
	}
	return text
}
