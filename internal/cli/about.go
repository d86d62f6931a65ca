package cli

import (
	"fmt"
	"slices"

	"github.com/tarelab/tare/internal/arms/pods"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/outside/nodes"
	"github.com/tarelab/tare/record"
)

// about describes a run that the node helper started on this host; nil: it was started here.
type about struct{ nodes.About }

func (f *nodeFlags) about(pods *pods.Target) (*about, error) {
	if f.NodeAbout == "" {
		return nil, nil
	}
	a, err := nodes.ReadAbout(f.NodeAbout)
	pods.Node = a.Node
	return &about{a}, err
}

// command is the command that repeats the run, on the client's host.
func (a *about) command(here []string, seed uint64) []string {
	if a == nil {
		return here
	}
	return append(slices.Clone(a.Command), fmt.Sprintf("--seed=%d", seed))
}

// where is the directory of the result on the user's host.
func (a *about) where(dir string) string {
	if a == nil {
		return dir
	}
	return a.Dir
}

func (a *about) manifest(m record.Manifest) record.Manifest {
	if a != nil {
		m.Host.Helper = &record.Helper{Node: a.Node, Image: a.Image, Namespaces: a.Namespaces, Cgroup: a.Cgroup, OOM: a.OOM, Kubelet: a.Kubelet, Runtime: a.Runtime}
	}
	return m
}

// finish says how the run ended. The client prints the results.
func (a *about) finish(c *console, out run.Outcome, err error) error {
	if out.Reason == "" {
		return err
	}
	return notRestored(c, out, err)
}
