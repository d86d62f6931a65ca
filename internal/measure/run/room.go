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
)

// The run ends before it has used up a file system that it writes to, or the process ids.

const (
	// lookBetween is how often the run looks at the room between windows, which takes some tens of
	// microseconds, and lookWithin how often it does in a window that lasts longer.
	lookBetween = 50 * time.Millisecond
	lookWithin  = time.Second
)

// watchHost begins to watch what every run uses: scratch directory, result directory, process ids.
func (r *runner) watchHost() {
	r.watch.Host(r.scratchParent(), scratchRemedy)
	dir, err := filepath.Abs(r.rec.dir)
	if err != nil {
		dir = r.rec.dir
	}
	r.watch.Host(dir, resultRemedy)
	r.watch.Pids(r.config.Groups)
}

// whileRoom calls do, in which no window is open, and cancels its context when too little room is
// left.
func (r *runner) whileRoom(ctx context.Context, do func(context.Context) error) error {
	ctx, stop := r.watch.During(ctx)
	err := do(ctx)
	if short := stop(); short != nil {
		return short // err is a consequence
	}
	return err
}

// watchCache begins to watch the directory in which data sets are prepared.
func (r *runner) watchCache() {
	if store, err := dataset.Default(); err == nil {
		r.watch.Host(store.Dir, cacheRemedy)
	}
}

// watchLayer begins to watch the file system of an arm's own layer: an engine has a directory of its
// own.
func (l *loadRun) watchLayer(s *instance, v volume.Volume) {
	if v.Kind() != volume.Layer && !v.OfPod() || s.processes.Place.HostVolume == "" {
		return
	}
	l.run.watch.Host(s.processes.Place.HostVolume, layerRemedy(s.name))
	l.instances.layers = append(l.instances.layers, s.processes.Place.HostVolume)
}

// forgetLayers ends what watchLayer began.
func (l *loadRun) forgetLayers() {
	for _, dir := range l.instances.layers {
		l.run.watch.Forget(dir)
	}
	l.instances.layers = nil
}

// roomFirst is the error of a launch. Too little room comes first: a load may fail for it.
func (r *runner) roomFirst(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || errors.Is(err, reserve.ErrShort) {
		return err
	}
	if short := r.watch.Look(); short != nil {
		return fmt.Errorf("%w; %w", short, err)
	}
	return err
}
