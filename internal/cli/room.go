package cli

import (
	"cmp"
	"fmt"

	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/planning/plan"
)

// roomy returns an error if the run would end at once because the host lacks space on the file
// system under test or of the result directory, or process ids. result is the directory; "":
// none is written.
func roomy(p *plan.Plan, result string, groups *cgroup.Tree) error {
	dirs := []struct{ dir, remedy string }{
		{cmp.Or(p.Scratch, inspect.DefaultScratch), "--scratch DIR, a directory on a file system with more room; df -h shows them"},
		{result, "-o DIR, a directory on a file system with more room; df -h shows them"},
	}
	for _, d := range dirs {
		if d.dir == "" {
			continue
		}
		room, err := reserve.OfDir(d.dir, d.remedy)
		if err == nil {
			err = reserve.Err(room...)
		}
		if err != nil {
			return err
		}
	}
	return reserve.Err(reserve.Pids(groups)...)
}

// dataFits returns an error if the data of a workload cannot be on the disk: the data set in the cache, or the files of
// one arm in the scratch directory.
func dataFits(p *plan.Plan) error {
	var all refusals
	var short placements
	for _, l := range p.Loads {
		for _, u := range usesOf(l) {
			short.add(u.where, dataSetFits(u))
			short.add(u.where, filesFit(u, l, p))
		}
	}
	all.add(short.all(func(where string, err error) error { return hint.New(fmt.Errorf("%s: %w", where, err), hint.Of(err)) })...)
	return all.err()
}

// dataSetFits checks the room for a data set. The data sets in the cache count as free: one of them may be it.
func dataSetFits(u use) error {
	store, err := dataset.Default()
	if u.stages.Data == 0 || err != nil {
		return nil
	}
	free, err := reserve.Beyond(store.Dir)
	if err != nil {
		return nil // the run reports it
	}
	cached, _ := store.List()
	for _, e := range cached {
		free += e.Bytes
	}
	return tooLarge("the data set needs", u.stages.Data, free, store.Dir, "fewer or smaller tables, or another disk: XDG_CACHE_HOME=DIR")
}

// filesFit checks the room for the files of one arm, where they are below the scratch directory.
func filesFit(u use, l plan.Load, p *plan.Plan) error {
	onScratch := func(a plan.PlannedArm) bool { return !a.Volume.Opens() && !a.Volume.OfPod() }
	if u.stages.Bytes == 0 || p.PodNode != "" || len(l.Arms) == 0 || !onScratch(l.Arms[0]) {
		return nil
	}
	dir := cmp.Or(p.Scratch, inspect.DefaultScratch)
	free, err := reserve.Beyond(dir)
	if err != nil {
		return nil
	}
	return tooLarge("its files need", u.stages.Bytes, free, dir, "smaller ones, or --scratch DIR on a larger disk")
}

// tooLarge is the error about data that need more than is free.
func tooLarge(what string, need, free int64, dir, remedy string) error {
	if need <= free {
		return nil
	}
	err := fmt.Errorf("%w: %s up to %s, and %s has %s beyond what a run leaves free", reserve.ErrShort, what,
		quantity.Bytes(float64(need)), dir, quantity.Bytes(float64(free)))
	return hint.New(err, remedy)
}
