package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/planning/plan"
)

// The run ends before a file system that it writes to, or the process ids, run out.

const (
	// lookBetween is how often the host is looked at between windows, which takes some tens of
	// microseconds, and lookWithin how often in a window that lasts longer than that.
	lookBetween = 50 * time.Millisecond
	lookWithin  = time.Second
)

// watchHost begins to watch what every run uses up.
func (r *runner) watchHost() {
	r.watch.Host(r.scratchParent(), "tare run --scratch DIR, a directory on a file system with more room")
	dir, err := filepath.Abs(r.Dir)
	if err != nil {
		dir = r.Dir
	}
	r.watch.Host(dir, "tare run -o DIR, a directory on a file system with more room")
	r.watch.Pids(r.Groups)
}

// whileRoom does something in which no window is open, and ends its context when too little room
// is left.
func (r *runner) whileRoom(ctx context.Context, do func(context.Context) error) error {
	ctx, stop := r.watch.During(ctx)
	err := do(ctx)
	if short := stop(); short != nil {
		return short // what failed for it is a consequence
	}
	return err
}

const cacheRemedy = "tare cache prune, or XDG_CACHE_HOME=DIR on a file system with more room"

// watchCache watches where data sets are prepared.
func (r *runner) watchCache() {
	if store, err := dataset.Default(); err == nil {
		r.watch.Host(store.Dir, cacheRemedy)
	}
}

// watchLayer watches what the layer of an arm is on: an engine has a directory of its own.
func (l *loadRun) watchLayer(s *site, v volume.Volume) {
	if v.Kind() != volume.Layer || s.parts.Place.HostVolume == "" {
		return
	}
	l.watch.Host(s.parts.Place.HostVolume, "make room there, or leave arm "+s.name+" out with --arms")
	l.layers = append(l.layers, s.parts.Place.HostVolume)
}

// forgetLayers ends that.
func (l *loadRun) forgetLayers() {
	for _, dir := range l.layers {
		l.watch.Forget(dir)
	}
	l.layers = nil
}

// ofRoom is the error of a launch. Where too little room is left, that comes first: a load may
// fail for it.
func (l *loadRun) ofRoom(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || errors.Is(err, reserve.ErrShort) {
		return err
	}
	if short := l.watch.Look(); short != nil {
		return fmt.Errorf("%w; %w", short, err)
	}
	return err
}

// grows is how much the arms of a site add to their data in the time that they run, in bytes: for
// their part of the time of their load,
// as if one launch had all of it.
func (l *loadRun) grows(s plan.Site) int64 {
	part := float64(len(s.Arms)) / float64(max(1, len(l.load.Arms)))
	return int64(float64(s.Arms[0].Stages.Rate) * l.load.Budget * min(1, part))
}
