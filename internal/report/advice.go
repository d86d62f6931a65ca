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
func (in Language) Advice(a *record.Advice, details bool) Document {
	d := Document{in: in, title: in.adviceTitle(a)}
	for _, l := range a.Losses {
		d.add(section{blocks: []block{in.proofSheet(a, l, details)}})
		if details {
			d.add(section{title: l.Workload, about: in.text("advise.about"), blocks: []block{in.candidates(l), in.candidateSettings(l), in.applying(l)}})
		}
	}
	if len(a.Losses) == 0 {
		nothing := in.msg("advise.nothing")
		if slices.ContainsFunc(a.NotLost, func(k record.AdviceNoLoss) bool { return !k.Answer.Word.Decided() }) {
			nothing = in.msg("advise.unshown")
		}
		d.add(section{blocks: []block{{items: []item{{text: nothing}}}}})
	}
	d.add(section{blocks: []block{in.notLost(a)}})
	if details {
		d.add(section{title: in.text("advise.stages"), blocks: []block{in.stages(a)}})
	}
	return d
}

func (in Language) adviceTitle(a *record.Advice) sentence {
	s := in.msg("advise.title", "experiment", a.Experiment)
	if a.Host.Name != "" {
		s = append(s, in.msg("title.host.cpus", "host", a.Host.Name, "cpus", in.number("count.cpus", a.Host.CPUs))...)
	}
	if a.Started != "" {
		s = in.joined("join.comma", s, say(started(a.Started)))
	}
	if a.Seconds > 0 {
		s = in.joined("join.comma", s, say(quantity.Duration(a.Seconds)))
	}
	return s
}

// proofSheet is one loss on the screen.
func (in Language) proofSheet(a *record.Advice, l record.AdviceLoss, details bool) block {
	b := block{items: []item{{text: in.lostSentence(l)}}}
	add := func(key messages.Key, s sentence) {
		if len(s) > 0 {
			b.items = append(b.items, item{label: cell{in.text(key), strong}, text: s})
		}
	}
	for _, c := range l.Causes {
		add("advise.label.cause", in.causeSentence(c))
	}
	if l.Remedy != nil {
		c := l.Candidates[*l.Remedy]
		add("advise.label.remedy", in.msg("advise.remedy", "name", strings.Join(c.Remedies, " + "), "does", in.semicolons(in.saidAll(c.Does)...)))
		add("advise.label.set", in.settingSentence(c))
		if !details && l.Standing == record.StandingProved {
			add("advise.label.lines", in.lineTargets(c))
		}
		add("advise.label.regained", in.regainedSentence(l))
		add("advise.label.price", in.priceSentence(l.Proof, c))
	}
	add("advise.label.standing", in.standingSentence(l))
	helped, failed, open, skipped := in.others(l)
	add("advise.label.helped", in.joined("join.names", helped...))
	add("advise.label.failed", in.joined("join.names", failed...))
	add("advise.label.open", in.joined("join.names", open...))
	if !details && len(skipped) > 0 {
		add("advise.label.skipped", in.msg("advise.skipped", "list", in.names(skipped)))
	}
	if l.Proof != nil {
		add("advise.label.measured", in.measuredSentence(a, l))
	}
	return b
}

// lostSentence says how much was lost.
func (in Language) lostSentence(l record.AdviceLoss) sentence {
	label := l.Metric
	if m, ok := catalogue.Find(nil, l.Metric); ok {
		label = m.Label
	}
	digits := quantity.Digits(&l.Lost)
	pairs := []any{
		"load", l.Workload, "size", quantity.WithUnit(strings.TrimLeft(quantity.Change(l.Lost.Ratio, digits), "+-"), "%"), "metric", in.said(label),
		"arm", l.Arm, "baseline", l.Baseline, "interval", quantity.Bounds(l.Lost.Low, l.Lost.High, digits),
	}
	if l.Lost.Ratio > 1 {
		return in.msg("advise.lost.more", pairs...)
	}
	return in.msg("advise.lost.less", pairs...)
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
func (in Language) causeSentence(c record.CauseShare) sentence {
	var names []string
	for _, cause := range c.Causes {
		name := string(cause)
		if key, ok := lossCauses[cause]; ok {
			name = in.text(key)
		}
		names = append(names, name)
	}
	share := none
	if c.Share != nil {
		share = parts100(c.Share.Share, c.Share.Low, c.Share.High)
	}
	if len(names) == 1 && c.Share != nil && c.Share.Low == 1 && c.Share.High == 1 { // exact: it is the only one
		share = in.text("advise.whole")
	}
	var seen []string
	for _, e := range c.Evidence {
		if e.Per == "operation" {
			seen = append(seen, in.text("advise.evidence.op", "probe", e.Metric, "base", quantity.Latency(e.Against), "arm", quantity.Latency(e.Arm)))
			continue
		}
		seen = append(seen, in.text("advise.evidence", "probe", e.Metric, "base", quantity.Short(e.Against), "arm", quantity.Short(e.Arm)))
	}
	s := in.msg("advise.cause", "causes", in.list(names), "share", share)
	if len(names) > 1 {
		s = in.msg("advise.cause.open", "causes", in.names(names), "share", share, "tells", in.said(c.Tells))
	}
	if len(seen) > 0 {
		s = append(s, in.msg("advise.seen", "list", in.commas(seen...))...)
	}
	return s
}

// settingSentence is how a remedy is applied, and the way back.
func (in Language) settingSentence(c record.Candidate) sentence {
	return in.msg("advise.set", "apply", in.settingList(c.Apply), "undo", in.settingList(c.Undo))
}

func (in Language) settingList(all []record.RemedySetting) string {
	var out []string
	for _, s := range all {
		value := s.Value
		if n, err := strconv.ParseFloat(value, 64); err == nil && s.Key.Bytes() {
			value = quantity.Bytes(n)
		}
		if value == "" {
			value = in.text("advise.default")
		}
		out = append(out, in.text("advise.setting", "on", in.said(string(s.On)), "key", s.Key, "value", value))
	}
	return in.commas(out...)
}

// regainedSentence is the figure of the proof: the part of the loss, or where the noise is too large for one
// the gain over the arm that lost.
func (in Language) regainedSentence(l record.AdviceLoss) sentence {
	if l.Proof == nil {
		return nil
	}
	r := l.Proof.Regained
	if r == nil {
		return in.msg("advise.gained", "gain", cell{quantity.Interval(l.Proof.Gained), strong}, "arm", l.Arm)
	}
	return in.msg("advise.regained", "share", cell{parts100(r.Share, r.Low, r.High), strong}, "left", quantity.Interval(l.Proof.Left), "baseline", l.Baseline)
}

// priceSentence is what the neighbour keeps and what is given up.
func (in Language) priceSentence(r *record.RemedyResult, c record.Candidate) sentence {
	var s sentence
	if r != nil && r.Kept != nil {
		s = in.msg("advise.keeps", "kept", parts100(r.Kept.Ratio, r.Kept.Low, r.Kept.High))
	}
	return in.joined("join.semicolon", s, in.msg("advise.gives", "list", in.list(in.saidAll(c.Gives))))
}

// standingSentence says why no remedy is proved; empty where one is.
func (in Language) standingSentence(l record.AdviceLoss) sentence {
	key := map[record.AdviceStanding]messages.Key{
		record.StandingUndecided: "advise.undecided", record.StandingNoHelp: "advise.nohelp",
		record.StandingSkipped: "advise.untried", record.StandingInvalid: "advise.invalid",
	}[l.Standing]
	if key == "" {
		return nil
	}
	return in.msg(key, "reason", in.said(l.Reason))
}

// others are the candidates beside the remedy: those that helped, that did not, and that are undecided, with a
// number, and those that were skipped.
func (in Language) others(l record.AdviceLoss) (helped, failed, open []sentence, skipped []string) {
	for i, c := range l.Candidates {
		r := c.Result
		switch {
		case l.Remedy != nil && *l.Remedy == i:
		case r == nil:
			skipped = append(skipped, c.Arm)
		case r.Answer.Word == record.SaysFaster && r.Regained != nil:
			helped = append(helped, in.msg("advise.other", "name", c.Arm, "said", parts100(r.Regained.Share, r.Regained.Low, r.Regained.High)))
		case r.Answer.Word == record.SaysFaster:
			helped = append(helped, in.msg("advise.other", "name", c.Arm, "said", quantity.Interval(r.Gained)))
		case r.Answer.Word == record.SaysUndecided:
			open = append(open, in.msg("advise.other", "name", c.Arm, "said", quantity.Interval(r.Gained)))
		default:
			failed = append(failed, in.msg("advise.other", "name", c.Arm, "said", in.answerCell(record.AnswerRow{Says: r.Answer}).text))
		}
	}
	return helped, failed, open, skipped
}

// measuredSentence says from which launches the figure is.
func (in Language) measuredSentence(a *record.Advice, l record.AdviceLoss) sentence {
	var dir string
	var seconds float64
	for _, s := range a.Stages {
		if s.Kind == record.StageProof && s.Workload == l.Workload {
			dir, seconds = s.Dir, s.Seconds
		}
	}
	return in.msg("advise.measured", "launches", l.Proof.Launches, "time", quantity.Duration(seconds), "dir", dir)
}

// notLost lists the arms that are not shown to lose.
func (in Language) notLost(a *record.Advice) block {
	var all arrange.Grouped[string]
	for _, k := range a.NotLost {
		name := k.Workload
		if k.Arm != "" {
			name = in.text("row.name", "arm", k.Arm, "load", k.Workload)
		}
		all.Add(in.answerCell(record.AnswerRow{Says: k.Answer}).text, name)
	}
	var b block
	for says, rows := range all.All() {
		b.items = append(b.items, item{text: in.msg("advise.kept", "rows", in.list(rows), "says", says)})
	}
	return b
}
