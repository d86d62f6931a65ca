package cli

import (
	"cmp"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// baselines has what a baseline runs as.
var baselines = map[string]messages.Key{record.AsService: "role.service", record.AsSession: "role.session", record.AsProcess: "role.process"}

// role describes an arm's place on the ladder; empty if its levels say enough.
func role(l plan.Load, a plan.PlannedArm, in messages.Catalog) string {
	switch {
	case a.Twin:
		return in.Text("role.twin")
	case a.Name == l.Baseline && a.RunsAs != "":
		return in.Text(cmp.Or(baselines[a.RunsAs], "role.baseline"))
	case a.Name == l.Baseline:
		return in.Text("role.baseline")
	case a.Remainder:
		return in.Text("role.remainder", "arm", a.Step)
	case a.Step != "":
		return in.Text("role.step", "arm", a.Step)
	case a.Shares != "":
		return in.Text("role.shares", "arm", a.Shares)
	case a.Neighbour != nil || len(a.Set) > 0 || a.Arm.Volume != "" || a.Container != environment.Container{}:
		return ""
	}
	return in.Text("role.beside")
}
