package cli

import (
	"cmp"
	"strings"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/measure/run"
)

// Phases of run.Event.
const (
	phasePrepare = "prepare"
	phaseLaunch  = "launch"
	phaseMeasure = "measure" // effects are known
)

// loadingText is where a dump is being loaded; "" if none is, or not for long.
func loadingText(e run.Event, in messages.Catalog) string {
	if e.Loading == "" {
		return ""
	}
	return in.Text("progress.loading", "at", e.Loading)
}

// phaseText describes the phase of a run: launch, arm or block.
func phaseText(e run.Event, in messages.Catalog) string {
	launch := in.Text("progress.launch", "n", e.Generation+1)
	var parts []string
	switch e.Phase {
	case phasePrepare:
		parts = []string{cmp.Or(loadingText(e, in), in.Text("progress.prepare"))}
	case phaseLaunch:
		parts = []string{launch, startText(e, in)}
	case "pilot":
		parts = []string{launch, strings.TrimSpace(in.Text("progress.pilot", "arm", e.Arm))}
	case "check":
		parts = []string{launch, in.Text("progress.checking")}
	case phaseMeasure:
		parts = []string{launch, in.Text("progress.block", "n", min(e.Block+1, e.Blocks), "of", e.Blocks)}
	case "done":
		parts = []string{in.Text("progress.finished")}
	default:
		parts = []string{e.Phase}
	}
	if e.Dropped > 0 {
		parts = append(parts, in.Text("progress.dropped", "n", e.Dropped))
	}
	return in.JoinAll("join.comma", parts...)
}

// startText says what a launch starts.
func startText(e run.Event, in messages.Catalog) string {
	switch {
	case e.Starting > 1:
		return in.Text("progress.ready", "n", e.Ready, "of", e.Starting)
	case e.Arm == "":
		return in.Text("progress.starting")
	}
	return in.Text("progress.start", "arm", e.Arm)
}
