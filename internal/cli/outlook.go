package cli

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/host/doctor"
	"github.com/tarelab/tare/internal/planning/plan"
)

// outlook is an estimate, from the noise of this host before a run, of the precision that the
// run can reach. It is printed and decides nothing.
type outlook struct {
	noise  string // "shared: other processes use 12 % of the CPU time"
	reach  string // "3 min reach about ±3.5 %; ±1 % takes about 40 min"
	remedy string // against the noise; empty: none known
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
	work, ok := n.Worst()
	if !ok {
		o.reach = "no estimate of the precision: " + n.Predicted.Reason()
		return o
	}
	seen := plan.Noise{SD: work.SlotSD, Window: time.Duration(work.Slot * float64(time.Second))}
	best, worst := math.Inf(1), math.Inf(-1)
	for i := range p.Loads {
		if half := p.Reach(&p.Loads[i], seen, p.Record.Budget); !math.IsNaN(half) {
			best, worst = min(best, half), max(worst, half)
		}
	}
	if worst < 0 {
		o.reach = "no estimate of the precision: the tools run anew for each window, and their noise is their own"
		return o
	}
	o.reach = quantity.Duration(p.Record.Budget) + " reach " + halfWidths(best, worst)
	if want := p.Record.Precision; worst > want {
		o.reach += "; " + roughly(want) + " takes " + within(p.TimeFor(want, seen))
	}
	o.reach += " (" + assumed + ")"
	return o
}

// halfWidths formats a half-width, or the range of several loads.
func halfWidths(best, worst float64) string {
	switch {
	case math.IsInf(best, 1):
		return "no interval"
	case math.IsInf(worst, 1):
		return "about " + roughly(best) + ", and no interval for every load"
	case worst < 1.1*best:
		return "about " + roughly(worst)
	}
	return "about " + roughly(best) + " to " + roughly(worst) + ", by load"
}

// roughly formats a half-width with two digits: "±3.5 %".
func roughly(half float64) string { return fmt.Sprintf("±%.2g %%", 100*half) }

// within formats an estimated time.
func within(seconds float64) string {
	if math.IsInf(seconds, 1) {
		return "more than 30 days"
	}
	return "about " + quantity.Duration(coarse(seconds))
}

// assumed is the basis of the estimate.
const assumed = "a rough estimate from two seconds of plain work: loads, disks and networks may be steadier or noisier"

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
		p.entry("  less noise: ", 14, o.remedy)
	}
}
