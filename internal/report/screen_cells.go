package report

import (
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// percentUp prints a bound rounded up to a tenth of a percent: a smaller one would not hold.
func percentUp(x float64) string {
	const tenth = 1e-3
	up := float64(int(x/tenth)) * tenth
	if up < x-1e-9 {
		up += tenth
	}
	return quantity.Size(quantity.Round(up, 3))
}

// effectWith is an effect with its half-width and a star where it is shown: "-29.0 % ±1.4*".
func (in Language) effectWith(w workload, x *record.Effect) cell {
	switch {
	case x == nil:
		return cell{}
	case arrange.Seen(*x):
		return in.seenCell(*x)
	case x.Typical == nil:
		return cell{none, faint}
	}
	s := around(x.Typical)
	change, half, _ := strings.Cut(s, " ")
	s = change + " %"
	if half != "" {
		s += " " + half
	}
	return starred(w, x, s)
}

// starred adds the mark of an effect, or a space, so that the numbers line up.
func starred(w workload, x *record.Effect, s string) cell {
	switch {
	case x.Unequal != "":
		return cell{s + markUnequal, unsure}
	case w.InNoise(*x), w.noisy(x.Metric) && arrange.Moved(*x):
		return cell{s + markNoise, unsure}
	case arrange.Moved(*x):
		return cell{s + markMoved, verdictTone(x.Verdict)}
	}
	return cell{s + " ", plain}
}

// vague is the half-width from which an undecided change is printed as its half-width only.
const vague = 0.25

// changeCell is a change in whole percent: "+41 %*".
func changeCell(w workload, x *record.Effect) cell {
	if x == nil || x.Typical == nil {
		return cell{}
	}
	r := x.Typical
	if half := max(r.High-r.Ratio, r.Ratio-r.Low); !arrange.Moved(*x) && half > vague {
		if half > 1 {
			return cell{none + " ", faint}
		}
		return cell{"±" + quantity.Unsigned(quantity.Change(1+half, 0)) + " % ", faint}
	}
	return starred(w, x, quantity.WithUnit(quantity.Change(r.Ratio, 0), "%"))
}

// The marks behind effects.
const (
	markMoved   = "*"
	markUnequal = "≠"
	markNoise   = "~"
)

// answerCell is the verdict of a row in words.
func (in Language) answerCell(r record.AnswerRow) cell {
	s := r.Says
	var said string
	t := plain
	switch s.Word {
	case record.SaysSlower, record.SaysFaster:
		said, t = in.text("says.slower"), bad
		if s.Word == record.SaysFaster {
			said, t = in.text("says.faster"), good
		}
		if why := in.causeWords(r); why != "" {
			said = in.text("says.because", "verdict", said, "causes", why)
		}
	case record.SaysNoLoss:
		said, t = in.ofMetric(s, in.text("says.noloss", "bound", percentUp(s.Bound))), good
	case record.SaysNoDifference:
		said, t = in.ofMetric(s, in.text("says.nodifference", "bound", percentUp(s.Bound))), good
	case record.SaysUndecided:
		said, t = in.undecidedWords(r), unsure
	case record.SaysEnough:
		said, t = in.text("says.enough"), good
	case record.SaysTooSlow:
		said, t = in.text("says.tooslow"), bad
	case record.SaysInvalid:
		said, t = in.text("says.invalid"), broken
	case record.SaysSkipped:
		said, t = in.text("says.skipped"), faint
	}
	switch {
	case s.As != "":
		said, t = in.text("says.as", "arm", s.As, "within", percentUp(s.Within)), plain
	case s.Protects:
		said, t = in.text("says.protects"), good
	}
	return cell{said, t}
}

// moreWork prints a loss of operations per CPU second as CPU time per operation.
func moreWork(loss float64) string { return percentUp(1/(1-loss) - 1) }

// ofMetric names the metric that decided, if it is not that of the load.
func (in Language) ofMetric(s record.Says, said string) string {
	if s.Metric == "" {
		return said
	}
	return in.text("says.of", "verdict", said, "metric", in.text("head.cpu"))
}

// causeWords are the metric that decided and the shown causes; more CPU per operation has a column.
func (in Language) causeWords(r record.AnswerRow) string {
	var why []string
	if r.Says.Metric != "" {
		why = append(why, in.text("head.cpu"))
	}
	for _, c := range r.Says.Causes {
		if c != record.CauseWork || r.CPU == nil && r.Says.Metric == "" {
			why = append(why, in.text(causeNames[c]))
		}
	}
	return in.names(why[:min(len(why), mostCauses)])
}

// mostCauses of a loss stand beside its answer, the first ones: more would take the place of the arms' names.
const mostCauses = 2

var causeNames = map[record.Cause]messages.Key{
	record.CauseWork: "cause.work", record.CauseCPU: "cause.cpu", record.CauseOther: "cause.other", record.CauseDisk: "cause.disk", record.CauseWait: "cause.waiting",
	record.CauseThrottle: "cause.throttling", record.CauseNetwork: "cause.network", record.CauseBursts: "cause.bursts", record.CauseSpeeds: "cause.speeds",
}

func (in Language) undecidedWords(r record.AnswerRow) string {
	switch s := r.Says; {
	case s.Bound > 0 && s.Metric != "":
		return in.text("says.undecided.cpu", "more", moreWork(s.Bound))
	case s.Bound > 0:
		return in.text("says.undecided.most", "loss", percentUp(s.Bound))
	case s.Seconds > 0:
		return in.text("says.undecided.time", "time", in.about(s.Seconds))
	}
	return in.text("says.undecided")
}
