package cause

import (
	"strings"

	"github.com/tarelab/tare/record"
)

// What would tell causes apart, for users.

const moreTime = "a longer run"

// oneAlone names the factors of which arms should differ from the baseline in one alone.
func oneAlone(factors []string) string {
	return "arms that differ from the baseline in one alone: " + strings.Join(factors, ", ")
}

// layersAlone is about an environment.
func layersAlone(environment string) string {
	name, _, _ := strings.Cut(environment, ":")
	return "the layers below " + name + " as arms"
}

// mechanisms names the arms that tell what a neighbour takes.
func mechanisms(causes []record.LossCause) string {
	arm := map[record.LossCause]string{record.LossNeighbourCPU: "cpu.idle", record.LossNeighbourDisk: "io.max", record.LossNeighbourMemory: "memory.high"}
	var names []string
	for _, c := range causes {
		if arm[c] != "" {
			names = append(names, arm[c])
		}
	}
	return "arms with " + strings.Join(names, ", ")
}
