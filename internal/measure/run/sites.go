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

// launchedSites owns what is launched of a workload: processes, the arms that are measured on
// them, and their volumes.
type launchedSites struct {
	all     []*site
	arms    []*arm // on these sites, in the plan's order
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

// add adds an arm on a site that runs.
func (ls *launchedSites) add(planned plan.PlannedArm, on *site) {
	ls.arms = append(ls.arms, &arm{planned: planned, site: on})
}

// sort puts the arms into the plan's order.
func (ls *launchedSites) sort(inPlan []plan.PlannedArm) {
	place := func(a *arm) int {
		return slices.IndexFunc(inPlan, func(p plan.PlannedArm) bool { return p.Name == a.planned.Name })
	}
	slices.SortFunc(ls.arms, func(a, b *arm) int { return place(a) - place(b) })
}

// arm finds a running arm by its name; nil: it does not run.
func (ls *launchedSites) arm(name string) *arm {
	for _, a := range ls.arms {
		if a.planned.Name == name {
			return a
		}
	}
	return nil
}

// armsOn returns the running arms on a site.
func (ls *launchedSites) armsOn(s *site) []*arm {
	return slices.DeleteFunc(slices.Clone(ls.arms), func(a *arm) bool { return a.site != s })
}

// removeArms removes arms and returns them. Their processes go on.
func (ls *launchedSites) removeArms(which func(*arm) bool) (removed []*arm) {
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
func (ls *launchedSites) making() (longest time.Duration) {
	for _, s := range ls.all {
		if k, ok := s.opened.(environment.KeptArm); ok {
			longest = max(longest, k.Making())
		}
	}
	return longest
}

// remove removes a site and its arms and ends its processes.
func (ls *launchedSites) remove(s *site) error {
	ls.removeArms(func(a *arm) bool { return a.site == s })
	ls.all = slices.DeleteFunc(ls.all, func(other *site) bool { return other == s })
	return s.close()
}

// close ends all processes and takes back what the sites changed, all sites at once.
func (ls *launchedSites) close() error {
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
