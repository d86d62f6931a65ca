// Package remedytest has arms that lost, for tests of what may win their loss back.
package remedytest

import (
	"maps"
	"testing"

	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/remedy"

	"github.com/tarelab/tare/record"
)

// Losses are arms that lose in different ways, by a load and what is special about the arm. Every remedy applies
// to one of them.
func Losses(t *testing.T) map[string]remedy.Lost {
	t.Helper()
	all := map[string]remedy.Lost{}
	add := func(name, kind string, a experiment.ArmSpec, server bool) {
		env, err := catalog.Plan(nil).Rung(a.Environment)
		if err != nil {
			t.Fatal(err)
		}
		params := map[string]string{}
		for _, p := range catalog.Words().Kinds[kind] {
			params[p.Name] = p.Default
		}
		maps.Copy(params, a.Set)
		a.Name = "lost"
		all[name] = remedy.Lost{Arm: a, Volume: "layer", Params: params, Server: server, Can: env.Capabilities(), CPUs: []int{0, 1, 2, 3}, Memory: 16 << 30, Taken: []string{"lost", "base"}}
	}
	add("oltp neighbour", "oltp", experiment.ArmSpec{Environment: "cgroup", Neighbour: "hogs"}, false)
	add("oltp host", "oltp", experiment.ArmSpec{Environment: "host", Neighbour: "hogs"}, false)
	add("oltp ungrouped", "oltp", experiment.ArmSpec{Environment: "ungrouped", Neighbour: "hogs"}, false)
	add("sysbench docker", "sysbench", experiment.ArmSpec{Environment: "docker", Options: record.Options{CPUs: 1.5, MemoryBytes: 256 << 20}}, true)
	add("sysbench small", "sysbench", experiment.ArmSpec{Environment: "cgroup", Set: map[string]string{"buffer_pool": "5M"}}, true)
	add("pgbench docker", "pgbench", experiment.ArmSpec{Environment: "docker", Set: map[string]string{"shared_buffers": "1M"}}, true)
	add("oltp weight", "oltp", experiment.ArmSpec{Environment: "cgroup", Options: record.Options{Weight: 20}}, false)
	add("oltp limit", "oltp", experiment.ArmSpec{Environment: "cpu-limit"}, false)
	add("sysbench besteffort", "sysbench", experiment.ArmSpec{Environment: "besteffort:volume=emptydir"}, true)
	add("sysbench guaranteed", "sysbench", experiment.ArmSpec{Environment: "guaranteed:cpu=1,volume=pvc:fast"}, true)
	add("sysbench throttled", "sysbench", experiment.ArmSpec{Environment: "burstable:cpu=100m,cpu-limit=500m"}, true)
	add("sysbench half", "sysbench", experiment.ArmSpec{Environment: "guaranteed:cpu=500m,memory=1Gi"}, true)
	service := all["oltp host"]
	service.Service = true
	all["oltp host"] = service
	loop := all["sysbench docker"]
	loop.Volume = "loop:ext4"
	all["sysbench loop"] = loop
	return all
}
