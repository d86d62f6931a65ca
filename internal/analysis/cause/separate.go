package cause

import (
	"slices"

	"github.com/tarelab/tare/record"
)

// Separated returns the causes of a loss after its candidates were measured, and again after the proof. A
// remedy that helped and is for one cause alone tells the share of that cause where none was measured: the part of the
// loss that it removed. One that removed a setting, and did not help, tells that the setting is no cause.
func Separated(l record.AdviceLoss) []record.CauseShare {
	out := []record.CauseShare{}
	for _, c := range l.Causes {
		c.Causes = remaining(l, c)
		found := removed(l, c)
		switch {
		case len(c.Causes) == 0:
		case len(c.Causes) == 1 && (c.Share != nil || len(found) == 0):
			c.Tells = record.Said{}
			out = append(out, c)
		case len(found) == 0:
			c.Tells = told(l, c)
			out = append(out, c)
		default:
			out = append(append(out, found...), others(c, found)...)
		}
	}
	return out
}

// others are the causes that stand together, without those that remedies told apart; none where no rest is shown.
func others(c record.CauseShare, found []record.CauseShare) []record.CauseShare {
	c.Causes = slices.DeleteFunc(slices.Clone(c.Causes), func(x record.LossCause) bool {
		return slices.ContainsFunc(found, func(f record.CauseShare) bool { return f.Causes[0] == x })
	})
	left := rest(found)
	if c.Share != nil {
		left = &record.Share{Share: c.Share.Share + left.Share - 1, Low: c.Share.Low + left.Low - 1, High: c.Share.High + left.High - 1}
	}
	if len(c.Causes) == 0 || !shown(left) {
		return nil
	}
	c.Share, c.By, c.Stage = left, record.ByRest, found[0].Stage
	return []record.CauseShare{c}
}

// told is what would tell the causes apart that the candidates did not.
func told(l record.AdviceLoss, c record.CauseShare) record.Said {
	tried := func(x record.LossCause) bool {
		return slices.ContainsFunc(l.Candidates, func(t record.Candidate) bool { return t.Result != nil && slices.Contains(t.For, x) })
	}
	switch {
	case slices.ContainsFunc(c.Causes, func(x record.LossCause) bool { return slices.Contains(besideCauses(), x) }):
		return mechanisms(c.Causes, l.Candidates)
	case !slices.ContainsFunc(c.Causes, func(x record.LossCause) bool { return !tried(x) }):
		return moreTime
	}
	return c.Tells
}

// mechanismOf is what tells that a neighbour takes something, and the remedy that is an arm with it.
var mechanismOf = []struct {
	cause        record.LossCause
	word, remedy string
}{
	{record.LossNeighbourCPU, "cpu.idle", "cpu-idle"}, {record.LossNeighbourDisk, "io.max", "io-max"}, {record.LossNeighbourMemory, "memory.high", "memory-high"},
}

// mechanisms names the arms that tell what a neighbour takes, without those whose remedy is among the candidates that
// were tried, or that this host cannot have.
func mechanisms(causes []record.LossCause, candidates []record.Candidate) record.Said {
	var names []string
	for _, m := range mechanismOf {
		done := slices.ContainsFunc(candidates, func(c record.Candidate) bool {
			return slices.Equal(c.Remedies, []string{m.remedy}) && (c.Result != nil || c.Skipped != nil)
		})
		if slices.Contains(causes, m.cause) && !done {
			names = append(names, m.word)
		}
	}
	if len(names) == 0 {
		return moreTime
	}
	return armsWith(names)
}

// remaining are the causes but those whose setting a candidate removed without help. Of several at least one is
// left: two limits may hold back as much.
func remaining(l record.AdviceLoss, c record.CauseShare) []record.LossCause {
	open := slices.DeleteFunc(slices.Clone(c.Causes), func(cause record.LossCause) bool {
		return slices.ContainsFunc(l.Candidates, func(x record.Candidate) bool {
			return x.Result != nil && helpless(x.Result.Answer.Word) && slices.Equal(x.For, []record.LossCause{cause}) &&
				!slices.ContainsFunc(x.Apply, func(s record.RemedySetting) bool { return s.Value != "" })
		})
	})
	if len(open) == 0 && (len(c.Causes) > 1 || c.Share != nil) {
		return c.Causes
	}
	return open
}

// helpless reports whether a remedy is shown to win nothing back that matters.
func helpless(w record.AnswerWord) bool {
	return w == record.SaysNoDifference || w == record.SaysSlower
}

// removed are the causes among those of c that a candidate tells apart, each with the largest part of the
// loss that a remedy for it alone removed. All are of the stage with the candidates.
func removed(l record.AdviceLoss, c record.CauseShare) (out []record.CauseShare) {
	whole := &loss{effect: record.Effect{Typical: &l.Lost}}
	for _, x := range l.Candidates {
		r := x.Result
		if r == nil || r.Answer.Word != record.SaysFaster || r.Gained == nil || len(x.Remedies) != 1 {
			continue
		}
		var own []record.LossCause // also causes with a share of their own, which the remedy removes with them
		for _, all := range l.Causes {
			for _, cause := range all.Causes {
				if slices.Contains(x.For, cause) {
					own = append(own, cause)
				}
			}
		}
		g := *r.Gained
		share := r.Regained // of the loss that its own stage measured
		if share == nil {
			share = whole.share(g.Inverse())
		}
		if len(own) != 1 || !slices.Contains(c.Causes, own[0]) || share == nil {
			continue
		}
		all := share.AtMost(1) // it may be faster than the baseline
		share = &all
		i := slices.IndexFunc(out, func(f record.CauseShare) bool { return f.Causes[0] == own[0] })
		switch f := (record.CauseShare{Causes: own, Share: share, By: record.ByRemedy, Stage: r.Stage, Evidence: c.Evidence}); {
		case i < 0:
			out = append(out, f)
		case share.Share > out[i].Share.Share:
			out[i] = f
		}
	}
	return out
}
