package analysis

import (
	"math"
	"slices"

	"github.com/tarelab/tare/record"
)

// claims checks published percentages against the imported figures.
func (t *imported) claims() []record.Checks {
	var out []record.Checks
	for _, c := range t.out.Imported.Claims {
		for _, e := range t.out.Effects {
			if e.Workload == t.load.Name && e.Metric == c.Metric && e.Arm == c.Arm && e.Observed > 0 {
				out = append(out, judgeClaim(c, e))
			}
		}
	}
	return out
}

// unmatched warns of claims about metrics or arms that the figures do not have.
func unmatched(out *record.Effects) {
	for _, c := range out.Imported.Claims {
		known := false
		for _, e := range out.Effects {
			known = known || e.Metric == c.Metric && e.Arm == c.Arm && e.Observed > 0
		}
		if !known {
			out.Warnings = append(out.Warnings, claimUnmatched(c.Metric).of("", c.Arm))
		}
	}
}

// judgeClaim checks whether a claim is the change against the baseline, and if not, which
// common mistake gives that number: the wrong base, the wrong sign, or the remaining part
// instead of the change.
func judgeClaim(c record.Claim, e record.Effect) record.Checks {
	r := e.Observed
	out := record.Checks{Kind: "claims", Known: true, Subject: c.Arm}
	says := claimed{metric: c.Metric, arm: c.Arm, baseline: e.Baseline, change: asPercent(c.Change, c.Digit),
		figure: asPercent(r-1, min(0.001, c.Digit))} // at least as finely as the claim
	near := func(x float64) bool { return math.Abs(x-c.Change) <= 0.501*c.Digit+1e-12 }
	switch {
	case near(r - 1):
		out.OK = true
		out.Text = says.holds()
		return out
	case near(1/r - 1), near(1 - 1/r):
		out.Text = says.wrongBase()
		out.Remedy = claimBaseRemedy
	case near(1 - r):
		out.Text = says.wrongSign()
	case near(r):
		out.Text = says.whatIsLeft()
	case near(1 / r):
		out.Text = says.turnedRound()
	default:
		out.Text = says.unfounded()
	}
	if out.Remedy.IsZero() {
		out.Remedy = claimRemedy
	}
	return out
}

// caveats adds the limits of imported figures, which reports state before the answer.
func caveats(out *record.Effects, r *record.Result) {
	least, most := 0, 0
	var excerpts []record.Warning
	for _, w := range r.Plan.Workloads {
		runs := map[string]int{}
		for _, l := range r.Lines {
			if l.Observed != nil && l.Observed.Workload == w.Name {
				runs[l.Observed.Arm]++
			}
		}
		for _, n := range runs {
			if least == 0 || n < least {
				least = n
			}
			most = max(most, n)
		}
	}
	for _, l := range r.Lines {
		if o := l.Observed; o != nil {
			excerpts = append(excerpts, excerpt(o)...)
			out.Warnings = append(out.Warnings, reportsOfNothing(o)...)
		}
	}
	if n := len(excerpts); n > 1 {
		excerpts = []record.Warning{onlyExcerpts(n).of("", "")}
	}
	out.Caveats = append(out.Caveats, excerpts...)
	if !several(r.Plan.Workloads) {
		return
	}
	out.Caveats = slices.Insert(out.Caveats, 0, orderUnknown(least, most).of("", ""))
}

// several reports whether a load has two arms or more.
func several(loads []record.Workload) bool {
	return slices.ContainsFunc(loads, func(w record.Workload) bool { return len(w.Arms) > 1 })
}

// shortExcerpt is the number of reports below which a run without a summary looks like a
// selection.
const shortExcerpt = 60

// excerpt warns of a run of which only a few lines were imported.
func excerpt(o *record.Observed) []record.Warning {
	for _, f := range o.Figures {
		if !o.Complete && f.Reports > 0 && f.Reports < shortExcerpt && o.Tool == "sysbench" {
			return []record.Warning{onlyExcerpt(o.File, f.Reports).of(o.Workload, o.Arm)}
		}
	}
	return nil
}

func reportsOfNothing(o *record.Observed) []record.Warning {
	for _, f := range o.Figures {
		if f.Stalled == 0 {
			continue
		}
		return []record.Warning{emptyReports(o.File, f).of(o.Workload, o.Arm)}
	}
	return nil
}
