package plan

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/record"
)

// Arms on the same processes differ, in what can be switched while these live, and never from themselves: the
// difference of an arm from its like would be that of a process from itself.
func TestSharedArmsDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []PlannedArm
		for i := range rapid.IntRange(2, 7).Draw(t, "arms") {
			a := PlannedArm{Arm: record.Arm{Name: string(rune('a' + i)), RunsAs: record.AsService}}
			a.Limits.CPUs = rapid.SampledFrom([]float64{0, 1}).Draw(t, "cpus")
			if rapid.Bool().Draw(t, "neighbour") {
				a.Neighbour = &Neighbour{Neighbour: record.Neighbour{Name: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "name")}}
				for _, name := range rapid.SampledFrom([][]string{nil, {"none"}, {"cpu.idle"}, {"cpu.idle", "io.max"}, {"io.max", "cpu.idle"}}).Draw(t, "isolation") {
					a.Arm.Isolation, a.Isolation = append(a.Arm.Isolation, name), append(a.Isolation, isolation.Settings{Live: true})
				}
			}
			all = append(all, a)
		}
		shareProcesses(all)
		for _, s := range Instances(all) {
			for i, a := range s.Arms {
				for _, b := range s.Arms[:i] {
					switch {
					case a.Limits != b.Limits, a.Neighbour != nil && b.Neighbour != nil && a.Neighbour.Name != b.Neighbour.Name:
						t.Fatalf("%+v and %+v share processes", a.Arm, b.Arm)
					case (a.Neighbour == nil) == (b.Neighbour == nil) && sameIsolation(a, b):
						t.Fatalf("%s and %s are the same and share processes", a.Name, b.Name)
					}
				}
			}
		}
		p := &Plan{Loads: []Load{{Arms: all, Workload: record.Workload{Name: "w"}}}, Record: record.Plan{Workloads: []record.Workload{{Name: "w", Arms: recordArms(all)}}}}
		was := p.Record
		was.Workloads = []record.Workload{{Name: "w", Arms: recordArms(all)}}
		p.ShareAs(record.Plan{})
		if instances := Instances(p.Loads[0].Arms); len(instances) != len(all) {
			t.Fatalf("%d instances of %d arms, each with processes of its own", len(instances), len(all))
		}
		p.ShareAs(was)
		for i, a := range p.Loads[0].Arms {
			if a.Shares != was.Workloads[0].Arms[i].Shares || a.Shares != p.Record.Workloads[0].Arms[i].Shares {
				t.Fatalf("%s shares with %q, not as before", a.Name, a.Shares)
			}
		}
	})
}

func recordArms(all []PlannedArm) (out []record.Arm) {
	for _, a := range all {
		out = append(out, a.Arm)
	}
	return out
}
