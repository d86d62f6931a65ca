package kubefio

import (
	"strings"

	"github.com/tarelab/tare/record"
)

// All sentences of this package for users. The code that reads has none of its own (tools/sentences).

// Versions that are read.
const (
	dbenchVersions = "2018 and later"
	kbenchVersions = "2021 and later"
)

// Names of loads.
const (
	randomLatency       = "random, latency"
	randomIOPS          = "random, IOPS"
	randomBandwidth     = "random, bandwidth"
	mixedRandomIOPS     = "mixed random, IOPS"
	sequentialBandwidth = "sequential, bandwidth"
)

// loadOf names a load of kbench by its row and its section.
func loadOf(row, section string) string {
	return strings.ToLower(row) + ", " + strings.Replace(section, "iops", "IOPS", 1)
}

// Names of settings.
const (
	quickMode  = "quick mode"
	volumeSize = "size of the volume"
)

// The warning about a line without figures, and its remedy.
var (
	noFigures = record.Say("summary_line_empty")
	lookAbove = record.Say("look_above")
)
