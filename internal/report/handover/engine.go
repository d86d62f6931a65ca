package handover

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/record"
)

// allMemory is a part of the host's memory as engines take it: no limit that could be written over a limit.
func allMemory(times string) string {
	return "$(awk '/^MemTotal/ {print " + times + "$2}' /proc/meminfo)k"
}

// twice is double an amount of bytes. Engines allow as much swap as memory besides, and refuse more memory without
// more of both.
func twice(bytes string) string {
	n, _ := strconv.ParseInt(bytes, 10, 64)
	return strconv.FormatInt(2*n, 10)
}

// engineFlags are the flags that docker run and podman run have in common. The live ones are those of update, too, where
// 0 means unchanged: what the whole host has is no limit.
func engineFlags() map[record.SettingKey]form {
	return map[record.SettingKey]form{
		record.KeyCPUIdle: no(noIdle), record.KeyCPUBurst: no(noBurst), record.KeyMemoryHigh: no(noHigh),
		record.KeyCPUWeight: flat("--cpu-shares=%s", shares).or("--cpu-shares=1024").showing(converted).whileItRuns(),
		record.KeyCPUMax:    flat("--cpus=%s", asIs).or("--cpus=$(nproc)").whileItRuns(),
		record.KeyCPUSet:    flat("--cpuset-cpus=%s", asIs).or("--cpuset-cpus=$(cat /sys/devices/system/cpu/online)").whileItRuns(),
		record.KeySched:     no(noSched),
		record.KeyIOWeight: form{add: func(d *document, _ Thing, weight string) {
			d.lines = append(d.lines, "--blkio-weight="+ioWeight(d, weight))
		}}.or("--blkio-weight=100").whileItRuns(),
		record.KeyIOBytes: lines(func(x Thing, rate string) []string {
			limit := x.Device + ":" + rate
			return []string{"--device-read-bps=" + limit, "--device-write-bps=" + limit}
		}),
		record.KeyMemoryMax: lines(func(_ Thing, bytes string) []string {
			return []string{"--memory=" + bytes + "b", "--memory-swap=" + twice(bytes) + "b"}
		}).or("--memory="+allMemory(""), "--memory-swap="+allMemory("2*")).whileItRuns(),
		record.KeyQoSLevel: no(noQoS),
		record.KeyNetwork:  flat("--network=%s", asIs).noting(withoutPorts),
		record.KeyConnect: lines(func(x Thing, _ string) []string {
			return []string{"--volume=" + socketVolume(x) + ":" + x.Socket}
		}).noting(shareSocket),
		record.KeyVolume: {add: func(d *document, x Thing, word string) {
			d.lines = append(d.lines, fmt.Sprintf("--volume=%s:%s", onto(d, x, word), x.Data))
		}},
		record.KeySeccomp: flat("--security-opt=seccomp=%s", asIs),
	}
}

// ioWeight is a weight of version 2 as engines take it: from 10.
func ioWeight(d *document, weight string) string {
	if len(weight) == 1 {
		d.note(leastIOWeight)
		return "10"
	}
	return weight
}

// socketVolume is the volume that server and client share.
func socketVolume(x Thing) string { return strings.ToLower(x.Name) + "-socket" }

// engine sets what it can in the container that runs. For the rest it puts a container with the flags and all volumes of
// the present one, also those without a name, in its place; that one stays until the user removes it.
func engine(program string, forms map[record.SettingKey]form) Target {
	t := Target{Name: program, on: onThing, forms: forms, others: notInContainer}
	t.whole = func(x Thing, c change) Snippet {
		check := c.inContainer(x, program+" inspect", x.Name)
		if c.live(forms) {
			update := func(flags []string) []string {
				return []string{strings.Join(slices.Concat([]string{program, "update"}, flags, []string{x.Name}), " ")}
			}
			return Snippet{Lines: update(c.lines), Check: check, Undo: update(c.back(x, forms).lines)}
		}
		before := x.Name + "-before"
		commands := []string{program + " stop " + x.Name}
		if i := slices.IndexFunc(c.apply, func(s record.RemedySetting) bool { return s.Key == record.KeyVolume }); i >= 0 {
			to := hostPath(x, c.apply[i].Value)
			commands = append(commands, "mkdir -p "+to, fmt.Sprintf("%s cp --archive %s:%s/. %s", program, x.Name, x.Data, to))
		}
		run := strings.Join(slices.Concat([]string{program, "run --detach --name", x.Name, "--volumes-from", before}, c.lines, []string{x.Image}), " ")
		return Snippet{
			Notes: []record.Said{ownFlags}, Check: check,
			Lines: append(commands, program+" rename "+x.Name+" "+before, run),
			Undo: []string{
				program + " rm --force " + x.Name, program + " rename " + before + " " + x.Name, program + " start " + x.Name,
			},
		}
	}
	return t
}

func docker() Target { return engine("docker", engineFlags()) }

// podman writes files of control groups of version 2 as they are.
func podman() Target {
	table := engineFlags()
	maps.Copy(table, map[record.SettingKey]form{
		record.KeyCPUIdle:    flat("--cgroup-conf=cpu.idle=%s", asIs).version2(),
		record.KeyCPUBurst:   flat("--cgroup-conf=cpu.max.burst=%s", microseconds).version2(),
		record.KeyMemoryHigh: flat("--cgroup-conf=memory.high=%s", asIs).version2(),
	})
	return engine("podman", table)
}
