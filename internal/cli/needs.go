package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/arms/pods"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/planning/plan"
)

// notHere is an ErrUnsupported that is a sentence of its own.
type notHere string

func (n notHere) Error() string        { return string(n) }
func (n notHere) Is(target error) bool { return target == facts.ErrUnsupported }

// leaveOutUninstalled takes the workloads out of a plan whose programs this host lacks, each
// with the line that installs them, where others remain. A program that was named by its path
// is none of these: that it is missing is an error of `installed`.
func leaveOutUninstalled(p *plan.Plan) {
	reasons := map[string]error{}
	for _, l := range p.Loads {
		missing, err := missingFor(p, l)
		if err == nil && len(missing) > 0 {
			reasons[l.Name] = lacking([]string{l.Name}, missing)
		}
	}
	if len(reasons) == len(p.Loads) {
		return
	}
	for _, l := range slices.Clone(p.Loads) {
		if why := reasons[l.Name]; why != nil {
			p.LeaveOut(l.Name, strings.TrimPrefix(why.Error(), l.Name+" "), hint.Of(why))
		}
	}
}

// installed is an error where programs of this host are missing that the plan's loads need:
// before anything is prepared, with one line that installs all of them.
func installed(p *plan.Plan) error {
	var missing []serve.Need
	var loads []string
	for _, l := range p.Loads {
		its, err := missingFor(p, l)
		if err != nil {
			return err
		}
		if len(its) > 0 {
			loads = append(loads, l.Name)
		}
		for _, n := range its {
			if !slices.Contains(missing, n) {
				missing = append(missing, n)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return lacking(loads, missing)
}

// missingFor are the programs that a load needs and this host lacks; an error where one was
// named by its path. A load in images needs none here. For pods on another host the data of a
// database is made here, and other loads need nothing.
func missingFor(p *plan.Plan, l plan.Load) (missing []serve.Need, err error) {
	ofServer := func(n serve.Need) bool { return n.Service != "" }
	switch {
	case p.PodNode != "" && (l.Stages.Prepare == nil || !slices.ContainsFunc(l.Stages.Needs, ofServer)):
		return nil, nil
	case p.PodNode == "" && !slices.ContainsFunc(l.Arms, func(a plan.PlannedArm) bool { return a.Image == "" }):
		return nil, nil
	}
	for _, n := range l.Stages.Needs {
		switch err := n.Missing(context.Background()); {
		case err != nil && n.Path != "":
			return nil, hint.New(notHere(fmt.Sprintf("workload %s: %v", l.Name, err)), hint.Of(err))
		case err != nil:
			missing = append(missing, n)
		}
	}
	return missing, nil
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
	if h.Container == "" || on != nil && on.Node != "" {
		return nil
	}
	return hint.New(notHere(h.Container), h.ContainerRemedy)
}

// checkPodFlags returns an error if there are flags about pods, but no pods.
func checkPodFlags(on kube.Access, pods bool) error {
	if pods {
		return nil
	}
	for _, f := range []struct{ flag, value string }{
		{"--kubeconfig", on.Kubeconfig}, {"--context", on.Context}, {"--namespace", on.Namespace}, {"--pod-image", on.Image},
	} {
		if f.value != "" {
			return &usageError{hint.New(fmt.Errorf("%s is for arms in pods, and no arm of the experiment is a pod", f.flag),
				"name some: --arms besteffort,guaranteed; or leave "+f.flag+" out"), ""}
		}
	}
	return nil
}
