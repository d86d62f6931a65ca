package cause

import (
	"slices"

	"github.com/tarelab/tare/record"
)

// Separated returns the causes of a loss after its candidates were measured. Where causes stand together, a
// remedy that helped and is for one of them alone tells its share: the part of the loss that it removed.
func Separated(l record.AdviceLoss) []record.CauseShare {
	var out []record.CauseShare
	for _, c := range l.Causes {
		if len(c.Causes) < 2 {
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

// removed are the causes among those of c that a candidate tells apart, each with the largest part of the
// loss that a remedy for it alone removed.
func removed(l record.AdviceLoss, c record.CauseShare) (out []record.CauseShare) {
	whole := &loss{effect: record.Effect{Typical: &l.Lost}}
	for _, x := range l.Candidates {
		if x.Result == nil || x.Result.Answer.Word != record.SaysFaster || x.Result.Gained == nil || len(x.Remedies) != 1 {
			continue
		}
		var own []record.LossCause
		for _, cause := range c.Causes {
			if slices.Contains(x.For, cause) {
				own = append(own, cause)
			}
		}
		g := *x.Result.Gained
		share := whole.share(record.Ratio{Ratio: 1 / g.Ratio, Low: 1 / g.High, High: 1 / g.Low})
		if len(own) != 1 || share == nil {
			continue
		}
		share = &record.Share{Share: min(share.Share, 1), Low: min(share.Low, 1), High: share.High} // it may be faster than the baseline
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
