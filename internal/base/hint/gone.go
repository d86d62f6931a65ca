package hint

import "strings"

// removed has words that only earlier versions accepted, with the hint about each.
var removed = map[string]string{
	"rbd-fuse":          "tare starts no rbd-fuse: name rbd:POOL/IMAGE, or dir:/PATH where the image's file system is mounted",
	"count":             "sysbench's events are counted by its hook (docs/databases.md has what that costs): leave count out",
	"hostport":          "tare publishes no port of a pod on the node: network=service, host or pod",
	"resctrl.bandwidth": resctrl,
	"resctrl.cache":     resctrl,
	"selinux":           "tare sets no SELinux labels: set the label in the engine's configuration (docs/container.md)",
}

const resctrl = "tare makes no classes of resctrl: memory.high bounds what a neighbour keeps in memory, cpu.idle when it runs"

// replacement returns the hint about a word of earlier versions, which may be followed by levels or a
// value; empty if no earlier version had the word.
func replacement(word string) string {
	if at := strings.IndexAny(word, ":="); at >= 0 {
		word = word[:at]
	}
	return removed[word]
}
