package handover

import (
	"maps"
	"slices"
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

// serviceKeys are the keys of systemd's section [Service]. An empty value restores the default.
func serviceKeys() map[record.SettingKey]form {
	return map[record.SettingKey]form{
		record.KeyCPUIdle: lines(func(_ Thing, value string) []string {
			if value == "0" {
				return []string{"CPUWeight="}
			}
			return []string{"CPUWeight=idle"}
		}).whileItRuns().version2(),
		record.KeyCPUWeight: flat("CPUWeight=%s", asIs).or("CPUWeight=").whileItRuns(),
		record.KeyCPUMax:    flat("CPUQuota=%s", percent).or("CPUQuota=").whileItRuns(),
		record.KeyCPUBurst:  no(noBurstOfUnits),
		record.KeyCPUSet:    flat("AllowedCPUs=%s", asIs).or("AllowedCPUs=").whileItRuns().version2(),
		record.KeySched:     flat("CPUSchedulingPolicy=%s", asIs).or("CPUSchedulingPolicy=other"),
		record.KeyIOWeight:  flat("IOWeight=%s", asIs).or("IOWeight=").whileItRuns(),
		record.KeyIOBytes: lines(func(x Thing, rate string) []string {
			limit := x.Device + " " + rate
			return []string{"IOReadBandwidthMax=" + limit, "IOWriteBandwidthMax=" + limit}
		}).or("IOReadBandwidthMax=", "IOWriteBandwidthMax=").whileItRuns(),
		record.KeyMemoryHigh: flat("MemoryHigh=%s", asIs).or("MemoryHigh=").whileItRuns().version2(),
		record.KeyMemoryMax:  flat("MemoryMax=%s", asIs).or("MemoryMax=").whileItRuns(),
		record.KeyQoSLevel:   no(noQoS),
		record.KeyNetwork:    no(noUnitNetwork),
		record.KeyConnect:    no(noUnitSocket),
		record.KeyVolume:     no(noUnitVolume),
		record.KeySeccomp: lines(func(Thing, string) []string {
			return []string{"SystemCallFilter="} // an empty value removes all filters
		}),
	}
}

// last is the name of files that add to others: their directories are read in the order of the names.
const last = "zz-tare"

// dropIn is a file that adds to a unit. systemd sets the control groups of units anew when it reloads them, so that
// only what is no setting of these needs a restart.
func dropIn(dir, suffix string, x Thing, lines []string, live bool) Snippet {
	file := dir + "/" + x.Name + suffix + ".d/" + last + ".conf"
	again := []string{"systemctl daemon-reload"}
	if !live {
		again = append(again, "systemctl restart "+x.Name)
	}
	return Snippet{File: file, Lines: lines, Then: again, Undo: append([]string{"rm " + file}, again...)}
}

func unit() Target {
	t := Target{Name: "systemd", on: onThing, forms: serviceKeys(), others: notInUnit}
	t.whole = func(x Thing, c change) Snippet {
		s := dropIn("/etc/systemd/system", ".service", x, append([]string{"[Service]"}, c.lines...), c.live(t.forms))
		s.Check = c.ofUnit(x)
		return s
	}
	return t
}

// inContainer marks lines of Quadlet's section [Container].
const inContainer = "[Container] "

// quadletKeys are those of a unit, except where the setting is the container's: the burst needs the quota in the
// same control group, and the container's processes are no children of the unit's own.
func quadletKeys() map[record.SettingKey]form {
	table := serviceKeys()
	maps.Copy(table, map[record.SettingKey]form{
		record.KeyCPUMax: lines(func(_ Thing, cpus string) []string {
			return []string{inContainer + "PodmanArgs=--cpus=" + cpus, "CPUQuota="}
		}).or(inContainer+"PodmanArgs=--cpus=0", "CPUQuota="),
		record.KeyCPUBurst: flat(inContainer+"PodmanArgs=--cgroup-conf=cpu.max.burst=%s", microseconds),
		record.KeyMemoryMax: lines(func(_ Thing, bytes string) []string {
			return []string{inContainer + "PodmanArgs=--memory=" + bytes + "b", "MemoryMax="}
		}).or(inContainer+"PodmanArgs=--memory=0", "MemoryMax="),
		record.KeySched:   no(noSched),
		record.KeyNetwork: flat(inContainer+"Network=%s", asIs).noting(withoutPorts),
		record.KeyConnect: lines(func(x Thing, _ string) []string {
			return []string{inContainer + "Volume=" + socketVolume(x) + ":" + x.Socket}
		}).noting(shareSocket),
		record.KeyVolume: {add: func(d *document, x Thing, word string) {
			d.lines = append(d.lines, inContainer+"Volume="+onto(d, x, word)+":"+x.Data)
		}, note: copyData},
		record.KeySeccomp: flat(inContainer+"SeccompProfile=%s", asIs),
	})
	return table
}

// isInside says whether Quadlet sets a key on the container, and not on its unit.
func isInside(key record.SettingKey) bool {
	return slices.Contains([]record.SettingKey{
		record.KeyCPUMax, record.KeyCPUBurst, record.KeyMemoryMax, record.KeyNetwork, record.KeyConnect, record.KeyVolume, record.KeySeccomp,
	}, key)
}

// onVersion1 is why Quadlet sets nothing.
func onVersion1(x Thing, _ change) record.Said {
	if x.version1() {
		return needsVersion2
	}
	return record.Said{}
}

func quadlet() Target {
	t := Target{Name: "quadlet", on: onThing, forms: quadletKeys(), others: notInContainer, refuses: onVersion1}
	t.whole = func(x Thing, c change) Snippet {
		var container, service, all []string
		for _, l := range c.lines {
			if own, ok := strings.CutPrefix(l, inContainer); ok {
				container = append(container, own)
			} else {
				service = append(service, l)
			}
		}
		if len(container) > 0 {
			all = append([]string{"[Container]"}, container...)
		}
		if len(service) > 0 {
			all = append(append(all, "[Service]"), service...)
		}
		s := dropIn("/etc/containers/systemd", ".container", x, all, len(container) == 0 && c.live(t.forms))
		s.Notes = []record.Said{quadletDropIns}
		of := func(inside bool) change {
			part := c
			part.apply = slices.DeleteFunc(slices.Clone(c.apply), func(s record.RemedySetting) bool { return isInside(s.Key) != inside })
			return part
		}
		s.Check = append(of(false).ofUnit(x), of(true).inContainer(x, "podman inspect", "systemd-"+x.Name)...)
		return s
	}
	return t
}
