package probe

import (
	"math"
	"os"

	"github.com/tarelab/tare/internal/linux/proc"
)

// memory observes the counters of the memory controller for the arm's group: refaults (pages
// read again after reclaim), reclaim itself (version 2 only), and hits of the limit.
type memory struct{}

func (memory) Name() string { return "memory" }

func (memory) Metrics() []Metric {
	return []Metric{
		{Name: "memory.refaulted", Unit: "B", Help: helpMemoryRefaulted},
		{Name: "memory.scanned", Unit: "B", Help: helpMemoryScanned},
		{Name: "memory.reclaimed", Unit: "B", Help: helpMemoryReclaimed},
		{Name: "memory.limit_hits", Unit: "1", Help: helpMemoryLimitHits},
		{Name: "memory.oom_kills", Unit: "1", Help: helpMemoryOOMKills},
		{Name: "memory.used", Unit: "B", Kind: Level, Help: helpMemoryUsed},
	}
}

func (memory) Open(t Target) (Reader, error) {
	of := func(files []string, parse func([]byte, []float64) error, names ...string) source {
		return inGroup(t.Group, "memory", files, parse, names...)
	}
	if dir := t.Group.Dirs["memory"]; dir != "" && exists(dir+"/memory.events") {
		return openFiles(
			of([]string{"memory.stat"}, refaultAndReclaim, "workingset_refault", "pgscan", "pgsteal"),
			of([]string{"memory.events"}, limitEvents, "max", "oom_kill"),
			of([]string{"memory.current"}, single(1), "number"))
	}
	return openFiles(
		of([]string{"memory.stat"}, refaultV1, "workingset_refault"),
		absent(noReclaimInV1, "scanned", "reclaimed"),
		of([]string{"memory.failcnt"}, single(1), "number"),
		of([]string{"memory.oom_control"}, keyed(1, "oom_kill"), "oom_kill"),
		of([]string{"memory.usage_in_bytes"}, single(1), "number"))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// refaultAndReclaim parses memory.stat of version 2, which includes the groups below. Its
// counters are in pages.
func refaultAndReclaim(text []byte, dst []float64) error {
	var v [5]float64
	proc.Keyed(text, []string{"workingset_refault_anon", "workingset_refault_file", "workingset_refault", "pgscan", "pgsteal"}, v[:])
	page := float64(os.Getpagesize())
	dst[0], dst[1], dst[2] = refaults(v[0], v[1], v[2])*page, v[3]*page, v[4]*page
	return nil
}

// refaultV1 parses memory.stat of version 1, of which the total_ lines include the groups
// below.
func refaultV1(text []byte, dst []float64) error {
	var v [3]float64
	proc.Keyed(text, []string{"total_workingset_refault_anon", "total_workingset_refault_file", "total_workingset_refault"}, v[:])
	dst[0] = refaults(v[0], v[1], v[2]) * float64(os.Getpagesize())
	return nil
}

// refaults adds refaults of anonymous and file pages; before Linux 5.9 there was one number for
// both.
func refaults(anon, file, both float64) float64 {
	if math.IsNaN(anon) && math.IsNaN(file) {
		return both
	}
	return anon + file
}

func limitEvents(text []byte, dst []float64) error {
	var v [3]float64
	proc.Keyed(text, []string{"high", "max", "oom_kill"}, v[:])
	dst[0], dst[1] = v[0]+v[1], v[2]
	return nil
}
