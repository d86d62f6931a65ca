package run

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/planning/plan"
)

// launchedInstances owns what is launched of a workload: processes, the arms that are measured on
// them, and their volumes.
type launchedInstances struct {
	all     []*instance
	arms    []*arm // on these instances, in the plan's order
	volumes openVolumes
	layers  []string // directories of arms' own layers, which are watched for room
	// retrying says that the first launch goes on: an arm that fails is tried again.
	retrying bool
}

// openVolumes are the volumes of the present launch. They are closed after all arms: the mount
// namespace of an arm may have copies of the mounts of other arms.
type openVolumes struct {
	mu  sync.Mutex
	all []*volume.Opened
}

func (v *openVolumes) add(o *volume.Opened) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.all = append(v.all, o)
}

// add adds an arm on an instance that runs.
func (ls *launchedInstances) add(planned plan.PlannedArm, on *instance) {
	ls.arms = append(ls.arms, &arm{planned: planned, instance: on})
}

// sort puts the arms into the plan's order.
func (ls *launchedInstances) sort(inPlan []plan.PlannedArm) {
	place := func(a *arm) int {
		return slices.IndexFunc(inPlan, func(p plan.PlannedArm) bool { return p.Name == a.planned.Name })
	}
	slices.SortFunc(ls.arms, func(a, b *arm) int { return place(a) - place(b) })
}

// arm finds a running arm by its name; nil: it does not run.
func (ls *launchedInstances) arm(name string) *arm {
	for _, a := range ls.arms {
		if a.planned.Name == name {
			return a
		}
	}
	return nil
}

// armsOn returns the running arms on an instance.
func (ls *launchedInstances) armsOn(s *instance) []*arm {
	return slices.DeleteFunc(slices.Clone(ls.arms), func(a *arm) bool { return a.instance != s })
}

// removeArms removes arms and returns them. Their processes go on.
func (ls *launchedInstances) removeArms(which func(*arm) bool) (removed []*arm) {
	ls.arms = slices.DeleteFunc(ls.arms, func(a *arm) bool {
		if !which(a) {
			return false
		}
		removed = append(removed, a)
		return true
	})
	return removed
}

// making is the time of opening the arms that later launches save, because the arms keep it (a pod). The arms were
// opened at the same time.
func (ls *launchedInstances) making() (longest time.Duration) {
	for _, s := range ls.all {
		if k, ok := s.opened.(environment.KeptArm); ok {
			longest = max(longest, k.Making())
		}
	}
	return longest
}

// remove removes an instance and its arms and ends its processes.
func (ls *launchedInstances) remove(s *instance) error {
	ls.removeArms(func(a *arm) bool { return a.instance == s })
	ls.all = slices.DeleteFunc(ls.all, func(other *instance) bool { return other == s })
	return s.close()
}

// close ends all processes and takes back what the instances changed, all instances at once.
func (ls *launchedInstances) close() error {
	errs := make([]error, len(ls.all))
	var wg sync.WaitGroup
	for i, s := range ls.all {
		wg.Go(func() {
			if err := s.close(); err != nil {
				errs[i] = fmt.Errorf("arm %s: %w", s.name, err)
			}
		})
	}
	wg.Wait()
	ls.arms, ls.all = nil, nil
	return errors.Join(errs...)
}
