package launch

import (
	"fmt"
	"strings"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// Changes lists the changes that NewSandbox makes.
func Changes(s environment.Spec, groups Groups) []facts.Change {
	data := "its own data directory"
	if s.Data != "" {
		data = "with its own copy of the data set"
	}
	out := []facts.Change{{What: "directory " + dirOf(s), Detail: data}}
	if groups.Tree == nil {
		return out
	}
	limits := "plain: to freeze and to observe"
	if len(groups.Controllers) > 0 {
		limits = "controllers " + strings.Join(groups.Controllers, ", ") + chosenLimits(s.Limits)
	}
	if groups.Service {
		limits += "; a service's: default weight, no limits"
	}
	type group struct {
		path, detail string
		controllers  []string
	}
	all := []group{
		{groups.path(s), limits, groups.Controllers},
		{outside(s), "for what runs beside the arm", nil},
	}
	if groups.TopLevel {
		all = []group{{groups.path(s), "for the neighbour, with limits", groups.Controllers}}
	}
	for _, g := range all {
		p, err := groups.Tree.Plan(g.path, g.controllers)
		if err != nil {
			continue
		}
		for _, dir := range p.Dirs {
			out = append(out, facts.Change{What: "cgroup " + dir, Detail: g.detail})
		}
		if len(p.Enable) > 0 {
			out = append(out, facts.Change{What: "controllers of " + p.EnableAt, Detail: "enabled for its children: " + strings.Join(p.Enable, ", ")})
		}
		if p.Leaf != "" {
			out = append(out, facts.Change{What: "cgroup " + p.Leaf, Detail: "the processes of " + p.EnableAt + " are moved there"})
		}
	}
	return out
}

// chosenLimits lists the limits that the experiment chose, for people.
func chosenLimits(l cgroup.Limits) (text string) {
	if l.CPUs > 0 {
		text += fmt.Sprintf("; a quota of %g CPUs", l.CPUs)
	}
	if l.CPUSet != "" {
		text += "; CPUs " + l.CPUSet
	}
	if l.Memory > 0 {
		text += fmt.Sprintf("; %d MiB of memory", l.Memory>>20)
	}
	return text
}
