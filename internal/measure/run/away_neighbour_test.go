package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// childrenOf returns the states of a process's children, as in /proc/PID/status.
func childrenOf(pid int) (states []string) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range files {
		text, _ := os.ReadFile(f)
		for child := range strings.FieldsSeq(string(text)) {
			status, err := os.ReadFile("/proc/" + child + "/status")
			if err != nil {
				continue
			}
			states = append(states, regexp.MustCompile(`(?m)^State:\s+(\S)`).FindStringSubmatch(string(status))[1])
		}
	}
	return states
}

// A neighbour on another node works in the windows of its arms and is stopped between them. What it
// did is in the record.
func TestAwayNeighbour(t *testing.T) {
	testneed.Root(t)
	arms, its := &lastStream{}, &lastStream{}
	e := spinExperiment(10 * time.Second)
	e.Generations, e.Window, e.Discard = 1, 100*time.Millisecond, 10*time.Millisecond
	e.Neighbours = []experiment.Neighbour{{Name: "batch", Kind: "command", Params: map[string]string{"command": "sh -c 'while :; do :; done & wait'"}, Environment: "its", Memory: 256 << 20, Pids: 64}}
	e.Named = []experiment.ArmSpec{{Name: "alone", Environment: "base"}, {Name: "busy", Environment: "base", Neighbour: "batch"}}
	e.Workloads[0].Baseline = "alone"
	c := catalog(plan.Rung{Environment: asPod{elsewhere{"base", arms}}}, plan.Rung{Environment: asPod{elsewhere{"its", its}}, On: "base"})
	c.Neighbour = func(string) (workload.Workload, bool) { return workload.CommandNoise{}, true }
	var lock sync.Mutex
	var looked int
	r, out, err := executeShowing(t.Context(), t, e, c, func(now run.Event) {
		if now.Phase != "measure" || now.Block == 0 {
			return
		}
		its.Lock()
		states := childrenOf(its.agent)
		its.Unlock()
		lock.Lock()
		defer lock.Unlock()
		looked += len(states)
		if slices.ContainsFunc(states, func(s string) bool { return s != "T" }) {
			t.Errorf("the neighbour is not stopped between windows: %v", states)
		}
	})
	if err != nil {
		t.Fatalf("run ended by %q: %v", out.Reason, err)
	}
	if looked == 0 {
		t.Error("nobody looked at the neighbour")
	}
	windows := 0
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		for _, w := range l.Block.Windows {
			if w.Arm != "busy" && w.Neighbour != nil {
				t.Errorf("%s has a neighbour: %v", w.Arm, w.Neighbour)
			}
			if w.Dropped != "" { // a busy host has windows in which the load does not answer
				t.Log(w.Dropped, w.Detail)
			}
			if w.Arm == "busy" {
				windows++
			}
		}
	}
	if work := worked(t, r, "busy"); windows == 0 || work <= 0 {
		t.Errorf("%d windows beside it, in which it did %v", windows, work)
	}
	if got := gotten(r, "busy")["neighbour.bounds"]; got != fmt.Sprint(256<<20) {
		t.Errorf("its bounds are %q", got)
	}
}
