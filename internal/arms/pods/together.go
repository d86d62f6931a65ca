package pods

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/outside/kube"
)

// Tenant is an arm, or a neighbour, that is open while others are.
type Tenant struct {
	Arm    string
	Env    environment.Environment
	Server bool // it has a server, whose client may be in a pod too
}

// Together returns an error if the cluster has no room for the pods of these tenants at once: each alone
// may have. nil: it has, or does not say.
func (t *Target) Together(tenants []Tenant) error {
	var beside []environment.Environment
	pods := 0
	for _, s := range tenants {
		beside = append(beside, s.Env)
		if _, ok := s.Env.(Pod); ok {
			pods++
		}
	}
	if pods == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), askBound)
	defer cancel()
	c, err := t.Connect()
	if err != nil {
		return nil // Ask reports the error
	}
	defer c.Close()
	n, remote, err := c.Where(ctx)
	if err != nil {
		return nil
	}
	var on []corev1.Pod
	known := len(n.Status.Allocatable) > 0
	if known {
		if on, err = c.PodsOn(ctx, n.Name); err != nil {
			return nil
		}
	}
	here, elsewhere, err := asksOf(tenants, beside, kube.CapacityOf(n, on, nil), remote, known)
	if err != nil {
		return err
	}
	if known {
		if why := kube.Crowded(n, on, here); why != "" {
			return hint.New(errors.New(why), "fewer --arms, less of each (cpu=, memory=), or another node: --nodes NAME")
		}
	}
	if !remote || c.Namespace == "" {
		return nil // the run's own namespace has no quotas
	}
	quotas, err := c.Quotas(ctx, c.Namespace)
	if err != nil {
		return nil
	}
	if why := kube.OverQuota(quotas, append(here, elsewhere...)); why != "" {
		return hint.New(errors.New(why), "fewer --arms, less of each (cpu=, memory=, volume-size=), or another --namespace; kubectl describe quota -n "+c.Namespace)
	}
	return nil
}

// asksOf has what each pod asks for: on the node of the arms, and elsewhere (client=node). known says that
// capacity is that of the node.
func asksOf(tenants []Tenant, beside []environment.Environment, capacity kube.Capacity, remote, known bool) (here, elsewhere []kube.Ask, err error) {
	server := false
	for _, s := range tenants {
		server = server || s.Server
	}
	if remote && server {
		beside = remoteBeside(environment.Spec{Beside: beside, Port: 1})
	}
	for _, s := range tenants {
		p, ok := s.Env.(Pod)
		if !ok {
			continue
		}
		l := p.withDefaults()
		if !known && (l.cpu.max || l.memory.max) {
			return nil, nil, hint.New(fmt.Errorf("arm %s: the free CPUs and memory of the node are unknown: this user may not read nodes", s.Arm), "name amounts: guaranteed:cpu=1,memory=2Gi")
		}
		amounts := p.resolve(capacity, beside)
		if known && amounts.short != "" {
			return nil, nil, hint.New(fmt.Errorf("arm %s: %s", s.Arm, amounts.short), "ask for less (cpu=max takes what is left), fewer --arms, or another node: --nodes NAME")
		}
		if l.cpu.max && amounts.requests.CPU == 0 {
			return nil, nil, fmt.Errorf("arm %s: %w", s.Arm, noCPU(amounts))
		}
		ask := kube.Ask{Arm: s.Arm, Requests: amounts.requests, Limits: amounts.limits}
		if p.Levels.volume.Class != "" {
			ask.Claim = max(p.Levels.size.n, claimSize(0))
		}
		here = append(here, ask)
		client := kube.Ask{Arm: clientArm(s.Arm), Requests: clientRequests}
		switch {
		case !s.Server || !remote && !p.Levels.client:
		case p.Levels.clientNode != "":
			elsewhere = append(elsewhere, client)
		default:
			here = append(here, client)
		}
	}
	return here, elsewhere, nil
}
