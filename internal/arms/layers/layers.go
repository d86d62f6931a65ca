// Package layers is the ladder: environments that add one layer of a container each, made without a
// runtime, so that each layer can be measured alone. The package knows the layers and their order.
// Package launch starts processes in them, and internal/linux makes namespaces, mounts and filters.
package layers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/record"
)

// Rung is one environment of the ladder: the host with all layers up to its own. CPULimit is not
// part of the order: it is Cgroup with a quota.
type Rung int

// The rungs, from the lowest up.
const (
	Host Rung = iota
	Cgroup
	Namespaces
	RootFS
	Security
	Network
	NAT
	CPULimit
)

var _ environment.Environment = Host

// Name is the rung's word on the command line and in the record.
func (r Rung) Name() string {
	return [...]string{"host", "cgroup", "namespaces", "rootfs", "security", "network", "nat", "cpu-limit"}[r]
}

// Title is one line for people: the layer that this rung adds.
func (r Rung) Title() record.Said {
	return record.Say([...]string{
		"arm_host", "arm_cgroup", "arm_namespaces", "arm_rootfs", "arm_security", "arm_network", "arm_nat", "arm_cpu_limit",
	}[r])
}

// has says whether the rung contains a layer.
func (r Rung) has(layer Rung) bool {
	if r == CPULimit {
		return layer == CPULimit || layer <= Cgroup
	}
	return layer <= r
}

// groups describes the groups of the rung. If this host lacks controllers of a container, the rungs
// above Cgroup have the groups of Host.
func (r Rung) groups(t *cgroup.Tree) (launch.Groups, error) {
	if !r.has(Cgroup) {
		return launch.ServiceGroups(t)
	}
	g, err := launch.AmpleGroups(t)
	if err != nil && r != Cgroup && r != CPULimit {
		return launch.ServiceGroups(t)
	}
	if err == nil && g.Tree == nil {
		err = errors.New("no control groups here")
	}
	if err != nil {
		return g, fmt.Errorf("%w: %w", facts.ErrUnsupported, err)
	}
	if r == CPULimit {
		g.Limits.CPUs = float64(runtime.NumCPU()) // the CPUs of tare's mask, which its children inherit
	}
	return g, nil
}

// needs are the features of facts.Host that the rung needs.
func (r Rung) needs() []string {
	var all []string
	for _, n := range []struct {
		layer   Rung
		feature string
	}{
		{Namespaces, facts.FeatureNamespaces}, {RootFS, facts.FeatureOverlay}, {Security, facts.FeatureSeccomp},
		{Network, facts.FeatureNetwork}, {NAT, facts.FeatureNAT},
	} {
		if r.has(n.layer) {
			all = append(all, n.feature)
		}
	}
	return all
}

// Capabilities says that the rungs from Cgroup on have the control groups of a container, and Host those
// of a service.
func (r Rung) Capabilities() environment.Capabilities {
	c := environment.Capabilities{Grouped: r.has(Cgroup)}
	if r == Host {
		c.RunsAs = launch.RunsAs
	}
	return c
}

// Support says whether this host and user can have the rung.
func (r Rung) Support(h facts.Host) facts.Support {
	if r == Cgroup || r == CPULimit {
		return groupSupport(h)
	}
	for _, feature := range r.needs() {
		if s := h.Has(feature); s.Answer != facts.Yes {
			return s
		}
	}
	return facts.Supported()
}

// groupSupport says whether this host and user can make groups with controllers.
func groupSupport(h facts.Host) facts.Support {
	return h.GroupsCan(launch.NeededControllers()...)
}

// Changes lists the changes that Open makes on the host.
func (r Rung) Changes(s environment.Spec) []facts.Change {
	groups, err := r.groups(s.Groups)
	if err != nil {
		return nil
	}
	changes := launch.Changes(s, groups)
	if r.has(Namespaces) {
		changes = append(changes, facts.Changed(messages.Say("change.namespaces"), messages.Say("change.namespaces.own")))
	}
	if r.has(RootFS) {
		changes = append(changes, facts.Changed(messages.Say("change.overlay"), messages.Say("change.overlay.load"), messages.Say("change.unseen")))
	}
	if r.has(Network) {
		changes = append(changes, launch.NetworkChanges(s, r.has(NAT))...)
	}
	return changes
}

// Open makes the arm.
func (r Rung) Open(ctx context.Context, spec environment.Spec) (environment.OpenArm, error) {
	if r.has(Network) && os.Geteuid() != 0 {
		return nil, fmt.Errorf("open %s: %w: an ordinary user cannot connect network namespaces", r.Name(), facts.ErrUnsupported)
	}
	groups, err := r.groups(spec.Groups)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", r.Name(), err)
	}
	sandbox, err := launch.NewSandbox(spec, groups)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", r.Name(), err)
	}
	a := &arm{rung: r, Sandbox: sandbox}
	if err := a.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", r.Name(), err), sandbox.Close())
	}
	return a, nil
}
