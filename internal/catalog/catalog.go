package catalog

import (
	"github.com/tarelab/tare/internal/arms/beside"
	"github.com/tarelab/tare/internal/arms/chroot"
	"github.com/tarelab/tare/internal/arms/engines"
	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/gvisor"
	"github.com/tarelab/tare/internal/arms/layers"
	"github.com/tarelab/tare/internal/arms/oci"
	"github.com/tarelab/tare/internal/arms/pods"
	"github.com/tarelab/tare/internal/arms/ungrouped"
	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/loads/clickhouse"
	"github.com/tarelab/tare/internal/loads/fio"
	"github.com/tarelab/tare/internal/loads/pgbench"
	"github.com/tarelab/tare/internal/loads/redis"
	"github.com/tarelab/tare/internal/loads/sysbench"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/logs/importer"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
)

// Workloads lists the loads.
func Workloads() []workload.Workload {
	return []workload.Workload{
		workload.OLTP{},
		workload.Commit{},
		workload.RPC{},
		workload.Spin{},
		sysbench.Workload{},
		pgbench.Workload{},
		clickhouse.Workload{},
		redis.Workload{},
		fio.Workload{},
		workload.Command{},
	}
}

// neighbours lists the loads that make noise beside an arm.
func neighbours() []workload.Workload {
	return []workload.Workload{
		workload.Spin{},
		workload.Stream{},
		workload.StressNG{},
		workload.Stress{},
		workload.DiskNoise{},
		workload.Beside{Workload: sysbench.Workload{}},
		workload.Beside{Workload: pgbench.Workload{}},
		workload.Beside{Workload: clickhouse.Workload{}},
		workload.Beside{Workload: redis.Workload{}},
		workload.CommandNoise{},
	}
}

// Rungs lists the environments: the rungs of the ladder from the host up, then the environments beside
// the ladder. An experiment has runtimes, engines and pods only if it names them (OnlyByName). If
// cluster is nil, pods can be named and described, but not opened.
func Rungs(cluster *pods.Target) []plan.Rung {
	return []plan.Rung{
		{Environment: layers.Host},
		{Environment: layers.Cgroup, On: "host"},
		{Environment: layers.Namespaces, On: "cgroup"},
		{Environment: layers.RootFS, On: "namespaces"},
		{Environment: layers.Security, On: "rootfs"},
		{Environment: layers.Network, On: "security", NeedsServer: true},
		{Environment: layers.NAT, On: "network", NeedsServer: true},
		{Environment: oci.Container{}, On: "nat", Remainder: true},
		{Environment: layers.CPULimit},
		{Environment: oci.Container{Runtime: "runc"}, OnlyByName: true},
		{Environment: oci.Container{Runtime: "crun"}, OnlyByName: true},
		{Environment: gvisor.Container{}, OnlyByName: true},
		{Environment: chroot.Chroot{}, OnlyByName: true},
		{Environment: ungrouped.Process{}, OnlyByName: true},
		{Environment: engines.Podman, OnlyByName: true},
		{Environment: engines.Docker, OnlyByName: true},
		{Environment: pods.Pod{QoS: pods.BestEffort, On: cluster}, OnlyByName: true},
		{Environment: pods.Pod{QoS: pods.Burstable, On: cluster}, OnlyByName: true},
		{Environment: pods.Pod{QoS: pods.Guaranteed, On: cluster}, OnlyByName: true},
	}
}

// Probes lists the probes: what tare observes of the kernel during a window.
func Probes() []probe.Probe { return probe.All() }

// Plan returns the catalog from which plan.Build makes a plan. See Rungs for cluster.
func Plan(cluster *pods.Target) plan.Catalog {
	return plan.Catalog{Workload: Workload, Neighbour: neighbour, Beside: beside.Host{}, Rungs: Rungs(cluster)}
}

// Workload finds a load by its kind.
func Workload(kind string) (workload.Workload, bool) { return find(Workloads(), kind) }

// neighbour finds the load of a neighbour by its kind.
func neighbour(kind string) (workload.Workload, bool) { return find(neighbours(), kind) }

func find(all []workload.Workload, kind string) (workload.Workload, bool) {
	for _, w := range all {
		if w.Name() == kind {
			return w, true
		}
	}
	return nil, false
}

// Words returns the words that are valid in an experiment, to check its file.
func Words() experiment.Words {
	w := experiment.Words{
		Kinds: map[string][]workload.Param{}, Neighbours: map[string][]workload.Param{},
		Isolation: func(text string) error { _, _, err := isolation.Parse(text); return err },
		Volume:    volume.Check, OfPod: volume.IsOfPod,
		Networks: environment.Networks(), Seccomp: environment.SeccompProfiles(), Capabilities: environment.CapabilitySets(),
		Levels: checkLevels,
		Metric: importer.MetricCalled,
	}
	for _, k := range Workloads() {
		w.Kinds[k.Name()] = k.Params()
	}
	for _, k := range neighbours() {
		w.Neighbours[k.Name()] = k.Params()
	}
	for _, m := range isolation.All() {
		if d := m.Describe(); d.Level.Default != "" {
			w.Mechanisms = append(w.Mechanisms, d.Name+"="+d.Level.Default)
		} else if d.Name != isolation.None {
			w.Mechanisms = append(w.Mechanisms, d.Name)
		}
	}
	for _, r := range Rungs(nil) {
		w.Arms = append(w.Arms, r.Name())
		if r.Capabilities().Pod {
			w.Places = append(w.Places, r.Name())
		}
	}
	return w
}

// checkLevels returns an error if text has levels that the environment does not have.
func checkLevels(name, text string) error {
	_, err := Plan(nil).Rung(name + ":" + text)
	return err
}
