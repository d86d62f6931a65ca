package handover

import (
	"slices"
	"strings"

	"github.com/tarelab/tare/record"
)

// groupFiles are the files of a control group with what a key sets: of version 2, and of version 1 below its controller.
func groupFiles() map[record.SettingKey][2]string {
	cpuMax, memoryMax := [2]string{"cpu.max", "cpu/cpu.cfs_quota_us"}, [2]string{"memory.max", "memory/memory.limit_in_bytes"}
	weight := [2]string{"cpu.weight", "cpu/cpu.shares"}
	return map[record.SettingKey][2]string{
		record.KeyCPUIdle: {"cpu.idle", "cpu/cpu.idle"}, record.KeyCPUWeight: weight, record.KeyCPUMax: cpuMax,
		record.KeyCPUBurst: {"cpu.max.burst", "cpu/cpu.cfs_burst_us"}, record.KeyCPUSet: {"cpuset.cpus", "cpuset/cpuset.cpus"},
		record.KeyMemoryMax: memoryMax, record.KeyMemoryHigh: {"memory.high", "memory/memory.high"},
		record.KeyIOWeight: {"io.bfq.weight", "blkio/blkio.bfq.weight"}, record.KeyIOBytes: {"io.max", "blkio/blkio.throttle.write_bps_device"},
		record.KeyPodCPULimit: cpuMax, record.KeyPodCPURequest: weight, record.KeyPodMemoryLimit: memoryMax,
	}
}

// version1 reports whether the controllers of the host are of version 1.
func (x Thing) version1() bool { return x.Cgroup == "v1" || x.Cgroup == "hybrid" }

// file is the path of what a key sets in a control group, which is empty for that of the reader; false: there is none.
func (x Thing) file(key record.SettingKey, group string) (string, bool) {
	const root = "/sys/fs/cgroup"
	names, ok := groupFiles()[key]
	if !x.version1() {
		return root + group + "/" + names[0], ok
	}
	controller, name, _ := strings.Cut(names[1], "/")
	return root + "/" + controller + group + "/" + name, ok
}

// reads are commands for each of the keys, each once: cat of the file in a group, else another one.
func (c change) reads(x Thing, group string, cat func(file string) string, other func(record.SettingKey) string) (out []string) {
	for _, s := range c.apply {
		command := other(s.Key)
		if file, ok := x.file(s.Key, group); ok {
			command = cat(file)
		}
		if command != "" && !slices.Contains(out, command) {
			out = append(out, command)
		}
	}
	return out
}

// inContainer are the commands that print what a container has. inspect is the engine's command for that.
func (c change) inContainer(x Thing, inspect, container string) []string {
	fields := map[record.SettingKey]string{
		record.KeyNetwork: ".HostConfig.NetworkMode", record.KeySeccomp: ".HostConfig.SecurityOpt", record.KeyVolume: ".Mounts", record.KeyConnect: ".Mounts",
	}
	cat := func(file string) string {
		return "cat /proc/$(" + inspect + " --format '{{.State.Pid}}' " + container + ")/root" + file
	}
	return c.reads(x, "", cat, func(key record.SettingKey) string {
		return inspect + " --format '{{" + fields[key] + "}}' " + container
	})
}

// ofUnit are the commands that print what a unit has.
func (c change) ofUnit(x Thing) []string {
	show := func(property string) string {
		return "$(systemctl show --value --property=" + property + " " + x.Name + ")"
	}
	return c.reads(x, show("ControlGroup"), func(file string) string { return "cat " + file }, func(key record.SettingKey) string {
		if key == record.KeySched {
			return "chrt --pid " + show("MainPID")
		}
		return "grep ^Seccomp: /proc/" + show("MainPID") + "/status"
	})
}

// ofPods are the commands that print what the pods of a workload have.
func (c change) ofPods(x Thing, workload string) []string {
	cat := func(file string) string {
		return "kubectl exec " + workload + " --container " + x.Name + " -- cat " + file
	}
	return c.reads(x, "", cat, func(record.SettingKey) string {
		return "kubectl get " + workload + " --output jsonpath='{.spec.template.spec}'"
	})
}
