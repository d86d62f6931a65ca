package cli

import (
	"context"
	"fmt"
	"maps"

	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/host/durability"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// equallyDurable returns an error where no arm of a workload could be compared, because the settings of its server
// keep less or more of a commit than those of the baseline. A run sees the same in what the servers report.
func equallyDurable(p *plan.Plan) error {
	var all refusals
	if p.AllowUnequal || p.PodNode != "" {
		return nil
	}
	for _, l := range p.Loads {
		all.add(unequal(l))
	}
	return all.err()
}

// unequal is the error about one workload.
func unequal(l plan.Load) error {
	if len(l.Arms) == 0 || !writes(l) {
		return nil
	}
	base := durability.ArmFacts{Name: l.Arms[0].Name, Promises: promisesOf(l, l.Arms[0])}
	var differences []record.Said
	for _, a := range l.Arms[1:] {
		if a.Twin {
			continue
		}
		found := durability.Compare(base, durability.ArmFacts{Name: a.Name, Promises: promisesOf(l, a)})
		if len(found) == 0 {
			return nil
		}
		differences = found
	}
	if differences == nil {
		return nil
	}
	return &usageError{fmt.Errorf("workload %s: %w", l.Name, run.Unequal(base.Name, differences)), ""}
}

// writes says whether a workload is about what it writes.
func writes(l plan.Load) bool {
	for _, a := range l.Arms {
		if a.Stages.Disk {
			return true
		}
	}
	return false
}

// promisesOf are the settings of an arm that decide what a commit survives, as far as the plan has them.
func promisesOf(l plan.Load, a plan.PlannedArm) []durability.Promise {
	params := maps.Clone(l.Params)
	if params == nil {
		params = map[string]string{}
	}
	maps.Copy(params, a.Set)
	settings := run.ParamSettings(params)
	for _, n := range a.Stages.Needs {
		if n.Service != "" {
			settings = append(settings, wantedOf(n, params)...)
		}
	}
	return run.Promises(settings)
}

// wantedOf are the variables of a server with the parameters of a workload; nil where it is not installed, which
// installed says.
func wantedOf(n serve.Need, params map[string]string) []record.Setting {
	f, err := serve.Find(context.Background(), n.Service, n.Path, "")
	if err != nil {
		return nil
	}
	s := serve.Server{Settings: map[string]string{}, Options: workload.List(params["server_options"])}
	for _, known := range f.Service.Describe().Settings {
		if value, ok := params[known.Name]; ok {
			s.Settings[known.Name] = value
		}
	}
	all, _ := f.Wanted(s) // a run reports the error
	return all
}
