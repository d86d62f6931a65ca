package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/outside/engine"
	"github.com/tarelab/tare/internal/planning/plan"
)

// refusals are all reasons why a plan cannot run, each with a remedy of its own.
type refusals []error

func (r refusals) Unwrap() []error { return r }

func (r refusals) Error() string {
	var lines []string
	for _, err := range r {
		lines = append(lines, err.Error())
	}
	return strings.Join(lines, "\n")
}

// add appends errors that are not nil and not there yet.
func (r *refusals) add(errs ...error) {
	for _, err := range errs {
		var more refusals
		switch {
		case err == nil:
		case errors.As(err, &more):
			r.add(more...)
		case !r.has(err):
			*r = append(*r, err)
		}
	}
}

func (r refusals) has(err error) bool {
	for _, other := range r {
		if other.Error() == err.Error() {
			return true
		}
	}
	return false
}

// err is nil without refusals, the only one, or all.
func (r refusals) err() error {
	switch len(r) {
	case 0:
		return nil
	case 1:
		return r[0]
	}
	return r
}

// ready returns every reason why a plan cannot run on this host: files, programs, profiles and images that it names,
// programs that the host lacks, a budget that is too short, too little room. It changes nothing. dir is the result
// directory, "" for none; longer is the remedy for a short budget.
func (f *experimentFlags) ready(p *plan.Plan, dir string, groups *cgroup.Tree, longer string) error {
	var all refusals
	all.add(limitable(p))
	all.add(f.named(p)...)
	all.add(installed(p), acceptsAll(p), cachesFit(p), checkSQL(p), equallyDurable(p), worthwhile(p), podsFit(p, f.cluster()), longEnough(p, longer), roomy(p, dir, groups), dataFits(p), ampleMemory(p))
	return all.err()
}

// use are the stages of an arm or of its neighbour.
type use struct {
	where  string // "workload rpc"
	stages workload.Stages
	image  bool // the programs are an image's
}

// usesOf lists the stages of all arms and neighbours of a load.
func usesOf(l plan.Load) (all []use) {
	all = append(all, use{"workload " + l.Name, l.Stages, onlyImages(l)})
	for _, a := range l.Arms {
		all = append(all, use{"workload " + l.Name, a.Stages, a.Image != ""})
		if a.Neighbour != nil {
			all = append(all, use{"neighbour " + a.Neighbour.Name, a.Neighbour.Stages, false})
		}
	}
	return all
}

// onlyImages says that every arm of a load has the programs of an image.
func onlyImages(l plan.Load) bool {
	for _, a := range l.Arms {
		if a.Image == "" {
			return false
		}
	}
	return len(l.Arms) > 0
}

// placements are errors with the places that have them, in order; places of the same error are together.
type placements struct {
	order []string // texts
	errs  map[string]error
	where map[string][]string
}

func (p *placements) add(where string, err error) {
	if err == nil {
		return
	}
	if p.errs == nil {
		p.errs, p.where = map[string]error{}, map[string][]string{}
	}
	text := err.Error()
	if p.errs[text] == nil {
		p.errs[text] = err
		p.order = append(p.order, text)
	}
	if !slices.Contains(p.where[text], where) {
		p.where[text] = append(p.where[text], where)
	}
}

// all has an error for each text, made from its places and the error.
func (p *placements) all(with func(where string, err error) error) (errs []error) {
	for _, text := range p.order {
		errs = append(errs, with(strings.Join(p.where[text], ", "), p.errs[text]))
	}
	return errs
}

// named checks the files, programs, images and profiles that a plan names.
func (f *experimentFlags) named(p *plan.Plan) []error {
	var wrong placements
	for _, l := range p.Loads {
		for _, u := range usesOf(l) {
			for _, n := range u.stages.Named {
				if !n.InArm || !u.image && p.PodNode == "" {
					wrong.add(f.place(u.where, n), n.Check())
				}
			}
		}
		for _, a := range l.Arms {
			if c, ok := a.Env.(environment.Checker); ok && !a.Twin {
				wrong.add("arm "+a.Name, c.Check(context.Background(), a.Container))
			}
		}
	}
	return wrong.all(usageOr)
}

// place is the parameter that names a file, or --command.
func (f *experimentFlags) place(where string, n workload.Named) string {
	if f.Command != "" && n.Param == "command" && strings.HasPrefix(where, "workload") {
		return "--command"
	}
	return where + ": " + n.Param
}

// usageOr adds a place to an error. One that is not about what this host can do is a usage error.
func usageOr(where string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", where, err)
	if errors.Is(err, facts.ErrUnsupported) && !errors.Is(err, engine.ErrNoImage) {
		return hint.New(err, hint.Of(err))
	}
	return &usageError{err, ""}
}

// ampleMemory returns an error about a memory limit above the memory of this host, which limits nothing: of an arm it
// would measure nothing, and a neighbour could take the memory of the host's services.
func ampleMemory(p *plan.Plan) error {
	m, err := proc.FS("/").Amounts("proc/meminfo", "MemTotal")
	if err != nil || p.PodNode != "" {
		return nil
	}
	var all refusals
	check := func(whose string, limit uint64) {
		if float64(limit) > m[0] {
			err := fmt.Errorf("%s: memory: %s is more than this host has, %s, and limits nothing", whose, quantity.Bytes(float64(limit)), quantity.Bytes(m[0]))
			all.add(&usageError{hint.New(err, "a smaller limit"), ""})
		}
	}
	for _, l := range p.Loads {
		for _, a := range l.Arms {
			check("arm "+a.Name, a.Limits.Memory)
			if a.Neighbour != nil {
				check("neighbour "+a.Neighbour.Name, a.Neighbour.Memory)
			}
		}
	}
	return all.err()
}
