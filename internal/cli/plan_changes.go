package cli

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/undo/journal"
)

// changesOf are the changes that an arm makes on the host.
type changesOf struct {
	arm     string
	changes []facts.Change
}

// armChanges is what an arm changes on the host.
type armChanges struct {
	Arm     string       `json:"arm"`
	Changes []hostChange `json:"changes"`
}

// hostChange is one change on the host.
type hostChange struct {
	What   string `json:"what"`
	Detail string `json:"detail,omitempty"`
}

// asJSON is what --format json prints of changes, in English.
func asJSON(all []changesOf) (out []armChanges) {
	in := messages.In(messages.English)
	for _, a := range all {
		x := armChanges{Arm: a.arm, Changes: []hostChange{}}
		for _, ch := range a.changes {
			x.Changes = append(x.Changes, hostChange{in.Say(ch.What), detailOf(ch, in)})
		}
		out = append(out, x)
	}
	return out
}

// detailOf are the details of a change.
func detailOf(ch facts.Change, in messages.Catalog) string {
	var all []string
	for _, m := range ch.Detail {
		all = append(all, in.Say(m))
	}
	return in.JoinAll("join.semicolon", all...)
}

// changes lists each change once, with the first arm that makes it: an arm makes the same
// changes in every workload, and arms share directories.
func changes(p *plan.Plan) (out []changesOf) {
	arms, seen := map[string]bool{}, map[string]bool{}
	for _, l := range p.Loads {
		instances := map[string]plan.Instance{}
		for _, s := range plan.Instances(l.Arms) {
			instances[s.Arms[0].Name] = s
		}
		for _, a := range l.Arms {
			instance, launched := instances[a.Name]
			if arms[a.Name] || !launched {
				continue
			}
			arms[a.Name] = true
			x := changesOf{arm: a.Name}
			s := spec(p, l, instance)
			under := a.Volume.Changes(volume.Spec{Run: s.Run, Arm: s.Arm, Scratch: s.Scratch})
			for _, ch := range slices.Concat(under, a.Env.Changes(s), neighbourChanges(instance, s)) {
				what := messages.In(messages.English).Say(ch.What)
				if !seen[what] {
					x.changes = append(x.changes, ch)
				}
				seen[what] = true
			}
			out = append(out, x)
		}
	}
	return out
}

// spec is the Spec with which a run would open the arm; RUN stands for the run's id.
func spec(p *plan.Plan, l plan.Load, instance plan.Instance) environment.Spec {
	a := instance.Arms[0]
	s := environment.Spec{Run: "RUN", Arm: a.Name, Bind: a.Volume.Binds(), Container: a.Container, Scratch: scratchDir(p, "RUN")}
	if a.Stages.Prepare != nil {
		s.Data = filepath.Join(s.Scratch, "data-"+l.Name)
	}
	if a.Stages.Server != nil {
		s.Port = 1
	}
	s.Beside = plan.Environments(plan.Instances(l.Arms))
	return s
}

// neighbourChanges are the changes that the neighbour of an instance makes.
func neighbourChanges(instance plan.Instance, s environment.Spec) []facts.Change {
	if instance.Neighbour == nil {
		return nil
	}
	return instance.Neighbour.Env.Changes(environment.Spec{
		Run: s.Run, Arm: plan.NeighbourArm(s.Arm), Scratch: s.Scratch, Beside: s.Beside,
		Neighbour: &environment.Neighbour{Controllers: instance.Controllers, Grouped: instance.Grouped, Service: instance.Service},
	})
}

// groupOf is the path of the control group that a change makes; "": it makes none.
func groupOf(ch facts.Change) string {
	if ch.What.Key != "change.group" {
		return ""
	}
	return pathOf(ch)
}

// pathOf is the path of what is changed; "": it has none.
func pathOf(ch facts.Change) string {
	path, _ := messages.Value("path", ch.What.Values).(string)
	return path
}

// topGroup matches a control group directly below the mount point of a hierarchy.
var topGroup = regexp.MustCompile(`^/sys/fs/cgroup(/[a-z_,]+)?/` + journal.Prefix)

// hasTopGroup says that an arm has a control group at the top of the hierarchy, beside system.slice.
func hasTopGroup(arms []changesOf) bool {
	return slices.ContainsFunc(arms, func(a changesOf) bool {
		return slices.ContainsFunc(a.changes, func(ch facts.Change) bool { return topGroup.MatchString(groupOf(ch)) })
	})
}

// changeRows has an arm, a change and its detail in each row.
func changeRows(arms []changesOf, in messages.Catalog) (rows [][3]string) {
	for _, a := range arms {
		name := a.arm
		for _, ch := range mergeHierarchies(a.changes) {
			rows = append(rows, [3]string{name, in.Say(ch.What), detailOf(ch, in)})
			name = ""
		}
		if len(a.changes) == 0 {
			rows = append(rows, [3]string{name, in.Text("change.nothing"), ""})
		}
	}
	return rows
}

// mergeHierarchies merges changes that make the same group in several hierarchies of version 1. In the
// merged path * stands for the hierarchies, which the detail names.
func mergeHierarchies(all []facts.Change) (out []facts.Change) {
	var merged arrange.Ordered
	names, first := map[string][]string{}, map[string]facts.Change{}
	for _, ch := range all {
		before, after, ours := strings.Cut(groupOf(ch), "/"+journal.Prefix)
		what, hierarchy := messages.In(messages.English).Say(ch.What), ""
		if ours {
			what, hierarchy = filepath.Dir(before)+"/*/"+journal.Prefix+after, filepath.Base(before)
		}
		key := what + "; " + detailOf(ch, messages.In(messages.English))
		if merged.Add(key); names[key] == nil {
			first[key] = ch
		}
		names[key] = append(names[key], hierarchy)
	}
	for _, key := range merged {
		ch, in := first[key], names[key]
		if len(in) > 1 && in[0] != "" {
			ch = ofHierarchies(ch, in)
		}
		out = append(out, ch)
	}
	return out
}

// ofHierarchies is the change that makes a group in several hierarchies, which the detail names instead of controllers.
func ofHierarchies(ch facts.Change, hierarchies []string) facts.Change {
	before, after, _ := strings.Cut(groupOf(ch), "/"+journal.Prefix)
	ch.What = messages.Say("change.group", "path", filepath.Dir(before)+"/*/"+journal.Prefix+after)
	star := messages.Say("change.group.star", "list", hierarchies)
	if len(ch.Detail) > 0 && ch.Detail[0].Key == "change.group.controllers" {
		ch.Detail = append([]messages.Message{star}, ch.Detail[1:]...)
	} else {
		ch.Detail = append(slices.Clone(ch.Detail), star)
	}
	return ch
}

// kindOfChange has the kind of a change, without names of which some are known in the run alone; a change that is not here
// has no name.
var kindOfChange = map[messages.Key]messages.Key{
	"change.directory": "change.directory.kind", "change.directory.on": "change.directory.kind", "change.group": "change.group.kind",
	"change.controllers": "change.controllers.kind", "change.container": "change.container.kind", "change.sandbox": "change.sandbox.kind",
	"change.image": "change.image.kind", "change.bridge": "change.bridge.kind", "change.namespace": "change.namespace.kind", "change.pod": "change.pod.kind",
	"change.service": "change.service.kind", "change.claim": "change.claim.kind", "change.security": "change.security.kind",
	"change.mounted": "change.mounted.kind", "change.file": "change.file.kind", "change.ceph": "change.ceph.kind", "change.network": "change.network.kind",
}

// kindIn is the kind of a change in words: "directory below /var/tmp".
func kindIn(ch facts.Change, in messages.Catalog) string {
	dir, _, ours := strings.Cut(pathOf(ch), "/"+journal.Prefix)
	if ours && ch.What.Key == "change.directory" {
		return in.Text("change.directory.below", "path", dir)
	}
	return in.Text(cmp.Or(kindOfChange[ch.What.Key], ch.What.Key), ch.What.Values...)
}

// changesInWords counts the changes by kind: "8 × directory below /var/tmp".
func changesInWords(arms []changesOf, in messages.Catalog) string {
	counts, kinds := map[string]int{}, arrange.Ordered{}
	for _, a := range arms {
		for _, ch := range mergeHierarchies(a.changes) {
			kind := kindIn(ch, in)
			kinds.Add(kind)
			counts[kind]++
		}
	}
	var out []string
	for _, kind := range kinds {
		if n := counts[kind]; n > 1 {
			kind = in.Text("change.count", "n", n, "kind", kind)
		}
		out = append(out, kind)
	}
	return cmp.Or(in.JoinAll("join.names", out...), in.Text("change.none"))
}
