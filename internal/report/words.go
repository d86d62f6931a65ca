package report

import (
	"strconv"
	"strings"

	"github.com/tarelab/tare/record"
)

// word is how a report speaks of an arm.
type word struct {
	adds   string // what it adds to the rung below, a few words
	phrase string // fits into "… costs 3.1 % of throughput"
}

// word looks an arm up; one that has no word of its own, or of which more was
// chosen than that, is called by its name and described by its title.
func (w workload) word(arm string) word {
	words := map[string]word{
		"cgroup":     {"ample limits", "the control groups"},
		"namespaces": {"pid, mnt, uts", "the set of namespaces"},
		"rootfs":     {"overlay root", "the root file system"},
		"security":   {"caps, seccomp", "the security profile"},
		"network":    {"veth, bridge", "the container network"},
		"nat":        {"port forward", "port forwarding"},
		"container":  {"real runtime", "the container"},
		"cpu-limit":  {"CPU quota", "the CPU limit"},
		"runc":       {"real runtime", "runc"},
		"crun":       {"real runtime", "crun"},
		"podman":     {"an engine", "Podman"},
		"docker":     {"an engine", "Docker"},
		"besteffort": {"no requests", "the BestEffort pod"},
		"burstable":  {"small requests", "the Burstable pod"},
		"guaranteed": {"pod with limits", "the Guaranteed pod"},
	}
	if x, ok := words[arm]; ok && !w.imported && !strings.HasPrefix(w.arm[arm].Title, "in "+arm+", ") {
		return x
	}
	brief, _, _ := strings.Cut(w.arm[arm].Title, ": ") // "beside hogs, cpu.weight: a tenth of the weight"
	return word{brief, arm}
}

// metric is how a report speaks of a metric.
type metric struct {
	head string // of a column
	of   string // fits into "costs 3.1 % of …"
	more bool   // more is better
	show func(float64) string
}

func (w workload) metricWord(name string) metric {
	for _, v := range w.Values {
		if v.Name == name {
			return metric{name, name, v.Better > 0, showIn(v.Unit)}
		}
	}
	switch name {
	case "throughput":
		return metric{"throughput", "throughput", true, Rate}
	case "cpu_per_op":
		return metric{"CPU/op", "CPU time per operation", false, Latency}
	case "p50", "p95", "p99":
		return metric{name, "latency (" + name + ")", false, Latency}
	}
	return metric{name, name, true, short}
}

// showIn prints numbers in a unit.
func showIn(unit string) func(float64) string {
	switch unit {
	case "s":
		return Latency
	case "B":
		return Bytes
	case "B/s":
		return func(x float64) string { return withUnit(Bytes(x), "/s") }
	case "1/s":
		return Rate
	case "ratio":
		return share
	case "1":
		return short
	}
	if per, ok := strings.CutPrefix(unit, "1/"); ok {
		return func(x float64) string { return withUnit(short(x), "/"+per) }
	}
	return func(x float64) string { return withUnit(short(x), unit) }
}

// unequal marks a result of arms that do not keep the same of what is committed.
const unequal = "unequal"

// verdictCell is the verdict in one or two words. "undecided" is never put in
// the words of "no difference".
func verdictCell(e record.Effect, margin float64) cell {
	text, tone := e.Verdict.String(), verdictTone(e.Verdict)
	switch {
	case e.Intermittent && e.Verdict == record.Negligible:
		text, tone = "intermittent", unsure
	case e.Intermittent && (e.Verdict == record.Cost || e.Verdict == record.Gain):
		text = "intermittent"
	case e.Verdict == record.Negligible:
		text = "within " + size(margin)
	}
	if e.Unequal != "" {
		return cell{text + ", " + unequal, unsure}
	}
	return cell{text, tone}
}

func verdictTone(v record.Verdict) tone {
	switch v {
	case record.Cost:
		return bad
	case record.Gain:
		return good
	case record.Undecided:
		return unsure
	case record.Negligible:
		return faint
	}
	return broken
}

// effectCell is an effect with its interval, in the tone of its verdict.
func effectCell(e record.Effect) cell {
	if e.Typical == nil {
		return cell{none, faint}
	}
	return cell{Interval(e.Typical), verdictTone(e.Verdict)}
}

// ended says in words why a run ended; the second result is true when its
// record is not whole.
func ended(reason string) (string, bool) {
	switch reason {
	case "precision":
		return "precise enough", false
	case "budget":
		return "time budget used up", false
	case "interrupted":
		return "interrupted", true
	case "error":
		return "ended by an error", true
	case "killed":
		return "killed: the record has no end", true
	case "":
		return "still running or without an end", true
	}
	return reason, false
}

// list joins words: "a, b and c".
func list(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}
