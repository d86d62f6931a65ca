package cli

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/host/doctor"
	"github.com/tarelab/tare/internal/planning/plan"
)

// outlook is an estimate, from the noise of this host before a run, of the precision that the
// run can reach. It is printed and decides nothing. tare doctor, plan and run all have theirs from
// outlookOf.
type outlook struct {
	noise  string // "shared: other processes use 12 % of the CPU time"
	reach  string // "3 min reach ±2 to 8 %; ±1 % takes hours"
	remedy string // against the noise; empty: none known
	// expected is the bracket in reach; nil: there is none.
	expected *plan.Bracket
}

// leastOutlook is the shortest budget, in seconds, that is worth the two seconds of an
// outlook.
const leastOutlook = 30

// lookAhead watches this host for two seconds. nil: the run is too short, or its arms are not
// on this host. The only error is that of a signal.
func lookAhead(ctx context.Context, p *plan.Plan) (*outlook, error) {
	if p.PodNode != "" || p.Record.Budget < leastOutlook || worthwhile(p) != nil {
		return nil, nil
	}
	n, err := doctor.Look(ctx, noiseTime)
	switch {
	case ctx.Err() != nil:
		return nil, endedBy(ctx, ctx.Err())
	case err != nil:
		return &outlook{noise: "unknown", reach: "no estimate of the precision: " + err.Error()}, nil
	}
	return outlookOf(p, n), nil
}

func outlookOf(p *plan.Plan, n doctor.Noise) *outlook {
	o := &outlook{noise: n.Word + ": " + n.Because, remedy: strings.Join(n.Quieter(), "; ")}
	sd, ok := n.Neighbours.Get()
	if !ok {
		o.reach = "no estimate of the precision: " + n.Neighbours.Reason()
		return o
	}
	b, ok := p.Expect(sd)
	if !ok {
		o.reach = "no estimate of the precision: the tools run anew for each window, and their noise is their own"
		return o
	}
	o.expected = &b
	o.reach = quantity.Duration(p.Record.Budget) + " reach " + bracket(b)
	if want := p.Record.Precision; b.High/2 > want {
		o.reach += "; " + "±" + quantity.Size(want) + " takes " + timeClass(p.TimeFor(want, sd))
	}
	o.reach += " (" + assumed + ")"
	return o
}

// bracket formats where half-widths are expected: "±2 to 8 %".
func bracket(b plan.Bracket) string {
	low, high := strconv.FormatFloat(100*b.Low, 'g', 3, 64), strconv.FormatFloat(100*b.High, 'g', 3, 64)
	switch {
	case math.IsInf(b.Low, 1):
		return "no interval"
	case math.IsInf(b.High, 1):
		return "±" + low + " % or more, and no interval for every load"
	case b.High > 1:
		return "±" + low + " % or more"
	}
	return "±" + low + " to " + high + " %"
}

// timeClass is the class of an estimated time: two seconds of noise tell no more.
func timeClass(seconds float64) string {
	switch {
	case math.IsInf(seconds, 1):
		return "more than 30 days"
	case seconds < 30*60:
		return "minutes"
	case seconds < 12*3600:
		return "hours"
	}
	return "days"
}

// assumed is the basis of the estimate.
const assumed = "a rough estimate from two seconds of plain work"

// line is the outlook as printed before a run.
func (o *outlook) line() string {
	text := "noise of this host now: " + o.noise + "\n" + o.reach
	if o.remedy != "" {
		text += "\nless noise: " + o.remedy
	}
	return text
}

// outlook prints the outlook in a plan.
func (p *sheet) outlook(o *outlook) {
	p.heading("noise of this host now: %s", o.noise)
	p.entry("  ", 2, o.reach)
	if o.remedy != "" {
		p.entry("  ", 2, "less noise: "+o.remedy)
	}
}
