package run

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/linux/clonetree"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/measure/session"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// Volumes of the arms: looked at for room, opened before the arm and closed
// after it, and described in the manifest.

// need is how many bytes of data a load has. Before the data set is there it is
// what the load says. grows is what is written to it while it runs.
func (l *loadRun) need(w workload.Stages, grows int64) (int64, error) {
	bytes := int64(0)
	if dir := l.data[w.Key].Dir; dir != "" {
		var err error
		if bytes, err = clonetree.Size(dir); err != nil {
			return 0, fmt.Errorf("find the size of the data set: %w", err)
		}
	}
	return max(bytes, w.Bytes) + w.Grows + grows, nil
}

// room says of each site why there is no room for its data; nil: there is.
// Nothing has been written yet. The neighbours' data is in the scratch directory.
// What a node has on which tare is not is the cluster's to say.
func (l *loadRun) room(sites []plan.Site) ([]error, error) {
	if l.Plan.PodNode != "" {
		return make([]error, len(sites)), nil
	}
	asks := make([]volume.Ask, len(sites))
	var of []int // the sites of the asks behind those
	for i, s := range sites {
		a := s.Arms[0]
		need, err := l.need(a.Stages, l.grows(s))
		if err != nil {
			return nil, err
		}
		asks[i] = volume.Ask{Volume: a.Volume, Need: need, Memory: a.Stages.Memory(need)}
		if s.Neighbour == nil {
			continue
		}
		if need, err = l.need(s.Neighbour.Stages, 0); err != nil {
			return nil, err
		}
		asks, of = append(asks, volume.Ask{Need: need, Memory: s.Neighbour.Stages.Memory(need)}), append(of, i)
	}
	short := volume.Enough(l.scratch, asks)
	out := short[:len(sites)]
	for n, i := range of {
		if out[i] == nil {
			out[i] = short[len(sites)+n]
		}
	}
	return out, nil
}

// roomAtAll refuses a workload whose baseline has no room, before its data set
// is made.
func (l *loadRun) roomAtAll() error {
	sites := l.wanted()
	short, err := l.room(sites)
	if err != nil {
		return err
	}
	for i, s := range sites {
		if s.Arms[0].Name == l.load.Baseline && short[i] != nil {
			return short[i]
		}
	}
	return nil
}

// openVolume makes what is under the data directory of an arm.
func (l *loadRun) openVolume(ctx context.Context, s plan.Site, spec *environment.Spec) (*volume.Opened, error) {
	a := s.Arms[0]
	spec.Bind = a.Volume.Kind() == volume.Bind
	need, err := l.need(a.Stages, l.grows(s))
	if err != nil {
		return nil, err
	}
	name := a.Name
	if n := l.failures[name]; n > 0 && l.trying { // volumes are closed with the launch: that of a try before is there
		name = fmt.Sprintf("%s-again%d", name, n)
	}
	o, err := a.Volume.Open(ctx, volume.Spec{Run: l.ID, Arm: name, Scratch: l.scratch, Need: need, Journal: l.journal})
	if err != nil {
		return nil, err
	}
	spec.Volume = o.Dir
	o.Watch(&l.watch)
	l.volumes.add(o)
	return o, nil
}

// volumes are those that are open in this generation. They are closed after
// all arms: an arm that has a mount namespace of its own may have a copy of the
// mounts of the others.
type volumes struct {
	mu  sync.Mutex
	all []*volume.Opened
}

func (v *volumes) add(o *volume.Opened) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.all = append(v.all, o)
}

// closeVolumes takes them back. A device that is kept by somebody else's
// process goes with that, and is no reason to end the run.
func (l *loadRun) closeVolumes() error {
	var errs []error
	for _, o := range l.volumes.all {
		o.Unwatch(&l.watch)
		err := o.Close()
		if held := (*volume.DeviceInUse)(nil); errors.As(err, &held) {
			l.warn(record.Warning{Workload: l.load.Name, Text: err.Error(), Remedy: "it goes when that process ends; losetup -l shows it"})
			continue
		}
		errs = append(errs, err)
	}
	l.volumes.all = nil
	return errors.Join(errs...)
}

// warnOf passes on what is wrong with the volume of a site, where the load is
// about data that lasts; what a network costs in speed concerns every load.
func (l *loadRun) warnOf(s *site, on session.Data) {
	if on.Elsewhere || !l.load.Stages.Disk && !on.Network() {
		return
	}
	for _, w := range on.Warnings() {
		w.Workload, w.Arm = l.load.Name, s.name
		l.warn(w)
	}
}
