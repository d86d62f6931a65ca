package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/arms/pods"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/undo/trust"
	"github.com/tarelab/tare/record"
)

// notHere is an ErrUnsupported that is a sentence of its own.
type notHere string

func (n notHere) Error() string        { return string(n) }
func (n notHere) Is(target error) bool { return target == facts.ErrUnsupported }

// leaveOutUninstalled takes the workloads out of a plan whose programs this host lacks, each
// with the line that installs them, or the reason why they cannot be used, where others remain. A program that was
// named by its path is none of these: that it is missing is an error of `installed`.
func leaveOutUninstalled(p *plan.Plan) {
	reasons := map[string]error{}
	for _, l := range p.Loads {
		switch lacks := lacksOf(p, l); {
		case len(lacks.named) > 0:
		case len(lacks.broken) > 0:
			reasons[l.Name] = lacks.broken[0].err
		case len(lacks.missing) > 0:
			reasons[l.Name] = lacking([]string{l.Name}, lacks.missing)
		}
	}
	if len(reasons) == len(p.Loads) {
		return
	}
	for _, l := range slices.Clone(p.Loads) {
		if why := reasons[l.Name]; why != nil {
			p.LeaveOut(l.Name, record.InProse(strings.TrimPrefix(why.Error(), l.Name+" ")), record.InProse(hint.Of(why)))
		}
	}
}

// installed are the errors about programs that the plan's loads need: those that this host lacks, with one line that
// installs all of them, and those that cannot be used.
func installed(p *plan.Plan) error {
	var missing []serve.Need
	var loads []string
	var wrong placements
	for _, l := range p.Loads {
		lacks := lacksOf(p, l)
		for _, w := range slices.Concat(lacks.named, lacks.broken) {
			wrong.add(w.where, w.err)
		}
		if len(lacks.missing) > 0 {
			loads = append(loads, l.Name)
		}
		for _, n := range lacks.missing {
			if !slices.Contains(missing, n) {
				missing = append(missing, n)
			}
		}
	}
	var all refusals
	all.add(wrong.all(cannotUse)...)
	if len(missing) > 0 {
		all.add(lacking(loads, missing))
	}
	return all.err()
}

// cannotUse is the error about a program that is broken, or that the user named and is not there.
func cannotUse(where string, err error) error {
	placed := hint.New(notHere(where+": "+err.Error()), hint.Of(err))
	if broken := (*serve.UnusableError)(nil); errors.As(err, &broken) {
		return placed
	}
	return &usageError{placed, ""}
}

// lacks are the programs that a load needs and this host does not have.
type lacks struct {
	missing []serve.Need
	broken  []unmet // programs that are there and cannot be used
	named   []unmet // programs that the user named by their path
}

// unmet is a need of a load or neighbour that is not met, and why.
type unmet struct {
	where string
	err   error
}

// lacksOf checks the programs that a load with its neighbours needs. A load in images needs none here. For pods on
// another host the data of a database is made here, and other loads need nothing.
func lacksOf(p *plan.Plan, l plan.Load) (all lacks) {
	checked := map[serve.Need]bool{}
	for _, u := range usesOf(l) {
		if p.PodNode == "" && u.image || p.PodNode != "" && !preparesDatabase(u.stages) {
			continue
		}
		for _, n := range u.stages.Needs {
			if !checked[n] {
				all.check(u.where, n)
			}
			checked[n] = true
		}
	}
	return all
}

// check adds a need if it is not met.
func (l *lacks) check(where string, n serve.Need) {
	err := n.Missing(context.Background())
	if err == nil {
		return
	}
	var unusable *serve.UnusableError
	switch {
	case n.Path != "":
		l.named = append(l.named, unmet{where, err})
	case errors.As(err, &unusable):
		l.broken = append(l.broken, unmet{where, err})
	default:
		l.missing = append(l.missing, n)
	}
}

// preparesDatabase says whether the data of a database is made for these stages.
func preparesDatabase(s workload.Stages) bool {
	return s.Prepare != nil && slices.ContainsFunc(s.Needs, func(n serve.Need) bool { return n.Service != "" })
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

// notContainer returns an error if the arms would be in tare's own container. A node helper measures the node that
// was named, which may be a container.
func notContainer(h facts.Host, on *pods.Target) error {
	if h.Container.IsZero() || on != nil && on.Node != "" {
		return nil
	}
	return hint.New(notHere(said.English(h.Container)), said.English(h.ContainerRemedy))
}

// checkPodFlags returns an error if there are flags about pods, but no pods, or if they name a file that is not there.
func checkPodFlags(on kube.Access, pods bool) error {
	if pods {
		return checkKubeconfig(on.Kubeconfig)
	}
	for _, f := range []struct{ flag, value string }{
		{"--kubeconfig", on.Kubeconfig}, {"--context", on.Context}, {"--namespace", on.Namespace}, {"--pod-image", on.Image},
	} {
		// A node helper adds --kubeconfig to every run: it is not the user's.
		if f.value != "" && (f.flag != "--kubeconfig" || on.Node == "") {
			return &usageError{hint.New(fmt.Errorf("%s is for arms in pods, and no arm of the experiment is a pod", f.flag),
				"name some: --arms besteffort,guaranteed; or leave "+f.flag+" out"), ""}
		}
	}
	return nil
}

// checkKubeconfig returns an error if a file of --kubeconfig, a list like $KUBECONFIG, cannot be read.
func checkKubeconfig(files string) error {
	for _, file := range filepath.SplitList(files) {
		_, err := trust.ReadGiven(file)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("there is no file %s", file)
		}
		if err != nil {
			return &usageError{hint.New(fmt.Errorf("--kubeconfig: %w", err), "name a kubeconfig that this user can read; kubectl config view shows kubectl's own"), ""}
		}
	}
	return nil
}
