package answer

import (
	"math"
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// limits is the table of a load under CPU limits: each against the baseline, which stands first.
func limits(w arrange.Workload, other float64) record.AnswerTable {
	t := record.AnswerTable{Question: record.AskedLimit, Workload: w.Name, Baseline: w.Baseline, Metric: w.Primary}
	for _, arm := range slices.Concat(w.Ladder, w.Beside) {
		r := record.AnswerRow{Workload: w.Name, Arm: arm, Level: level(w, w.Baseline)}
		if _, ok := w.PrimaryOf(arm); ok {
			r = row(w, arm, other)
		} else if arm != w.Baseline {
			continue
		}
		r.Limit = w.Arm[arm].Limit
		if x := level(w, arm); x != nil {
			r.Own = &record.ArmLevel{Value: *x}
		}
		if throttled(r.Limit) && r.Says.Word == record.SaysSlower && !slices.Contains(r.Says.Causes, record.CauseThrottle) {
			r.Says.Causes = append(r.Says.Causes, record.CauseThrottle)
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// throttled reports whether a limit throttled the arm in more than a hundredth of the periods, so that
// it has a part in its 99th percentile.
func throttled(l *record.CPULimit) bool {
	const some = 0.01
	if l == nil {
		return false
	}
	x, ok := l.Throttled.Get()
	return ok && x > some
}

// objective is the table of a load with an objective: whether each arm reaches it.
func objective(w arrange.Workload) record.AnswerTable {
	t := record.AnswerTable{
		Question: record.AskedObjective, Workload: w.Name, Baseline: w.Baseline, Metric: w.Objective.Metric, Objective: w.Objective,
	}
	for _, arm := range slices.Concat(w.Ladder, w.Beside) {
		own := w.Arm[arm].Reached
		t.Rows = append(t.Rows, record.AnswerRow{Workload: w.Name, Arm: arm, Own: own, Says: reaches(w, own)})
	}
	return t
}

// reaches is the verdict of a level: by the end of its interval that is nearer to the objective.
func reaches(w arrange.Workload, l *record.ArmLevel) record.Says {
	s, most := record.Says{Word: record.SaysUndecided}, w.Objective.Most
	switch {
	case l == nil:
	case l.High == 0:
		s.Reason = l.Reason
		if l.Launches > 0 {
			s.Seconds = metric.MoreLaunches(l.Launches, w.Generations, w.Seconds)
		}
	case l.High <= most:
		s.Word = record.SaysEnough
	case l.Low > most:
		s.Word = record.SaysTooSlow
	default:
		s.Seconds = narrowed(w.Seconds, math.Log(l.High/l.Low)/2, math.Abs(math.Log(l.Value/most)))
	}
	return s
}

// narrowed is how much longer than seconds a run has to take for an interval of this half-width to end
// at the distance; 0: longer than a day.
func narrowed(seconds, half, distance float64) float64 {
	const day = 86400
	more := seconds * (half*half/(distance*distance) - 1)
	if !(more < day) {
		return 0
	}
	return more
}
