package cli

import (
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/host/doctor"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// mostRuns is how many runs of a load are kept.
const mostRuns = 12

// seenLayout grows when the files of what runs showed change.
const seenLayout = 1

// seenOf is what the time of a load's launches depends on: this host, the versions of its programs and its data. Runs of
// all its parameters and arms are in one file, beside the data sets in the cache.
func seenOf(p *plan.Plan, l plan.Load, programs []record.Program, host record.Host) dataset.About {
	var names, data []string
	for _, x := range programs {
		names = append(names, x.String())
	}
	for _, u := range usesOf(l) {
		if u.stages.Prepare != nil && !slices.Contains(data, u.stages.Key) {
			data = append(data, u.stages.Key)
		}
	}
	return dataset.About{Kind: l.Kind, Version: "seen", Layout: seenLayout, Params: map[string]string{
		"host": host.Name, "cpu": host.CPUModel, "node": p.PodNode,
		"programs": strings.Join(names, "\n"), "data": strings.Join(data, "\n"),
	}}
}

// recall writes into a plan what earlier runs of its loads on this host took and showed. A cache that cannot be read knows
// nothing.
func (f *experimentFlags) recall(p *plan.Plan, found programsFound) {
	f.seen = map[string]dataset.About{}
	store, err := dataset.Default()
	if err != nil {
		return
	}
	host, runs := doctor.Facts("/"), map[string][]plan.Seen{}
	for _, l := range p.Loads {
		f.seen[l.Name] = seenOf(p, l, found.of(l), host)
		var all []plan.Seen
		if err := store.Kept(f.seen[l.Name], &all); err == nil {
			runs[l.Name] = all
		}
	}
	p.Know(runs, store.Has)
}

// remember keeps what a run took and showed. Without it the next plan knows less, so an error of the cache is none of the
// run's.
func (f *experimentFlags) remember(r *record.Result, e *record.Effects) {
	store, err := dataset.Default()
	if err != nil || r == nil || e == nil {
		return
	}
	all, err := plan.SeenIn(r, e)
	if err != nil {
		return
	}
	for i, w := range r.Plan.Workloads {
		about, ok := f.seen[w.Name]
		if !ok || all[i].Begin == 0 {
			continue
		}
		var runs []plan.Seen
		if err := store.Kept(about, &runs); err != nil {
			runs = nil // it is replaced
		}
		same := func(s plan.Seen) bool { return s.Newest == all[i].Newest && s.Load == w.Name } // a run that was continued
		runs = append(slices.DeleteFunc(runs, same), all[i])
		_ = store.Keep(about, runs[max(0, len(runs)-mostRuns):]) // a read-only cache
	}
}
