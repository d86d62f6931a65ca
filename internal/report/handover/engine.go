package handover

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarelab/tare/record"
)

// engineFlags are the flags that docker run and podman run have in common.
func engineFlags() map[record.SettingKey]form {
	return map[record.SettingKey]form{
		record.KeyCPUIdle: no(noIdle), record.KeyCPUBurst: no(noBurst), record.KeyMemoryHigh: no(noHigh),
		record.KeyCPUWeight: flat("--cpu-shares=%s", shares).or("--cpu-shares=0"),
		record.KeyCPUMax:    flat("--cpus=%s", asIs).or("--cpus=0"),
		record.KeyCPUSet:    flat("--cpuset-cpus=%s", asIs),
		record.KeySched:     no(noSched),
		record.KeyIOWeight: {add: func(d *document, _ Thing, weight string) {
			d.lines = append(d.lines, "--blkio-weight="+ioWeight(d, weight))
		}},
		record.KeyIOBytes: lines(func(x Thing, rate string) []string {
			limit := x.Device + ":" + rate
			return []string{"--device-read-bps=" + limit, "--device-write-bps=" + limit}
		}),
		record.KeyMemoryMax: flat("--memory=%sb", asIs).or("--memory=0"),
		record.KeyQoSLevel:  no(noQoS),
		record.KeyNetwork:   flat("--network=%s", asIs).noting(withoutPorts),
		record.KeyConnect: lines(func(x Thing, _ string) []string {
			return []string{"--volume=" + socketVolume(x) + ":" + x.Socket}
		}).noting(shareSocket),
		record.KeyVolume: {add: func(d *document, x Thing, word string) {
			d.lines = append(d.lines, fmt.Sprintf("--volume=%s:%s", onto(d, x, word), x.Data))
		}},
		record.KeySeccomp: flat("--security-opt=seccomp=%s", asIs),
	}
}

// ioWeight is a weight of version 2 as Docker takes it: from 10.
func ioWeight(d *document, weight string) string {
	if len(weight) == 1 {
		d.note(leastIOWeight)
		return "10"
	}
	return weight
}

// socketVolume is the volume that server and client share.
func socketVolume(x Thing) string { return strings.ToLower(x.Name) + "-socket" }

// engineRun puts a container with the flags in the place of the present one, which stays until the user removes it.
func engineRun(program string) func(Thing, change) Snippet {
	return func(x Thing, c change) Snippet {
		before := x.Name + "-before"
		commands := []string{program + " stop " + x.Name}
		if i := slices.IndexFunc(c.apply, func(s record.RemedySetting) bool { return s.Key == record.KeyVolume }); i >= 0 {
			to := hostPath(x, c.apply[i].Value)
			commands = append(commands, "mkdir -p "+to, fmt.Sprintf("%s cp --archive %s:%s/. %s", program, x.Name, x.Data, to))
		}
		run := strings.Join(slices.Concat([]string{program, "run --detach --name", x.Name}, c.lines, []string{x.Image}), " ")
		return Snippet{
			Notes: []string{ownFlags},
			Lines: append(commands, program+" rename "+x.Name+" "+before, run),
			Undo: []string{
				program + " rm --force " + x.Name, program + " rename " + before + " " + x.Name, program + " start " + x.Name,
			},
		}
	}
}

func docker() Target {
	return Target{Name: "docker", on: onThing, forms: engineFlags(), others: notInContainer, whole: engineRun("docker")}
}

// podman writes files of control groups as they are, with version 2 only.
func podman() Target {
	table := engineFlags()
	maps.Copy(table, map[record.SettingKey]form{
		record.KeyCPUIdle:    flat("--cgroup-conf=cpu.idle=%s", asIs),
		record.KeyCPUWeight:  flat("--cgroup-conf=cpu.weight=%s", asIs).or("--cgroup-conf=cpu.weight=100"),
		record.KeyCPUBurst:   flat("--cgroup-conf=cpu.max.burst=%s", microseconds),
		record.KeyIOWeight:   flat("--cgroup-conf=io.bfq.weight=%s", asIs),
		record.KeyMemoryHigh: flat("--cgroup-conf=memory.high=%s", asIs),
	})
	return Target{Name: "podman", on: onThing, forms: table, others: notInContainer, whole: engineRun("podman")}
}
