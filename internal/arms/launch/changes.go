package launch

import (
	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// Changes lists the changes that NewSandbox makes.
func Changes(s environment.Spec, groups Groups) []facts.Change {
	data := messages.Say("change.directory.data")
	if s.Data != "" {
		data = messages.Say("change.directory.copy")
	}
	out := []facts.Change{facts.Changed(messages.Say("change.directory", "path", dirOf(s)), data)}
	if groups.Tree == nil {
		return out
	}
	limits := []messages.Message{messages.Say("change.group.plain")}
	if len(groups.Controllers) > 0 {
		limits = append([]messages.Message{messages.Say("change.group.controllers", "list", groups.Controllers)}, chosenLimits(s.Limits)...)
	}
	if groups.Service {
		limits = append(limits, messages.Say("change.group.service"))
	}
	type group struct {
		path        string
		detail      []messages.Message
		controllers []string
	}
	all := []group{
		{groups.path(s), limits, groups.Controllers},
		{outside(s), []messages.Message{messages.Say("change.group.outside")}, nil},
	}
	if groups.TopLevel {
		all = []group{{groups.path(s), []messages.Message{messages.Say("change.group.neighbour")}, groups.Controllers}}
	}
	for _, g := range all {
		p, err := groups.Tree.Plan(g.path, g.controllers)
		if err != nil {
			continue
		}
		for _, dir := range p.Dirs {
			out = append(out, facts.Changed(messages.Say("change.group", "path", dir), g.detail...))
		}
		if len(p.Enable) > 0 {
			out = append(out, facts.Changed(messages.Say("change.controllers", "path", p.EnableAt), messages.Say("change.controllers.enabled", "list", p.Enable)))
		}
		if p.Leaf != "" {
			out = append(out, facts.Changed(messages.Say("change.group", "path", p.Leaf), messages.Say("change.group.moved", "path", p.EnableAt)))
		}
	}
	return out
}

// chosenLimits lists the limits that the experiment chose, for people.
func chosenLimits(l cgroup.Limits) (all []messages.Message) {
	if l.CPUs > 0 {
		all = append(all, messages.Say("change.group.quota", "n", l.CPUs))
	}
	if l.CPUSet != "" {
		all = append(all, messages.Say("change.group.cpus", "list", l.CPUSet))
	}
	if l.Memory > 0 {
		all = append(all, messages.Say("change.group.memory", "n", l.Memory>>20))
	}
	return all
}
