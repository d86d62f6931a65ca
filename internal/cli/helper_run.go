package cli

import (
	"fmt"
	"slices"

	"github.com/tarelab/tare/internal/arms/pods"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/outside/nodes"
	"github.com/tarelab/tare/record"
)

// helperRun describes a run that a node helper started on this host for a client elsewhere; nil: the
// run was started on this host.
type helperRun struct{ nodes.About }

// helperRun reads what the helper says about the run.
func (f *nodeFlags) helperRun(pods *pods.Target) (*helperRun, error) {
	if f.NodeAbout == "" {
		return nil, nil
	}
	a, err := nodes.ReadAbout(f.NodeAbout)
	pods.Node = a.Node
	return &helperRun{a}, err
}

// command is the command that repeats the run, on the client's host.
func (a *helperRun) command(here []string, seed uint64) []string {
	if a == nil {
		return here
	}
	return append(slices.Clone(a.Command), fmt.Sprintf("--seed=%d", seed))
}

// resultDir is the directory of the result on the client's host; dir if the run was started here.
func (a *helperRun) resultDir(dir string) string {
	if a == nil {
		return dir
	}
	return a.Dir
}

// manifest adds the helper to the manifest.
func (a *helperRun) manifest(m record.Manifest) record.Manifest {
	if a != nil {
		m.Host.Helper = &record.Helper{Node: a.Node, Image: a.Image, Namespaces: a.Namespaces, Cgroup: a.Cgroup, OOM: a.OOM, Kubelet: a.Kubelet, Runtime: a.Runtime}
	}
	return m
}

// finish says how the run ended. The client prints the results.
func (a *helperRun) finish(c *console, out run.Outcome, err error) error {
	if out.Reason == "" {
		return err
	}
	return notRestored(c, out, err)
}
