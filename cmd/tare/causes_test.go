package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/linux/seccomp"
	"github.com/tarelab/tare/internal/testing/enginetest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// plant is a cause that is planted in arm b and not in arm a. b has a setting that costs nothing too, so
// that a cause by design alone is not enough.
type plant struct {
	name string
	// neighbour, a, b and load are of the experiment.
	neighbour, a, b, load string
	// causes count as right, remedies as the right first one; empty: no remedy is right. Without causes
	// nothing is planted.
	causes   []record.LossCause
	remedies []string
	// before prepares the host; nil: nothing.
	before func(*testing.T)
}

const (
	hogs    = "{kind: spin, params: {threads: 4}}"
	syncs   = "{kind: commit, params: {threads: 8, group: 'off'}}"
	ampleMB = "memory: 4GiB" // costs nothing
)

// plants are the twelve, with what counts as right, written down before any of them ran.
var plants = []plant{
	{
		name: "quota", a: "environment: cgroup", b: "environment: cgroup, cpus: 0.5", load: "kind: oltp",
		causes: []record.LossCause{record.LossCPULimit}, remedies: []string{"no-cpu-limit", "whole-cpus", "pinned"},
	},
	{
		name: "hog in a group", a: "environment: cgroup", b: "environment: cgroup, neighbour: n", load: "kind: oltp", neighbour: hogs,
		causes:   []record.LossCause{record.LossNeighbourCPU},
		remedies: []string{"cpu-idle", "cpu-weight", "cpu-quota", "cpu-burst", "cpu-split", "qos-level"},
	},
	{
		name: "hog in the root group", a: "environment: ungrouped", b: "environment: ungrouped, neighbour: n", load: "kind: oltp", neighbour: hogs,
		causes:   []record.LossCause{record.LossNeighbourCPU},
		remedies: []string{"sched-idle", "cpu-split", "cpu-idle", "cpu-weight", "cpu-quota", "cpu-burst"},
	},
	{
		name: "slow volume", a: "environment: cgroup, volume: bind", b: "environment: cgroup, volume: 'loop:btrfs'", load: "kind: commit",
		causes: []record.LossCause{record.LossVolume}, remedies: []string{"bind", "file-system"},
	},
	{
		name: "small buffer pool", a: "environment: cgroup", b: "environment: cgroup, set: {buffer_pool: 5M}", load: "kind: sysbench, params: {tables: 2, size: 50000}",
		causes: []record.LossCause{record.LossServer}, remedies: []string{"buffer-pool"},
	},
	{
		name: "200 seccomp rules", a: "environment: docker, seccomp: unconfined", b: "environment: docker, seccomp: default", load: "kind: oltp",
		causes: []record.LossCause{record.LossSeccomp}, remedies: []string{"seccomp-off"}, before: rules,
	},
	{
		name: "published port", a: "environment: container, network: bridge", b: "environment: container, network: published", load: "kind: rpc",
		causes: []record.LossCause{record.LossNAT}, remedies: []string{"own-address", "host-network"},
	},
	{
		name: "1.5 CPUs for four threads", a: "environment: cgroup", b: "environment: cgroup, cpus: 1.5", load: "kind: spin, params: {threads: 4}",
		causes: []record.LossCause{record.LossCPULimit}, remedies: []string{"no-cpu-limit", "whole-cpus", "pinned"},
	},
	{
		name: "neighbour that syncs", a: "environment: cgroup, volume: bind", b: "environment: cgroup, volume: bind, neighbour: n", load: "kind: commit", neighbour: syncs,
		causes: []record.LossCause{record.LossNeighbourDisk}, remedies: []string{"io-max", "io-weight", "io-requests"},
	},
	{
		name: "memory limit", a: "environment: cgroup, volume: bind", b: "environment: cgroup, volume: bind, memory: 24MiB", load: "kind: oltp, params: {rows: 500000}",
		causes: []record.LossCause{record.LossMemoryLimit}, remedies: []string{"memory-doubled", "no-memory-limit"},
	},
	{
		name: "slower by itself", a: "environment: cgroup", b: "environment: cgroup, set: {work: 1.5}", load: "kind: spin",
		causes: []record.LossCause{record.LossServer},
	},
	{name: "nothing", a: "environment: cgroup", b: "environment: cgroup", load: "kind: spin"},
}
