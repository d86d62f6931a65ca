package handover

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/tarelab/tare/record"
)

// period is that of a CPU quota, in microseconds, as engines and systemd set it.
const period = 100_000

// microseconds is CPU seconds per second as microseconds per period.
func microseconds(share string) string {
	x, _ := strconv.ParseFloat(share, 64)
	return strconv.FormatFloat(x*period, 'f', 0, 64)
}

// serviceKeys are the keys of systemd's section [Service].
func serviceKeys() map[record.SettingKey]form {
	return map[record.SettingKey]form{
		record.KeyCPUIdle: {lines: func(_ Thing, value string) []string {
			if value == "0" {
				return []string{"CPUWeight=100"}
			}
			return []string{"CPUWeight=idle"}
		}},
		record.KeyCPUWeight: flat("CPUWeight=%s", asIs),
		record.KeyCPUMax:    flat("CPUQuota=%s", percent),
		record.KeyCPUBurst:  no(noBurstOfUnits),
		record.KeyCPUSet:    flat("AllowedCPUs=%s", asIs),
		record.KeySched:     flat("CPUSchedulingPolicy=%s", asIs),
		record.KeyIOWeight:  flat("IOWeight=%s", asIs),
		record.KeyIOBytes: {lines: func(x Thing, rate string) []string {
			return []string{fmt.Sprintf("IOReadBandwidthMax=%s %s", x.Device, rate), fmt.Sprintf("IOWriteBandwidthMax=%s %s", x.Device, rate)}
		}},
		record.KeyMemoryHigh: flat("MemoryHigh=%s", asIs),
		record.KeyMemoryMax:  flat("MemoryMax=%s", asIs),
		record.KeyQoSLevel:   no(noQoS),
		record.KeyNetwork:    no(noUnitNetwork),
		record.KeyConnect:    no(noSocket),
		record.KeyVolume:     no(noUnitVolume),
		record.KeySeccomp: {lines: func(Thing, string) []string {
			return []string{"SystemCallFilter="} // an empty value removes all filters
		}},
	}
}

// dropIn is a file that adds to a unit.
func dropIn(dir, suffix string) func(Thing, []string) Snippet {
	return func(x Thing, lines []string) Snippet {
		file := dir + "/" + x.Name + suffix + ".d/50-tare.conf"
		return Snippet{File: file, Lines: lines, Undo: []string{"rm " + file, "systemctl daemon-reload", "systemctl restart " + x.Name}}
	}
}

func unit() Target {
	whole := dropIn("/etc/systemd/system", ".service")
	return Target{"systemd", onThing, from(serviceKeys(), notInUnit), func(x Thing, lines []string) Snippet {
		return whole(x, append([]string{"[Service]"}, lines...))
	}}
}

// inContainer marks lines of Quadlet's section [Container].
const inContainer = "[Container] "

func quadlet() Target {
	table := serviceKeys()
	maps.Copy(table, map[record.SettingKey]form{
		record.KeyCPUBurst: flat(inContainer+"PodmanArgs=--cgroup-conf=cpu.max.burst=%s", microseconds),
		record.KeySched:    no(noSched), // the container is no child of the unit's own process
		record.KeyNetwork:  flat(inContainer+"Network=%s", asIs),
		record.KeyVolume: {lines: func(x Thing, word string) []string {
			return []string{inContainer + "Volume=" + hostPath(x, word) + ":" + x.Data}
		}},
		record.KeySeccomp: flat(inContainer+"SeccompProfile=%s", asIs),
	})
	whole := dropIn("/etc/containers/systemd", ".container")
	return Target{"quadlet", onThing, from(table, notInContainer), func(x Thing, lines []string) Snippet {
		var container, service []string
		for _, l := range lines {
			if own, ok := strings.CutPrefix(l, inContainer); ok {
				container = append(container, own)
			} else {
				service = append(service, l)
			}
		}
		var all []string
		if len(container) > 0 {
			all = append([]string{"[Container]"}, container...)
		}
		if len(service) > 0 {
			all = append(append(all, "[Service]"), service...)
		}
		return whole(x, all)
	}}
}
