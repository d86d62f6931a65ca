package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// defaults are the settings of a new group of version 2, by controller and file.
var defaults = map[string]map[string]string{
	cpusetName: {"cpuset.cpus": "", "cpuset.mems": "", "cpuset.cpus.partition": "member"},
	"cpu":      {"cpu.weight": "100", "cpu.max": "max 100000", "cpu.max.burst": "0", "cpu.idle": "0"},
	"io":       {"io.weight": "default 100", "io.max": "", "io.latency": ""},
	"memory": {
		"memory.min": "0", "memory.low": "0", "memory.high": "max", "memory.max": "max",
		"memory.swap.high": "max", "memory.swap.max": "max", "memory.zswap.max": "max", "memory.oom.group": "0",
	},
	"pids": {"pids.max": "max"},
}

// inUse says whether a child of base that is not tare's has a setting of a controller that
// differs from a new group's. Disabling the controller would lose the setting; the kernel
// refuses that only if a child enables the controller for its own children.
func inUse(base, controller string) bool {
	children, _ := os.ReadDir(base) // after an error there is nothing to lose
	return slices.ContainsFunc(children, func(e os.DirEntry) bool {
		return e.IsDir() && !strings.HasPrefix(e.Name(), Prefix) && isSet(filepath.Join(base, e.Name()), controller)
	})
}

func isSet(dir, controller string) bool {
	for name, value := range defaults[controller] {
		if now, err := readFile(filepath.Join(dir, name)); err == nil && now != value {
			return true
		}
	}
	return false
}
