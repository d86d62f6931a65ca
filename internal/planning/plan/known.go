package plan

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/tarelab/tare/record"
)

// mostSeen is how many runs a plan uses, the newest. The host may be busier than it was in the last one, so the longest
// times count.
const mostSeen = 3

// Know sets Workload.Known of each load from what runs showed of it, the oldest first. cached says whether a data set is in
// the cache.
func (p *Plan) Know(runs map[string][]Seen, cached func(key string) bool) {
	made := map[string]bool{} // by a load before
	for i := range p.Loads {
		l := &p.Loads[i]
		for _, d := range l.know(runs[l.Name]) {
			if !cached(d.Key) && !made[d.Key] {
				l.Known.Data += d.Seconds
			}
			made[d.Key] = true
		}
	}
	p.divideBudget() // writes the loads into Record
}

// know sets Known, without the data, and returns the data sets of the newest run. Where no run had the same parameters, the
// times of those with others count, but neither their widths nor their operations.
func (l *Load) know(runs []Seen) []record.DataSet {
	places, instances := placesOf(l.Workload.Arms)
	var same, others []Seen
	for _, s := range slices.Backward(runs) {
		switch has := func(p string) bool { return slices.Contains(s.Places, p) }; {
		case !s.plausible() || slices.ContainsFunc(places, func(p string) bool { return !has(p) }):
		case maps.Equal(s.Params, l.Params):
			same = append(same, s)
		default:
			s.Operations, s.Windows, s.Narrowest, s.Widest = 0, 0, 0, 0
			others = append(others, s)
		}
	}
	if len(same) == 0 {
		same = others
	}
	l.Known = nil
	for _, s := range same[:min(len(same), mostSeen)] {
		l.Known = s.with(l.Known, instances)
	}
	if l.Known == nil {
		return nil
	}
	return same[0].Data
}

// plausible says whether the file in the cache can be what a run wrote.
func (s *Seen) plausible() bool {
	const most = 1e9
	for _, x := range []float64{s.Launch, s.Slot, s.Seconds, s.Operations, s.Windows, s.Narrowest, s.Widest} {
		if !(x >= 0 && x < most) {
			return false
		}
	}
	return s.Begin > 0 && s.Begin < most && s.Instances > 0
}

// with combines what newer runs showed, nil for none, with this run, for a launch of so many instances. Instances start at the
// same time and share the CPUs, so their time is in proportion to their number.
func (s Seen) with(newer *record.Known, instances int) *record.Known {
	k := s.Known
	k.Launch *= float64(instances) / float64(s.Instances)
	if newer == nil {
		return &k
	}
	k.Runs, k.Newest = newer.Runs+1, newer.Newest
	k.Begin, k.Launch, k.Slot = max(k.Begin, newer.Begin), max(k.Launch, newer.Launch), max(k.Slot, newer.Slot)
	if k.Operations == 0 || newer.Operations > 0 && newer.Operations < k.Operations {
		k.Operations, k.Windows = newer.Operations, newer.Windows
	}
	switch {
	case k.Widest == 0:
		k.Narrowest, k.Widest, k.Seconds = newer.Narrowest, newer.Widest, newer.Seconds
	case newer.Widest > 0:
		scale := math.Sqrt(k.Seconds / newer.Seconds) // to the newer run's seconds
		k.Narrowest, k.Widest, k.Seconds = min(k.Narrowest*scale, newer.Narrowest), max(k.Widest*scale, newer.Widest), newer.Seconds
	}
	return &k
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
