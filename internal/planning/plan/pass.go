package plan

import (
	"slices"
	"time"
)

// A run measures its loads in up to two passes. The first pass has a first answer to the question
// that people ask: it has the baseline, its twin and the subject alone, for every load in turn. The
// second pass goes on with these until QuestionShare of the load's time is over. If the subject differs
// then by enough for the rest of the time to divide the difference among the layers, all arms have the
// rest, and every other block has the question's arms only. Otherwise the question has the rest. Arms
// that the user chose (LayersOnLoss is false) are measured in the whole second pass. All windows count.
//
// A load has a first pass where all of this holds: it has at least fewArms arms, none of them
// with a neighbour; it has a subject; it has no database server, whose start in each arm would
// take the time of the first pass; its tool does not run anew for each window; the experiment
// does not fix the number of launches.
const fewArms = 5

// subjectOf decides which arm is asked about; nothing else in tare does. It is the real container
// (Remainder), else the highest rung of the ladder that there is; empty where there is no ladder,
// as among named arms.
//
// judgedFirst says that every arm but the baseline and its twin is there for the subject's sake:
// it is a rung below the subject, or stands beside the ladder without having been wanted by name.
// Build writes the subject into plan.json as the workload's question then. The analysis judges
// that arm first, with an interval of its own, and may only withdraw the question.
func subjectOf(arms []PlannedArm, wanted []string) (subject string, judgedFirst bool) {
	for _, a := range arms {
		if a.Remainder {
			subject = a.Name
			break
		}
		if a.Step != "" {
			subject = a.Name // rungs are in the order of the ladder
		}
	}
	others := 0
	for _, a := range arms[1:] {
		switch {
		case a.Twin || a.Name == subject:
		case a.Step == "" && slices.Contains(wanted, a.Name):
			return subject, false
		default:
			others++
		}
	}
	return subject, others > 0
}

// FirstPass returns the names of the arms of a load's first pass; nil where it has none.
func (p *Plan) FirstPass(l *Load) []string {
	database := l.Stages.Server != nil && l.Stages.Prepare != nil
	if l.Subject == "" || len(l.Arms) < fewArms || p.Generations > 0 || database || l.Stages.Windowed != nil {
		return nil
	}
	if slices.ContainsFunc(l.Arms, func(a PlannedArm) bool { return a.Neighbour != nil }) {
		return nil
	}
	return []string{l.Baseline, TwinName, l.Subject}
}

// QuestionBlocks returns the names of the arms in every second block of the second pass; nil: all
// arms, as where the plan has no question. With ten arms the question then has twice the windows
// in 1.3 times the time: in the same time its interval is a sixth narrower, and those of the
// other arms are a tenth wider (stat.TestTheQuestionTwice).
func (p *Plan) QuestionBlocks(l *Load) []string {
	if l.Workload.Question == "" {
		return nil
	}
	return p.FirstPass(l)
}

// FirstPassLaunches is how often the first pass launches its arms at least.
const FirstPassLaunches = 2

// QuestionShare is the part of a load's time in which the question alone is measured.
const QuestionShare = 0.6

// FirstPassTime returns how long the first pass of a load takes, from the load's whole budget. With 13 s
// at most, four loads have their answers within a minute.
func FirstPassTime(budget time.Duration) time.Duration {
	return min(time.Duration(firstPassShare*float64(budget)), firstPassMost)
}

const (
	firstPassShare = 0.3
	firstPassMost  = 13 * time.Second
)

// AtLeast raises shares of a time that are below their least to that, and takes the difference from what the others have
// beyond theirs. If all together have too little for that, the shares stay.
func AtLeast(shares, least []time.Duration) []time.Duration {
	out, short, beyond := slices.Clone(shares), time.Duration(0), time.Duration(0)
	for i, s := range shares {
		short += max(least[i]-s, 0)
		beyond += max(s-least[i], 0)
	}
	if short == 0 || short > beyond {
		return out
	}
	for i, s := range shares {
		if out[i] = max(s, least[i]); s > least[i] {
			out[i] -= time.Duration(float64(s-least[i]) * float64(short) / float64(beyond))
		}
	}
	return out
}
