package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/planning/plan"
)

// notHere is what this host cannot do, in a sentence of its own.
type notHere string

func (n notHere) Error() string        { return string(n) }
func (n notHere) Is(target error) bool { return target == facts.ErrUnsupported }

// installed is an error where programs of this host are missing that the plan's loads need:
// before anything is prepared, with one line that installs all of them.
func installed(p *plan.Plan) error {
	if p.PodNode != "" {
		return nil // it is measured on another host
	}
	var missing []serve.Need
	var loads []string
	for _, l := range p.Loads {
		if !slices.ContainsFunc(l.Arms, func(a plan.PlannedArm) bool { return a.Image == "" }) {
			continue // the images have them
		}
		for _, n := range l.Stages.Needs {
			switch err := n.Missing(context.Background()); {
			case slices.Contains(missing, n):
			case err != nil && n.Path != "":
				return hint.New(notHere(fmt.Sprintf("workload %s: %v", l.Name, err)), hint.Of(err))
			case err != nil:
				missing = append(missing, n)
			default:
				continue
			}
			if !slices.Contains(loads, l.Name) {
				loads = append(loads, l.Name)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return lacking(loads, missing)
}

// lacking names the loads and the programs that they lack.
func lacking(loads []string, missing []serve.Need) error {
	var names, packages []string
	for _, n := range missing {
		names = append(names, n.Name())
		if !slices.Contains(packages, n.Package) {
			packages = append(packages, n.Package)
		}
	}
	needs := "need"
	if len(loads) == 1 {
		needs = "needs"
	}
	return hint.New(notHere(fmt.Sprintf("%s %s %s, which this host does not have", strings.Join(loads, ", "), needs, strings.Join(names, " and "))),
		"apt-get install "+strings.Join(packages, " "))
}
