package remedy

import (
	"math"
	"strconv"

	"github.com/tarelab/tare/record"
)

func wholeCPUs() Remedy {
	return Remedy{
		Name: "whole-cpus", Does: "the CPU limit is rounded up to whole CPUs",
		For:   []record.LossCause{record.LossCPULimit},
		Gives: record.Say("gives_part_of_cpu"), Part: 0.5, Sets: "cpu limit",
		On: func(l Lost) (Trial, bool) {
			if class, levels := l.levels(); l.Can.Pod {
				return l.wholePod(class, levels)
			}
			a := l.arm()
			a.CPUs = math.Ceil(l.Arm.CPUs)
			t := change(a, record.OnLoad, record.KeyCPUMax, strconv.Itoa(int(a.CPUs)), l.limit())
			t.Gives = taken(a.CPUs - l.Arm.CPUs)
			return t, a.CPUs > l.Arm.CPUs && int(a.CPUs) <= len(l.CPUs)
		},
	}
}

func taken(more float64) record.Said { return record.Say("gives_up_to_of_others", "cpus", more) }

// wholePod rounds up the limit of a pod, with the request of a Guaranteed one, which stays in its class.
func (l Lost) wholePod(class, levels string) (Trial, bool) {
	level, keys := "cpu-limit", []record.SettingKey{record.KeyPodCPULimit}
	if class == "guaranteed" {
		// The limit first: a request above it is refused.
		level, keys = "cpu", []record.SettingKey{record.KeyPodCPULimit, record.KeyPodCPURequest}
	}
	was := cpusOf(levelOf(levels, level))
	want := math.Ceil(was)
	if want <= was || int(want) > len(l.CPUs) || level == "cpu" && int(want) == len(l.CPUs) {
		return Trial{}, false // the node reserves a part of one
	}
	a := l.arm()
	a.Environment, _ = withLevel(class, levels, level, decimal(want))
	t := Trial{Arm: a, Gives: taken(want - was)}
	for _, k := range keys {
		t.Apply = append(t.Apply, setting(record.OnLoad, k, decimal(want)))
		t.Undo = append(t.Undo, setting(record.OnLoad, k, decimal(was)))
	}
	t.Undo = reversed(t.Undo)
	return t, true
}
