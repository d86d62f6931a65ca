package plan

import (
	"slices"
	"time"
)

// A run measures in up to two passes over its loads. The first one answers what
// people ask: the baseline, its twin and the real container (or the top rung
// that there is), alone, for every load in turn. The second one has all arms.
// What the first one measured counts in both. In the second one every other block is
// of the arms of the first alone.
//
// A load has the first pass where all of this holds: it has at least as many
// arms as fewArms on a ladder, none of them with a neighbour; it has no database
// server (starting one for each arm takes the time of the first pass) and does not
// run anew for each window; the experiment does not fix the launches.
const fewArms = 5

// Question is the arms of the first pass; nil where the load has none.
func (p *Plan) Question(l *Load) []string {
	database := l.Stages.Server != nil && l.Stages.Prepare != nil
	if len(l.Arms) < fewArms || p.Generations > 0 || database || l.Stages.Windowed != nil {
		return nil
	}
	if slices.ContainsFunc(l.Arms, func(a Arm) bool { return a.Neighbour != nil }) {
		return nil
	}
	subject := l.Subject()
	if subject == "" {
		return nil
	}
	return []string{l.Baseline, TwinName, subject}
}

// Alone is the arms of every second block where otherwise all arms have their turn:
// those of the first pass, where the plan has a question; nil: all. With ten arms the
// question then has twice the windows in 1.3 times the time: its interval is a sixth
// narrower in the same time, and those of the others are a tenth wider
// (stat.TestTheQuestionTwice).
func (p *Plan) Alone(l *Load) []string {
	if l.Workload.Question == "" {
		return nil
	}
	return p.Question(l)
}

// Subject is the arm that people ask about: the real container, else the top rung
// of the ladder that there is; empty where there is no ladder.
func (l *Load) Subject() string {
	top := ""
	for _, a := range l.Arms {
		if a.Remainder {
			return a.Name
		}
		if a.Step != "" {
			top = a.Name // the last one is on top
		}
	}
	return top
}

// question is the subject where all other arms are there for its sake: rungs, which it
// contains, and what stands beside the ladder without having been asked for by name.
func (l *Load) question(wanted []string) string {
	subject, others := l.Subject(), 0
	for _, a := range l.Arms {
		switch {
		case a.Name == l.Baseline || a.Twin || a.Name == subject:
		case a.Step == "" && slices.Contains(wanted, a.Name):
			return ""
		default:
			others++
		}
	}
	if others == 0 {
		return ""
	}
	return subject
}

// The first pass takes firstShare of the time of its loads, at most firstMost of
// each, so that four of them have their answers within a minute.
const (
	// FirstLaunches are its launches.
	FirstLaunches = 2

	firstShare = 0.3
	firstMost  = 13 * time.Second
)

// First is the time of a load in the first pass, of its whole budget.
func First(budget time.Duration) time.Duration {
	return min(time.Duration(firstShare*float64(budget)), firstMost)
}
