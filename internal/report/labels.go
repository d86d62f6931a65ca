package report

import (
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	catalogue "github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// none is printed where there is no number.
const none = quantity.None

// word is the words for an arm.
type word struct {
	adds   string // what it adds to the rung below, a few words
	phrase string // fits into "… costs 3.1 % of throughput"
}

// armWords are the arms that have words of their own in the catalogue, by name.
var armWords = map[string]struct{ adds, phrase messages.Key }{
	"cgroup":     {"adds.cgroup", "arm.cgroup"},
	"namespaces": {"adds.namespaces", "arm.namespaces"},
	"rootfs":     {"adds.rootfs", "arm.rootfs"},
	"security":   {"adds.security", "arm.security"},
	"network":    {"adds.network", "arm.network"},
	"nat":        {"adds.nat", "arm.nat"},
	"container":  {"adds.container", "arm.container"},
	"cpu-limit":  {"adds.cpu-limit", "arm.cpu-limit"},
	"runc":       {"adds.runc", "arm.runc"},
	"crun":       {"adds.crun", "arm.crun"},
	"podman":     {"adds.podman", "arm.podman"},
	"docker":     {"adds.docker", "arm.docker"},
	"besteffort": {"adds.besteffort", "arm.besteffort"},
	"burstable":  {"adds.burstable", "arm.burstable"},
	"guaranteed": {"adds.guaranteed", "arm.guaranteed"},
}

// word looks an arm up. An arm that is not among them, or that has more settings than
// its rung, is called by its name and described by its title up to a colon.
func (w workload) word(arm string) word {
	title := w.Arm[arm].Title
	if r, ok := armWords[arm]; ok && !w.Imported && title.Code != record.TitleSettings {
		return word{w.in.text(r.adds), w.in.text(r.phrase)}
	}
	brief, _, _ := strings.Cut(w.in.said(title), w.in.colon("", "")) // "beside hogs, cpu.weight: a tenth of the weight"
	return word{brief, arm}
}

// metric is the words and the format for a metric.
type metric struct {
	head string // of a column
	of   string // fits into "costs 3.1 % of …"
	more bool   // more is better
	show func(float64) string
	in   Language
}

func (w workload) metricWord(name string) metric {
	m, ok := catalogue.Find(w.Values, name)
	if !ok {
		return metric{name, name, true, quantity.Short, w.in}
	}
	return metric{w.in.static(m.Head), w.in.metricLabel(m), m.Better > 0, showIn(m.Unit), w.in}
}

// metricLabel is a metric in a sentence.
func (in Language) metricLabel(m catalogue.Metric) string {
	if m.Quantile > 0 && m.Label != m.Name {
		return in.text("metric.latency", "quantile", m.Name)
	}
	return in.static(m.Label)
}

// showIn returns a function that prints numbers in a unit.
func showIn(unit string) func(float64) string {
	switch unit {
	case "s":
		return quantity.Latency
	case "B":
		return quantity.Bytes
	case "B/s":
		return func(x float64) string { return quantity.WithUnit(quantity.Bytes(x), "/s") }
	case "1/s":
		return quantity.Rate
	case "ratio":
		return quantity.Share
	case "1":
		return quantity.Short
	}
	if per, ok := strings.CutPrefix(unit, "1/"); ok {
		return func(x float64) string { return quantity.WithUnit(quantity.Short(x), "/"+per) }
	}
	return func(x float64) string { return quantity.WithUnit(quantity.Short(x), unit) }
}

// verdictCell is the verdict in one or two words. An undecided effect never reads as "no
// difference".
func (in Language) verdictCell(e record.Effect) cell {
	word, tone := in.verdictWord(e.Verdict), verdictTone(e.Verdict)
	switch {
	case e.Intermittent && (e.Verdict == record.NoDifference || e.Verdict == record.NoLoss):
		word, tone = in.text("verdict.intermittent"), unsure
	case e.Intermittent && e.Verdict.Differs():
		word = in.text("verdict.stalls", "verdict", word)
	case e.Farther():
		word = in.text("says.atmost", "verdict", word, "loss", percentUp(e.AtMost))
	case e.Verdict == record.NoDifference:
		word = in.text("says.nodifference", "bound", percentUp(e.AtMost))
	case e.Verdict == record.NoLoss:
		word = in.text("says.noloss", "bound", percentUp(e.AtMost))
	}
	if !e.Unequal.IsZero() {
		return cell{in.text("verdict.unequal", "verdict", word), unsure}
	}
	return cell{word, tone}
}

func (in Language) verdictWord(v record.Verdict) string {
	switch v {
	case record.Undecided:
		return in.text("verdict.undecided")
	case record.MoreCPU:
		return in.text("verdict.more")
	case record.LessCPU:
		return in.text("verdict.less")
	case record.Slower:
		return in.text("says.slower")
	case record.Faster:
		return in.text("says.faster")
	case record.NoDifference:
		return in.text("verdict.negligible")
	case record.NoLoss:
		return in.text("verdict.noloss")
	}
	return in.text("verdict.invalid")
}

func verdictTone(v record.Verdict) tone {
	switch v {
	case record.Slower, record.MoreCPU:
		return bad
	case record.Faster, record.LessCPU:
		return good
	case record.Undecided:
		return unsure
	case record.NoDifference, record.NoLoss:
		return faint
	}
	return broken
}

// effectCell is an effect with its interval, in the tone of its verdict.
func effectCell(e record.Effect) figure {
	if e.Typical == nil {
		return cell{none, faint}.figure()
	}
	return fractional(e.Around(), verdictTone(e.Verdict))
}

// ended is the reason why a run ended, in words; the second result is true where its record is
// not complete.
func (in Language) ended(reason string) (string, bool) {
	switch reason {
	case "precision":
		return in.text("ended.precision"), false
	case record.EndedDecided:
		return in.text("ended.decided"), false
	case "budget":
		return in.text("ended.budget"), false
	case "interrupted":
		return in.text("ended.interrupted"), true
	case "error":
		return in.text("ended.error"), true
	case record.EndedFull:
		return in.text("ended.full"), true
	case record.EndedRunning:
		return in.text("ended.running"), true
	case record.EndedKilled:
		return in.text("ended.killed"), true
	case "":
		return in.text("ended.open"), true
	case "imported":
		return "", false // nothing was run, so nothing ended
	}
	return reason, false
}

// list joins words: "a, b and c".
func (in Language) list(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return in.text("list.and", "most", in.names(words[:n-1]), "last", words[n-1])
	}
}

// number is a number of things, as "2 blocks"; the message of key has the word for them.
func (in Language) number(key messages.Key, n int) string { return in.text(key, "n", n) }

// distinct are the names of things in the order in which they come first.
func distinct[T any](all []T, name func(T) string) []string {
	var names arrange.Ordered
	for _, x := range all {
		names.Add(name(x))
	}
	return names
}
