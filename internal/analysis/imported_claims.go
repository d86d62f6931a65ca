package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// claims checks published percentages against the figures that they are said to
// come from.
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

// unmatched warns of claims about what the figures do not have.
func unmatched(out *record.Effects) {
	for _, c := range out.Imported.Claims {
		known := false
		for _, e := range out.Effects {
			known = known || e.Metric == c.Metric && e.Arm == c.Arm && e.Observed > 0
		}
		if !known {
			out.Warnings = append(out.Warnings, record.Warning{Arm: c.Arm, Text: "a claim about " + c.Metric + " cannot be checked: both arms have no such figure",
				Remedy: "name a metric as the report does"})
		}
	}
}

// judgeClaim says whether a claim is the change against the baseline, or which
// other thing it is: people divide by the wrong one of two figures, give what is
// left for what is lost, or leave the sign to the reader.
func judgeClaim(c record.Claim, e record.Effect) record.Checks {
	r := e.Observed
	out := record.Checks{Kind: "claims", Known: true, Subject: c.Arm}
	said := fmt.Sprintf("%s of %s is said to change by %s", c.Metric, c.Arm, asPercent(c.Change, c.Digit))
	right := "against " + e.Baseline + " it is " + asPercent(r-1, min(0.001, c.Digit)) // at least as finely as it is said
	near := func(x float64) bool { return math.Abs(x-c.Change) <= 0.501*c.Digit+1e-12 }
	switch {
	case near(r - 1):
		out.OK = true
		out.Text = said + ", and it does"
		return out
	case near(1/r - 1), near(1 - 1/r):
		out.Text = said + "; that has the wrong base: it is the part of " + c.Arm + "'s own figure, " + right
		out.Remedy = "divide the difference by the baseline"
	case near(1 - r):
		out.Text = said + "; that is the right size with the sign turned round, " + right
	case near(r):
		out.Text = said + "; that is what is left, not what changed, " + right
	case near(1 / r):
		out.Text = said + "; that is " + e.Baseline + " as a part of " + c.Arm + ", " + right
	default:
		out.Text = said + "; that does not follow from the figures, " + right
	}
	if out.Remedy == "" {
		out.Remedy = "give the change against the baseline"
	}
	return out
}

// asPercent prints a change as finely as the digit says.
func asPercent(x, digit float64) string {
	decimals := max(0, int(math.Round(-math.Log10(digit)))-2)
	return fmt.Sprintf("%+.*f %%", decimals, 100*x)
}

// caveats is what cannot be known, to be said before the answer.
func caveats(out *record.Effects, r *record.Result) {
	least, most := 0, 0
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
			out.Caveats = append(out.Caveats, excerpt(o)...)
			out.Warnings = append(out.Warnings, reportsOfNothing(o)...)
		}
	}
	if !several(r.Plan.Workloads) {
		return
	}
	c := record.Warning{Text: "The outputs do not say in which order the runs were made. Where all runs of one arm came first, " +
		"a drift of the host cannot be told from a cost.",
		Remedy: "measure in turns (host, pod, host, pod ...), or let tare run do it"}
	switch {
	case least == 1 && most == 1:
		c.Text = "One run per arm, measured one after the other: a drift of the host cannot be told from a cost, " +
			"and how two runs of the same arm differ is not known. So there is no verdict; what is shown is what these runs did."
		c.Remedy = fmt.Sprintf("run each arm at least %d times in turns and import all of it, or let tare run do it", leastRuns)
	case least < leastRuns:
		c.Text = fmt.Sprintf("%s of an arm: how its runs differ from each other is not known well enough for a verdict. ", quantity.Count(least, "run")) + c.Text
		c.Remedy = fmt.Sprintf("run each arm at least %d times in turns and import all of it, or let tare run do it", leastRuns)
	}
	out.Caveats = slices.Insert(out.Caveats, 0, c)
}

// several says that there is a load with two arms.
func several(loads []record.Workload) bool {
	return slices.ContainsFunc(loads, func(w record.Workload) bool { return len(w.Arms) > 1 })
}

// shortExcerpt is the number of reports below which a run without a summary looks
// chosen by somebody.
const shortExcerpt = 60

// excerpt says that a run is a few lines of a run.
func excerpt(o *record.Observed) []record.Warning {
	for _, f := range o.Figures {
		if !o.Complete && f.Reports > 0 && f.Reports < shortExcerpt && o.Tool == "sysbench" {
			return []record.Warning{{Workload: o.Workload, Arm: o.Arm,
				Text:   fmt.Sprintf("%s holds %s and no summary: how these were chosen from the run cannot be known.", o.File, quantity.Count(f.Reports, "report line")),
				Remedy: "import the whole log"}}
		}
	}
	return nil
}

func reportsOfNothing(o *record.Observed) []record.Warning {
	for _, f := range o.Figures {
		if f.Stalled == 0 {
			continue
		}
		what := fmt.Sprintf("%d of %d reports have a %s of 0: nothing finished in them", f.Stalled, f.Reports, f.Metric)
		if f.Reports == 0 { // one alone is no series
			what = fmt.Sprintf("its %s is 0: nothing finished", f.Metric)
		}
		return []record.Warning{{Workload: o.Workload, Arm: o.Arm, Text: o.File + ": " + what,
			Remedy: "find out what stalled (a checkpoint, throttling, a lost connection)"}}
	}
	return nil
}
