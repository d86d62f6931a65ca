package cgroup

import "testing"

// Check accepts a plan of Make for its own group and for no other.
func TestPlanCheck(t *testing.T) {
	for name, f := range map[string]*fixture{"v1": machineV1(t), "v2": machineV2(t), "user": machineUser(t, 1234)} {
		tree := f.detect()
		for _, path := range []string{"tare-r", "tare-r/arm", "tare-r-arm.neighbour"} {
			for _, controllers := range [][]string{nil, {"memory"}, {"cpu", "memory", "pids"}} {
				p, err := tree.Plan(path, controllers)
				if err == nil {
					err = p.Check("tare-r")
				}
				if err != nil {
					t.Errorf("%s: %s with %v: %v", name, path, controllers, err)
				}
				for _, other := range []string{"tare-r2", "tare-ra", "tare-", "arm"} {
					if p.Check(other) == nil {
						t.Errorf("%s: %s with %v was taken for a group %s", name, path, controllers, other)
					}
				}
			}
		}
	}
}
