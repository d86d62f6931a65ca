package report

import (
	"path"
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
			d.add(section{title: l.Workload, about: in.text("advise.about"), blocks: []block{in.candidates(a, l), in.candidateSettings(l), in.applying(a.Host, l)}})
		}
	}
	if len(a.Losses) == 0 {
		d.add(section{blocks: []block{{items: []item{{text: in.noLoss(a)}}}}})
	}
	d.add(section{blocks: []block{in.notLost(a)}})
	d.add(section{blocks: []block{in.adviceNotes(a, details)}})
	if details {
		d.add(section{title: in.text("advise.stages"), blocks: []block{in.stages(a)}})
	}
	return d
}

// competing is the share of the CPUs from which other processes are named as what may hide a loss.
const competing = 0.1

// noLoss says that nothing is shown to lose, and what may show it.
func (in Language) noLoss(a *record.Advice) sentence {
	if !slices.ContainsFunc(a.NotLost, func(k record.AdviceNoLoss) bool { return !k.Answer.Word.Decided() }) {
		return in.msg("advise.nothing")
	}
	if most := foreign(a); most >= competing {
		return in.msg("advise.unshown.busy", "share", quantity.Share(most))
	}
	return in.msg("advise.unshown")
}

// foreign is the largest share of the CPUs that other processes used in a stage.
func foreign(a *record.Advice) (most float64) {
	for _, s := range a.Stages {
		most = max(most, s.Foreign)
	}
	return most
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
	if len(l.Differs) > 0 {
		add("advise.label.differs", in.msg("advise.differs", "arm", l.Arm, "list", in.commas(differences(l.Differs)...)))
	}
	for _, c := range l.Causes {
		add("advise.label.cause", in.causeSentence(c))
	}
	if len(l.Causes) == 0 {
		add("advise.label.cause", in.noCause(l))
	}
	switch proved := l.Standing == record.StandingProved; {
	case l.Remedy == nil:
	case proved:
		c := l.Candidates[*l.Remedy]
		add("advise.label.remedy", in.msg("advise.remedy", "name", strings.Join(c.Remedies, " + "), "does", in.semicolons(in.staticAll(c.Does)...)))
		add("advise.label.set", in.settingSentence(c))
		if !details {
			add("advise.label.lines", in.lineTargets(a.Host, c))
		}
		add("advise.label.regained", in.regainedSentence(l))
		add("advise.label.price", in.priceSentence(l.Proof, c))
	default:
		c := l.Candidates[*l.Remedy]
		add("advise.label.tried", in.msg("advise.tried", "name", strings.Join(c.Remedies, " + "), "said", in.regainedSentence(l)))
	}
	add("advise.label.standing", in.standingSentence(l))
	helped, failed, open, skipped := in.others(l)
	if l.Standing == record.StandingProved {
		add("advise.label.helped", in.joined("join.names", helped...))
	} else {
		add("advise.label.helped.alone", in.joined("join.names", helped...))
	}
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
		label = in.metricLabel(m)
	}
	digits := quantity.Digits(&l.Lost)
	pairs := []any{
		"load", l.Workload, "size", quantity.WithUnit(strings.TrimLeft(quantity.Change(l.Lost.Ratio, digits), "+-"), "%"), "metric", label,
		"arm", l.Arm, "baseline", l.Baseline, "interval", quantity.Bounds(l.Lost.Low, l.Lost.High, digits),
	}
	if l.Lost.Ratio > 1 {
		return in.msg("advise.lost.more", pairs...)
	}
	return in.msg("advise.lost.less", pairs...)
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
		out = append(out, in.text("advise.setting", "on", string(s.On), "key", s.Key, "value", value))
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
	switch {
	case l.Proof.Gained == nil:
		return say(in.answerCell(record.AnswerRow{Says: l.Proof.Answer}).text)
	case r == nil:
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

// resultText is the figure of a candidate: the part of the loss that it regains; where none is known its gain over the
// arm that lost.
func (in Language) resultText(l record.AdviceLoss, r *record.RemedyResult) string {
	switch {
	case r.Gained == nil:
		return in.answerCell(record.AnswerRow{Says: r.Answer}).text
	case r.Regained != nil:
		return parts100(r.Regained.Share, r.Regained.Low, r.Regained.High)
	}
	return in.text("advise.gained", "gain", quantity.Interval(r.Gained), "arm", l.Arm)
}

// others are the candidates beside the remedy: those that helped, that did not, and that are undecided, with a
// number, and those that were skipped.
func (in Language) others(l record.AdviceLoss) (helped, failed, open []sentence, skipped []string) {
	for i, c := range l.Candidates {
		r := c.Result
		name := strings.Join(c.Remedies, " + ")
		says := func(said string) sentence { return in.msg("advise.other", "name", name, "said", said) }
		switch {
		case l.Remedy != nil && *l.Remedy == i:
		case r == nil:
			skipped = append(skipped, name)
		case r.Answer.Word == record.SaysFaster:
			helped = append(helped, says(in.resultText(l, r)))
		case r.Answer.Word == record.SaysUndecided:
			open = append(open, says(in.resultText(l, r)))
		case r.Answer.Word == record.SaysInvalid:
			open = append(open, says(in.answerCell(record.AnswerRow{Says: r.Answer}).text))
		default:
			failed = append(failed, says(in.answerCell(record.AnswerRow{Says: r.Answer}).text))
		}
	}
	return helped, failed, open, skipped
}

// competed reports whether the candidates of a loss were measured together before the proof.
func competed(a *record.Advice, l record.AdviceLoss) bool {
	return slices.ContainsFunc(a.Stages, func(s record.AdviceStage) bool { return s.Kind == record.StageCandidates && s.Workload == l.Workload })
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
	key := messages.Key("advise.measured")
	if !competed(a, l) {
		key = "advise.measured.alone"
	}
	return in.msg(key, "launches", l.Proof.Launches, "time", quantity.Duration(seconds), "dir", dir)
}

// notLost lists the arms that are not shown to lose, each invalid one with the reason, and those that were skipped.
func (in Language) notLost(a *record.Advice) block {
	var all arrange.Grouped[string]
	name := func(load, arm string) string {
		if arm == "" {
			return load
		}
		return in.text("row.name", "arm", arm, "load", load)
	}
	for _, k := range a.NotLost {
		says := in.answerCell(record.AnswerRow{Says: k.Answer}).text
		if k.Answer.Word == record.SaysInvalid && !k.Answer.Reason.IsZero() {
			says = in.colon(says, in.said(k.Answer.Reason))
		}
		all.Add(says, name(k.Workload, k.Arm))
	}
	for _, l := range a.Left {
		all.Add(in.colon(in.text("says.skipped"), in.said(l.Reason)), name(l.Workload, l.Arm))
	}
	var b block
	for says, rows := range all.All() {
		b.items = append(b.items, item{text: in.msg("advise.kept", "rows", in.list(rows), "says", says)})
	}
	return b
}

// adviceNotes are what other processes used, dropped windows and the warnings of the stages, each with its stage;
// without details the first of the warnings.
func (in Language) adviceNotes(a *record.Advice, details bool) block {
	var b block
	add := func(stage string, s sentence) {
		if len(s) > 0 {
			b.items = append(b.items, item{label: cell{"!", unsure}, text: in.msg("join.colon", "subject", stage, "what", s)})
		}
	}
	var all record.Effects
	var disturbed []string
	for _, s := range a.Stages {
		if s.Foreign >= competing {
			disturbed = append(disturbed, path.Base(s.Dir))
		}
	}
	if len(disturbed) > 0 {
		add(in.commas(disturbed...), in.msg("advise.foreign", "share", quantity.Share(foreign(a))))
	}
	for _, s := range a.Stages {
		dir := path.Base(s.Dir)
		if s.Dropped != nil {
			add(dir, in.droppedWindows(*s.Dropped))
		}
		for _, w := range s.Warnings {
			if s.Workload == "" && w.Workload != "" {
				w.Arm = strings.TrimSuffix(w.Workload+"/"+w.Arm, "/")
			}
			w.Workload = dir
			all.Warnings = append(all.Warnings, w)
		}
	}
	warnings := in.warnings(&all).items
	if n := len(warnings); !details && n > mostWarnings {
		warnings = append(warnings[:mostWarnings:mostWarnings], item{text: in.msg("advise.more", "n", n-mostWarnings)})
	}
	b.items = append(b.items, warnings...)
	return b
}
