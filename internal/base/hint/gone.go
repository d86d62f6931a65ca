package hint

import "strings"

// gone has words that only earlier versions took, with their replacements.
var gone = map[string]string{
	"rbd-fuse":          "tare starts no rbd-fuse: name rbd:POOL/IMAGE, or dir:/PATH where the image's file system is mounted",
	"count":             "sysbench's events are counted by its hook (docs/databases.md has what that costs): leave count out",
	"hostport":          "tare publishes no port of a pod on the node: network=service, host or pod",
	"resctrl.bandwidth": resctrl,
	"resctrl.cache":     resctrl,
	"selinux":           "tare sets no SELinux labels: set the label in the engine's configuration (docs/engines.md)",
}

const resctrl = "tare makes no classes of resctrl: memory.high bounds what a neighbour keeps in memory, cpu.idle when it runs"

// replacement returns what replaces a word of earlier versions, which may have a level behind it;
// empty if there never was such a word.
func replacement(word string) string {
	if at := strings.IndexAny(word, ":="); at >= 0 {
		word = word[:at]
	}
	return gone[word]
}
