package report

import (
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

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
		names = append(names, in.lossCause(cause))
	}
	share := none
	if c.Share != nil {
		share = parts100(c.Share.Share, c.Share.Low, c.Share.High)
	}
	var s sentence
	switch {
	case len(names) > 1 && c.Share == nil:
		s = in.msg("advise.cause.unshared", "causes", in.names(names), "tells", in.said(c.Tells))
	case len(names) > 1:
		s = in.msg("advise.cause.open", "causes", in.names(names), "share", share, "tells", in.said(c.Tells))
	case c.Share == nil && c.By == record.ByDesign:
		s = in.msg("advise.cause.only", "causes", in.list(names))
	case c.Share == nil:
		s = say(in.list(names))
	case c.Stage != "":
		s = in.msg("advise.cause.in", "causes", in.list(names), "share", share, "stage", c.Stage)
	default:
		s = in.msg("advise.cause", "causes", in.list(names), "share", share)
	}
	if len(c.Evidence) > 0 {
		s = append(s, in.msg("advise.seen", "list", in.evidences(c.Evidence))...)
	}
	return s
}

// differences are settings with sizes in units.
func differences(all []string) (out []string) {
	for _, d := range all {
		if name, digits, _ := strings.Cut(d, "="); name == "memory" {
			if n, err := strconv.ParseFloat(digits, 64); err == nil {
				d = name + "=" + strings.ReplaceAll(quantity.Bytes(n), " ", "")
			}
		}
		out = append(out, d)
	}
	return out
}

// noCause says that no cause is found, what the counters exclude, and what the arm has more of.
func (in Language) noCause(l record.AdviceLoss) sentence {
	s := in.msg("advise.cause.none")
	if len(l.Excluded) > 0 {
		var excluded []string
		for _, x := range l.Excluded {
			excluded = append(excluded, in.text("advise.excluded", "cause", in.lossCause(x.Cause), "counter", in.evidence(x.Evidence)))
		}
		s = in.msg("advise.cause.none.excluded", "list", in.list(excluded))
	}
	if len(l.Grown) > 0 {
		s = in.joined("join.semicolon", s, in.msg("advise.cause.grown", "arm", l.Arm, "list", in.evidences(l.Grown)))
	}
	return s
}

func (in Language) lossCause(c record.LossCause) string {
	if key, ok := lossCauses[c]; ok {
		return in.text(key)
	}
	return string(c)
}

func (in Language) evidences(all []record.Evidence) string {
	var out []string
	for _, e := range all {
		out = append(out, in.evidence(e))
	}
	return in.commas(out...)
}

// evidence is what a probe reads in the arm and in its baseline.
func (in Language) evidence(e record.Evidence) string {
	number := quantity.Short
	key := messages.Key("advise.evidence")
	switch {
	case e.Per == "operation":
		if key = "advise.evidence.op"; e.Unit == "s" {
			number = quantity.Latency
		}
	case e.Unit != "s":
		key = "advise.evidence.count"
	}
	return in.text(key, "probe", e.Metric, "base", number(e.Against), "arm", number(e.Arm))
}
