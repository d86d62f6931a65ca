package handover

import (
	"fmt"
	"maps"
	"strings"

	"github.com/tarelab/tare/record"
)

// engineFlags are the flags that docker run and podman run have in common.
func engineFlags() map[record.SettingKey]form {
	return map[record.SettingKey]form{
		record.KeyCPUIdle: no(noIdle), record.KeyCPUBurst: no(noBurst), record.KeyMemoryHigh: no(noHigh),
		record.KeyCPUWeight: flat("--cpu-shares=%s", shares),
		record.KeyCPUMax:    flat("--cpus=%s", asIs),
		record.KeyCPUSet:    flat("--cpuset-cpus=%s", asIs),
		record.KeySched:     no(noSched),
		record.KeyIOWeight:  flat("--blkio-weight=%s", asIs),
		record.KeyIOBytes: {lines: func(x Thing, rate string) []string {
			return []string{fmt.Sprintf("--device-read-bps=%s:%s", x.Device, rate), fmt.Sprintf("--device-write-bps=%s:%s", x.Device, rate)}
		}},
		record.KeyMemoryMax: flat("--memory=%sb", asIs),
		record.KeyQoSLevel:  no(noQoS),
		record.KeyNetwork: {lines: func(_ Thing, word string) []string {
			return []string{"--network=" + word} // bridge: without --publish
		}},
		record.KeyConnect: no(noSocket),
		record.KeyVolume: {lines: func(x Thing, word string) []string {
			return []string{fmt.Sprintf("--volume=%s:%s", hostPath(x, word), x.Data)}
		}},
		record.KeySeccomp: flat("--security-opt=seccomp=%s", asIs),
	}
}

// engineRun is the command that starts the container anew, with the flags.
func engineRun(program string) func(Thing, []string) Snippet {
	return func(x Thing, flags []string) Snippet {
		return Snippet{
			Lines: []string{program + " run --name " + x.Name + " " + strings.Join(flags, " ") + " " + x.Image},
			Undo:  []string{program + " rm --force " + x.Name, program + " run --name " + x.Name + " " + x.Image},
		}
	}
}

func docker() Target {
	return Target{"docker", onThing, from(engineFlags(), notInContainer), engineRun("docker")}
}

// podman writes files of control groups as they are, with version 2 only.
func podman() Target {
	table := engineFlags()
	maps.Copy(table, map[record.SettingKey]form{
		record.KeyCPUIdle:   flat("--cgroup-conf=cpu.idle=%s", asIs),
		record.KeyCPUWeight: flat("--cgroup-conf=cpu.weight=%s", asIs),
		record.KeyCPUBurst: flat("--cgroup-conf=cpu.max.burst=%s", func(share string) string {
			return microseconds(share)
		}),
		record.KeyMemoryHigh: flat("--cgroup-conf=memory.high=%s", asIs),
	})
	return Target{"podman", onThing, from(table, notInContainer), engineRun("podman")}
}

func compose() Target {
	table := map[record.SettingKey]form{
		record.KeyCPUIdle: no(composeRenamed), record.KeyCPUBurst: no(composeRenamed), record.KeyMemoryHigh: no(composeRenamed),
		record.KeyCPUWeight: flat("cpu_shares: %s", shares),
		record.KeyCPUMax:    flat("cpus: %s", asIs),
		record.KeyCPUSet:    flat("cpuset: %q", asIs),
		record.KeySched:     no(noSched),
		record.KeyIOWeight:  flat("blkio_config: {weight: %s}", asIs),
		record.KeyIOBytes: {lines: func(x Thing, rate string) []string {
			limit := fmt.Sprintf("[{path: %s, rate: %s}]", x.Device, rate)
			return []string{"blkio_config: {device_read_bps: " + limit + ", device_write_bps: " + limit + "}"}
		}},
		record.KeyMemoryMax: flat("mem_limit: %sb", asIs),
		record.KeyQoSLevel:  no(noQoS),
		record.KeyNetwork:   flat("network_mode: %s", asIs),
		record.KeyConnect:   no(noSocket),
		record.KeyVolume: {lines: func(x Thing, word string) []string {
			return []string{fmt.Sprintf("volumes: [%q]", hostPath(x, word)+":"+x.Data)}
		}},
		record.KeySeccomp: flat("security_opt: [\"seccomp:%s\"]", asIs),
	}
	return Target{"compose", onThing, from(table, notInContainer), func(x Thing, lines []string) Snippet {
		return Snippet{File: "compose.override.yaml", Lines: append([]string{"services:", "  " + x.Name + ":"}, indent("    ", lines)...),
			Undo: []string{"rm compose.override.yaml", "docker compose up --detach " + x.Name}}
	}}
}
