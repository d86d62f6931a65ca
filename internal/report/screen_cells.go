package report

import (
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
func (in Language) effectWith(w workload, x *record.Effect) figure {
	switch {
	case x == nil:
		return figure{}
	case arrange.Seen(*x):
		return in.seenCell(*x)
	case x.Typical == nil:
		return cell{none, faint}.figure()
	}
	change, rest := around(x.Around())
	return w.marked(x, quantity.WithUnit(change, "%"), rest)
}

// marked is the figure of an effect with its mark.
func (w workload) marked(x *record.Effect, estimate, rest string) figure {
	f := figure{cell{estimate, plain}, rest, w.markOf(x)}
	switch f.mark {
	case unequal, inNoise:
		f.tone = unsure
	case moved:
		f.tone = verdictTone(x.Verdict)
	}
	return f
}

// markOf is the mark of an effect.
func (w workload) markOf(x *record.Effect) mark {
	switch {
	case !x.Unequal.IsZero():
		return unequal
	case w.InNoise(*x), w.noisy(x.Metric) && (arrange.Moved(*x) || x.Noisy):
		return inNoise
	case arrange.Moved(*x):
		return moved
	}
	return ""
}

// vague is the half-width from which an undecided change is not printed.
const vague = 0.25

// changeCell is a change in whole percent: "+41 %*", and with its half-width where it is undecided: "+2 % ±8".
func changeCell(w workload, x *record.Effect) figure {
	if x == nil || x.Typical == nil {
		return figure{}
	}
	r, said := x.Around(), quantity.WithUnit(quantity.Change(x.Typical.Ratio, 0), "%")
	if arrange.Moved(*x) {
		return w.marked(x, said, "")
	}
	half := r.Half()
	if half > vague {
		return figure{}
	}
	return w.marked(x, said, "±"+quantity.Unsigned(quantity.Change(1+half, 0)))
}

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
		if x := r.Effect; x != nil && r.Beside == nil && x.Farther() {
			said = in.text("says.atmost", "verdict", said, "loss", percentUp(x.AtMost))
		}
	case record.SaysNoLoss:
		said, t = in.text("says.noloss", "bound", percentUp(s.Bound)), good
	case record.SaysNoDifference:
		said, t = in.text("says.nodifference", "bound", percentUp(s.Bound)), good
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
	if s.Word != record.SaysSlower && s.Word != record.SaysInvalid && cpuSays[s.CPU] != "" {
		said = in.text(cpuSays[s.CPU], "verdict", said)
	}
	switch {
	case s.As != "":
		said, t = in.text("says.as", "arm", s.As, "within", percentUp(s.Within)), plain
	case s.Protects && s.Bound > 0:
		said, t = in.text("says.protects.most", "loss", percentUp(s.Bound)), good
	case s.Protects:
		said, t = in.text("says.protects"), good
	}
	return cell{said, t}
}

// causeWords are the shown causes; more CPU per operation has a column.
func (in Language) causeWords(r record.AnswerRow) string {
	var why []string
	for _, c := range r.Says.Causes {
		if c != record.CauseWork || r.CPU == nil {
			why = append(why, in.text(causeNames[c]))
		}
	}
	return in.names(why[:min(len(why), mostCauses)])
}

// cpuSays add the verdict on CPU time per operation to that on throughput.
var cpuSays = map[record.CPUWord]messages.Key{record.SaysMoreCPU: "says.cpu.more", record.SaysLessCPU: "says.cpu.less"}

// mostCauses of a loss stand beside its answer, the first ones: more would take the place of the arms' names.
const mostCauses = 2

var causeNames = map[record.Cause]messages.Key{
	record.CauseWork: "cause.work", record.CauseCPU: "cause.cpu", record.CauseOther: "cause.other", record.CauseDisk: "cause.disk", record.CauseWait: "cause.waiting",
	record.CauseThrottle: "cause.throttling", record.CauseNetwork: "cause.network", record.CauseBursts: "cause.bursts", record.CauseSpeeds: "cause.speeds",
}

func (in Language) undecidedWords(r record.AnswerRow) string {
	switch s := r.Says; {
	case s.Bound > 0:
		return in.text("says.undecided.most", "loss", percentUp(s.Bound))
	case s.Seconds > 0:
		return in.text("says.undecided.time", "time", in.about(s.Seconds))
	}
	return in.text("says.undecided")
}
