package cli

import (
	"context"
	"math"
	"strconv"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/doctor"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// outlook is the noise of this host before a run, and an estimate, from earlier runs, of the precision that the
// run can reach. It is printed and decides nothing. tare doctor, plan and run all have theirs from outlookOf.
type outlook struct {
	noise  string // "shared: other processes use 12 % of the CPU time"
	reach  string // "3 min reach ±2 to 8 %; ±1 % takes hours (by earlier runs here)"
	remedy string // against the noise; empty: none known
	// expected is the bracket in reach; nil: there is none.
	expected *plan.Bracket
}

// leastOutlook is the shortest budget, in seconds, that is worth the two seconds of an
// outlook.
const leastOutlook = 30

// lookAhead watches this host for two seconds. nil: the run is too short, or its arms are not
// on this host. The only error is that of a signal.
func lookAhead(ctx context.Context, p *plan.Plan, in messages.Catalog) (*outlook, error) {
	if p.PodNode != "" || p.Record.Budget < leastOutlook {
		return nil, nil
	}
	n, err := doctor.Look(ctx, noiseTime)
	switch {
	case ctx.Err() != nil:
		return nil, endedBy(ctx, ctx.Err())
	case err != nil:
		return &outlook{noise: in.Text("doctor.unknown", "why", err), reach: outlookOf(p, n, in).reach}, nil
	}
	return outlookOf(p, n, in), nil
}

func outlookOf(p *plan.Plan, n doctor.Noise, in messages.Catalog) *outlook {
	o := &outlook{
		noise:  in.Text("join.colon", "subject", in.Static(n.Word), "what", said.Text(in, n.Because)),
		remedy: in.JoinAll("join.semicolon", each(n.Quieter(), func(remedy record.Said) string { return said.Text(in, remedy) })...),
		reach:  in.Text("outlook.unknown"),
	}
	if tooShort(p, in) != "" { // a width of intervals that no verdict has would be a promise
		o.reach = in.Text("outlook.short")
		return o
	}
	b, ok := p.Expect()
	if !ok {
		return o
	}
	o.expected = &b
	time, half := quantity.Duration(p.Record.Budget), bracket(b, in)
	o.reach = in.Text("outlook.reach", "time", time, "half", half)
	if want := p.Record.Precision; b.High/2 > want {
		o.reach = in.Text("outlook.reach.takes", "time", time, "half", half, "size", quantity.Size(want), "long", in.Text(timeClass(p.TimeFor(want))))
	}
	return o
}

// bracket formats where half-widths are expected: "±2 to 8 %".
func bracket(b plan.Bracket, in messages.Catalog) string {
	low, high := strconv.FormatFloat(100*b.Low, 'g', 3, 64), strconv.FormatFloat(100*b.High, 'g', 3, 64)
	if b.High > 1 {
		return in.Text("outlook.bracket.open", "low", low)
	}
	return in.Text("outlook.bracket", "low", low, "high", high)
}

// timeClass is the class of an estimated time: earlier runs tell no more.
func timeClass(seconds float64) messages.Key {
	switch {
	case math.IsInf(seconds, 1):
		return "outlook.month"
	case seconds < 30*60:
		return "outlook.minutes"
	case seconds < 12*3600:
		return "outlook.hours"
	}
	return "outlook.days"
}

// line is the outlook as printed before a run.
func (o *outlook) line(in messages.Catalog) string {
	text := in.Text("outlook.noise", "noise", o.noise) + "\n" + o.reach
	if o.remedy != "" {
		text += "\n" + in.Text("outlook.less", "how", o.remedy)
	}
	return text
}

// outlook prints the outlook in a plan.
func (p *sheet) outlook(o *outlook) {
	p.heading(p.text("outlook.noise", "noise", o.noise))
	p.entry("  ", 2, o.reach)
	if o.remedy != "" {
		p.entry("  ", 2, p.text("outlook.less", "how", o.remedy))
	}
}
