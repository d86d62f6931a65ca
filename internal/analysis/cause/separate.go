package cause

import (
	"slices"

	"github.com/tarelab/tare/record"
)

// Separated returns the causes of a loss after its candidates were measured, and again after the proof. Where causes stand together, a
// remedy that helped and is for one of them alone tells its share: the part of the loss that it removed. One
// that removed a setting, and did not help, tells that the setting is no cause.
func Separated(l record.AdviceLoss) []record.CauseShare {
	var out []record.CauseShare
	for _, c := range l.Causes {
		c.Causes = remaining(l, c.Causes)
		if len(c.Causes) < 2 {
			c.Tells = ""
			out = append(out, c)
			continue
		}
		found := removed(l, c)
		out = append(out, found...)
		open := slices.DeleteFunc(slices.Clone(c.Causes), func(x record.LossCause) bool {
			return slices.ContainsFunc(found, func(f record.CauseShare) bool { return f.Causes[0] == x })
		})
		if left := rest(found); len(found) == 0 {
			out = append(out, c)
		} else if len(open) > 0 && c.Share != nil {
			c.Causes, c.By = open, record.ByRest
			c.Share = &record.Share{Share: c.Share.Share + left.Share - 1, Low: c.Share.Low + left.Low - 1, High: c.Share.High + left.High - 1}
			if c.Share.Share > small && c.Share.Low > 0 { // a rest that is not shown is no cause
				out = append(out, c)
			}
		}
	}
	return out
}

// remaining are the causes but those whose setting a candidate removed without help; all where none would be
// left.
func remaining(l record.AdviceLoss, all []record.LossCause) []record.LossCause {
	open := slices.DeleteFunc(slices.Clone(all), func(cause record.LossCause) bool {
		return slices.ContainsFunc(l.Candidates, func(x record.Candidate) bool {
			return x.Result != nil && helpless(x.Result.Answer.Word) && slices.Equal(x.For, []record.LossCause{cause}) &&
				!slices.ContainsFunc(x.Apply, func(s record.RemedySetting) bool { return s.Value != "" })
		})
	})
	if len(open) == 0 {
		return all
	}
	return open
}

// helpless reports whether a remedy is shown to win nothing back that matters.
func helpless(w record.AnswerWord) bool {
	return w == record.SaysNoDifference || w == record.SaysSlower
}

// removed are the causes among those of c that a candidate tells apart, each with the largest part of the
// loss that a remedy for it alone removed; of the remedy that was proved, what the proof says.
func removed(l record.AdviceLoss, c record.CauseShare) (out []record.CauseShare) {
	whole := &loss{effect: record.Effect{Typical: &l.Lost}}
	for n, x := range l.Candidates {
		r := x.Result
		if l.Remedy != nil && *l.Remedy == n && l.Proof != nil {
			r = l.Proof
		}
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
			share = whole.share(record.Ratio{Ratio: 1 / g.Ratio, Low: 1 / g.High, High: 1 / g.Low})
		}
		if len(own) != 1 || !slices.Contains(c.Causes, own[0]) || share == nil {
			continue
		}
		share = &record.Share{Share: min(share.Share, 1), Low: min(share.Low, 1), High: min(share.High, 1)} // it may be faster than the baseline
		i := slices.IndexFunc(out, func(f record.CauseShare) bool { return f.Causes[0] == own[0] })
		switch f := (record.CauseShare{Causes: own, Share: share, By: record.ByRemedy, Evidence: c.Evidence}); {
		case i < 0:
			out = append(out, f)
		case share.Share > out[i].Share.Share:
			out[i] = f
		}
	}
	return out
}
