package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	catalogue "github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Advice is the proof sheet of each loss: cause, remedy, what it regains and its price. Details has every
// candidate, why others were skipped, and the stages.
func Advice(a *record.Advice, details bool) Document {
	d := Document{title: adviceTitle(a)}
	for _, l := range a.Losses {
		d.add(section{blocks: []block{proofSheet(a, l, details)}})
		if details {
			d.add(section{title: l.Workload, about: text("advise.about"), blocks: []block{candidates(l), candidateSettings(l), applying(l)}})
		}
	}
	if len(a.Losses) == 0 {
		nothing := msg("advise.nothing")
		if slices.ContainsFunc(a.NotLost, func(k record.AdviceNoLoss) bool { return !k.Answer.Word.Decided() }) {
			nothing = msg("advise.unshown")
		}
		d.add(section{blocks: []block{{items: []item{{text: nothing}}}}})
	}
	d.add(section{blocks: []block{notLost(a)}})
	if details {
		d.add(section{title: text("advise.stages"), blocks: []block{stages(a)}})
	}
	return d
}

func adviceTitle(a *record.Advice) sentence {
	s := msg("advise.title", "experiment", a.Experiment)
	if a.Host.Name != "" {
		s = append(s, msg("title.host.cpus", "host", a.Host.Name, "cpus", number("count.cpus", a.Host.CPUs))...)
	}
	if a.Started != "" {
		s = append(s, cell{", " + started(a.Started), plain})
	}
	if a.Seconds > 0 {
		s = append(s, cell{", " + quantity.Duration(a.Seconds), plain})
	}
	return s
}

// proofSheet is one loss on the screen.
func proofSheet(a *record.Advice, l record.AdviceLoss, details bool) block {
	b := block{items: []item{{text: lostSentence(l)}}}
	add := func(key messages.Key, s sentence) {
		if len(s) > 0 {
			b.items = append(b.items, item{label: cell{text(key), strong}, text: s})
		}
	}
	for _, c := range l.Causes {
		add("advise.label.cause", causeSentence(c))
	}
	if l.Remedy != nil {
		c := l.Candidates[*l.Remedy]
		add("advise.label.remedy", msg("advise.remedy", "name", strings.Join(c.Remedies, " + "), "does", strings.Join(c.Does, "; ")))
		add("advise.label.set", settingSentence(c))
		if !details && l.Standing == record.StandingProved {
			add("advise.label.lines", lineTargets(c))
		}
		add("advise.label.regained", regainedSentence(l))
		add("advise.label.price", priceSentence(l.Proof, c))
	}
	add("advise.label.standing", standingSentence(l))
	helped, failed, open, skipped := others(l)
	add("advise.label.helped", joined(", ", helped...))
	add("advise.label.failed", joined(", ", failed...))
	add("advise.label.open", joined(", ", open...))
	if !details && len(skipped) > 0 {
		add("advise.label.skipped", msg("advise.skipped", "list", strings.Join(skipped, ", ")))
	}
	if l.Proof != nil {
		add("advise.label.measured", measuredSentence(a, l))
	}
	return b
}

// lostSentence says how much was lost.
func lostSentence(l record.AdviceLoss) sentence {
	label := l.Metric
	if m, ok := catalogue.Find(nil, l.Metric); ok {
		label = m.Label
	}
	digits := quantity.Digits(&l.Lost)
	pairs := []any{
		"load", l.Workload, "size", quantity.WithUnit(strings.TrimLeft(quantity.Change(l.Lost.Ratio, digits), "+-"), "%"), "metric", label,
		"arm", l.Arm, "baseline", l.Baseline, "interval", quantity.Bounds(l.Lost.Low, l.Lost.High, digits),
	}
	if l.Lost.Ratio > 1 {
		return msg("advise.lost.more", pairs...)
	}
	return msg("advise.lost.less", pairs...)
}

// lossCauses are the causes in words.
var lossCauses = map[record.LossCause]messages.Key{
	record.LossNeighbourCPU: "advise.cause.neighbour.cpu", record.LossNeighbourCaches: "advise.cause.neighbour.caches",
	record.LossNeighbourDisk: "advise.cause.neighbour.disk", record.LossNeighbourMemory: "advise.cause.neighbour.memory",
	record.LossOtherWork: "advise.cause.other", record.LossCPULimit: "advise.cause.limit", record.LossCPUSet: "advise.cause.cpuset",
	record.LossMemoryLimit: "advise.cause.memory", record.LossVolume: "advise.cause.volume", record.LossGroups: "advise.cause.cgroup",
	record.LossNamespaces: "advise.cause.namespaces", record.LossOverlay: "advise.cause.overlay", record.LossSeccomp: "advise.cause.seccomp",
	record.LossVeth: "advise.cause.veth", record.LossNAT: "advise.cause.nat", record.LossRuntime: "advise.cause.runtime",
	record.LossPod: "advise.cause.pod", record.LossServer: "advise.cause.server", record.LossImage: "advise.cause.image",
}

// causeSentence is a cause with its share, or several that the record does not separate.
func causeSentence(c record.CauseShare) sentence {
	var names []string
	for _, cause := range c.Causes {
		name := string(cause)
		if key, ok := lossCauses[cause]; ok {
			name = text(key)
		}
		names = append(names, name)
	}
	share := none
	if c.Share != nil {
		share = parts100(c.Share.Share, c.Share.Low, c.Share.High)
	}
	if len(names) == 1 && c.Share != nil && c.Share.Low == 1 && c.Share.High == 1 { // exact: it is the only one
		share = text("advise.whole")
	}
	var seen []string
	for _, e := range c.Evidence {
		if e.Per == "operation" {
			seen = append(seen, text("advise.evidence.op", "probe", e.Metric, "base", quantity.Latency(e.Against), "arm", quantity.Latency(e.Arm)))
			continue
		}
		seen = append(seen, text("advise.evidence", "probe", e.Metric, "base", quantity.Short(e.Against), "arm", quantity.Short(e.Arm)))
	}
	s := msg("advise.cause", "causes", list(names), "share", share)
	if len(names) > 1 {
		s = msg("advise.cause.open", "causes", strings.Join(names, ", "), "share", share, "tells", c.Tells)
	}
	if len(seen) > 0 {
		s = append(s, msg("advise.seen", "list", strings.Join(seen, ", "))...)
	}
	return s
}

// settingSentence is how a remedy is applied, and the way back.
func settingSentence(c record.Candidate) sentence {
	return msg("advise.set", "apply", settingList(c.Apply), "undo", settingList(c.Undo))
}

func settingList(all []record.RemedySetting) string {
	var out []string
	for _, s := range all {
		value := s.Value
		if n, err := strconv.ParseFloat(value, 64); err == nil && s.Key.Bytes() {
			value = quantity.Bytes(n)
		}
		if value == "" {
			value = text("advise.default")
		}
		out = append(out, text("advise.setting", "on", s.On, "key", s.Key, "value", value))
	}
	return strings.Join(out, ", ")
}

// regainedSentence is the figure of the proof: the part of the loss, or where the noise is too large for one
// the gain over the arm that lost.
func regainedSentence(l record.AdviceLoss) sentence {
	if l.Proof == nil {
		return nil
	}
	r := l.Proof.Regained
	if r == nil {
		return msg("advise.gained", "gain", cell{quantity.Interval(l.Proof.Gained), strong}, "arm", l.Arm)
	}
	return msg("advise.regained", "share", cell{parts100(r.Share, r.Low, r.High), strong}, "left", quantity.Interval(l.Proof.Left), "baseline", l.Baseline)
}

// priceSentence is what the neighbour keeps and what is given up.
func priceSentence(r *record.RemedyResult, c record.Candidate) sentence {
	var s sentence
	if r != nil && r.Kept != nil {
		s = msg("advise.keeps", "kept", parts100(r.Kept.Ratio, r.Kept.Low, r.Kept.High))
	}
	return joined("; ", s, msg("advise.gives", "list", list(c.Gives)))
}

// standingSentence says why no remedy is proved; empty where one is.
func standingSentence(l record.AdviceLoss) sentence {
	key := map[record.AdviceStanding]messages.Key{
		record.StandingUndecided: "advise.undecided", record.StandingNoHelp: "advise.nohelp",
		record.StandingSkipped: "advise.untried", record.StandingInvalid: "advise.invalid",
	}[l.Standing]
	if key == "" {
		return nil
	}
	return msg(key, "reason", l.Reason)
}

// others are the candidates beside the remedy: those that helped, that did not, and that are undecided, with a
// number, and those that were skipped.
func others(l record.AdviceLoss) (helped, failed, open []sentence, skipped []string) {
	for i, c := range l.Candidates {
		r := c.Result
		switch {
		case l.Remedy != nil && *l.Remedy == i:
		case r == nil:
			skipped = append(skipped, c.Arm)
		case r.Answer.Word == record.SaysFaster && r.Regained != nil:
			helped = append(helped, msg("advise.other", "name", c.Arm, "said", parts100(r.Regained.Share, r.Regained.Low, r.Regained.High)))
		case r.Answer.Word == record.SaysFaster:
			helped = append(helped, msg("advise.other", "name", c.Arm, "said", quantity.Interval(r.Gained)))
		case r.Answer.Word == record.SaysUndecided:
			open = append(open, msg("advise.other", "name", c.Arm, "said", quantity.Interval(r.Gained)))
		default:
			failed = append(failed, msg("advise.other", "name", c.Arm, "said", answerCell(record.AnswerRow{Says: r.Answer}).text))
		}
	}
	return helped, failed, open, skipped
}

// measuredSentence says from which launches the figure is.
func measuredSentence(a *record.Advice, l record.AdviceLoss) sentence {
	var dir string
	var seconds float64
	for _, s := range a.Stages {
		if s.Kind == record.StageProof && s.Workload == l.Workload {
			dir, seconds = s.Dir, s.Seconds
		}
	}
	return msg("advise.measured", "launches", l.Proof.Launches, "time", quantity.Duration(seconds), "dir", dir)
}

// notLost lists the arms that are not shown to lose.
func notLost(a *record.Advice) block {
	var all arrange.Grouped[string]
	for _, k := range a.NotLost {
		name := k.Workload
		if k.Arm != "" {
			name = text("row.name", "arm", k.Arm, "load", k.Workload)
		}
		all.Add(answerCell(record.AnswerRow{Says: k.Answer}).text, name)
	}
	var b block
	for says, rows := range all.All() {
		b.items = append(b.items, item{text: msg("advise.kept", "rows", list(rows), "says", says)})
	}
	return b
}
