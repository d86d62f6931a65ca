package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/linux/clonetree"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/measure/session"
	"github.com/tarelab/tare/internal/planning/plan"
)

// bytesNeeded is how many bytes of data a load needs: the size of its data set, or, before that is
// prepared, what the load says; and written, what it writes while it runs.
func (l *loadRun) bytesNeeded(w workload.Stages, written int64) (int64, error) {
	bytes := int64(0)
	if dir := l.data.dir(w); dir != "" {
		var err error
		if bytes, err = clonetree.Size(dir); err != nil {
			return 0, fmt.Errorf("find the size of the data set: %w", err)
		}
	}
	return max(bytes, w.Bytes) + w.Grows + written, nil
}

// bytesWritten is how many bytes the arms of an instance write while they run: in their part of the time
// of their load, as if one launch had all of it.
func (l *loadRun) bytesWritten(s plan.Instance) int64 {
	part := float64(len(s.Arms)) / float64(max(1, len(l.load.Arms)))
	return int64(float64(s.Arms[0].Stages.Rate) * l.load.Budget * min(1, part))
}

// checkRoom says of each instance why there is no room for its data; nil: there is. Nothing has been
// written yet. The neighbours' data is in the scratch directory. On another node the cluster says
// whether there is room.
func (l *loadRun) checkRoom(instances []plan.Instance) ([]error, error) {
	if l.schedule.plan.PodNode != "" {
		return make([]error, len(instances)), nil
	}
	asks := make([]volume.Ask, len(instances))
	var of []int // the instances of the neighbours' asks, which follow
	for i, s := range instances {
		a := s.Arms[0]
		need, err := l.bytesNeeded(a.Stages, l.bytesWritten(s))
		if err != nil {
			return nil, err
		}
		asks[i] = volume.Ask{Volume: a.Volume, Need: need, Memory: a.Stages.Memory(need)}
		if s.Neighbour == nil {
			continue
		}
		if need, err = l.bytesNeeded(s.Neighbour.Stages, 0); err != nil {
			return nil, err
		}
		asks, of = append(asks, volume.Ask{Need: need, Memory: s.Neighbour.Stages.Memory(need)}), append(of, i)
	}
	short := volume.Enough(l.run.scratch, asks)
	out := short[:len(instances)]
	for n, i := range of {
		if out[i] == nil {
			out[i] = short[len(instances)+n]
		}
	}
	return out, nil
}

// checkBaselineRoom refuses a workload whose baseline has no room, before its data set is prepared.
func (l *loadRun) checkBaselineRoom() error {
	instances := l.schedule.instancesToLaunch()
	short, err := l.checkRoom(instances)
	if err != nil {
		return err
	}
	for i, s := range instances {
		if s.Arms[0].Name == l.load.Baseline && short[i] != nil {
			return short[i]
		}
	}
	return nil
}

// openVolume makes what is under the data directory of an instance.
func (l *loadRun) openVolume(ctx context.Context, s plan.Instance, spec *environment.Spec) (*volume.Opened, error) {
	a := s.Arms[0]
	spec.Bind = a.Volume.Kind() == volume.Bind
	need, err := l.bytesNeeded(a.Stages, l.bytesWritten(s))
	if err != nil {
		return nil, err
	}
	name := a.Name
	if n := l.schedule.failures[name]; n > 0 && l.instances.retrying { // the volume of an earlier try is open until the launch ends
		name = fmt.Sprintf("%s-again%d", name, n)
	}
	o, err := a.Volume.Open(ctx, volume.Spec{Run: l.run.config.ID, Arm: name, Scratch: l.run.scratch, Need: need, Journal: l.run.journal})
	if err != nil {
		return nil, err
	}
	spec.Volume = o.Dir
	o.Watch(&l.run.watch)
	l.instances.volumes.add(o)
	return o, nil
}

// closeVolumes closes the volumes of the launch. A device that another user's process holds goes
// with that process, and does not end the run.
func (l *loadRun) closeVolumes() error {
	var errs []error
	for _, o := range l.instances.volumes.all {
		o.Unwatch(&l.run.watch)
		err := o.Close()
		if held := (*volume.DeviceInUse)(nil); errors.As(err, &held) {
			l.run.rec.warn(deviceHeld(err).of(l.load.Name, ""))
			continue
		}
		errs = append(errs, err)
	}
	l.instances.volumes.all = nil
	return errors.Join(errs...)
}

// warnOfVolume warns of what is wrong with the volume of an instance, if the load is about what it
// writes, or the volume is reached over a network, which every load may feel.
func (l *loadRun) warnOfVolume(s *instance, on session.Data) {
	if on.Elsewhere || !l.load.Stages.Disk && !on.Network() {
		return
	}
	for _, w := range on.Warnings() {
		w.Workload, w.Arm = l.load.Name, s.name
		l.run.rec.warn(w)
	}
}
