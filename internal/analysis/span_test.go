package analysis

import (
	"math"
	"testing"
	"time"

	"github.com/tarelab/tare/record"
)

// blocksAt returns blocks of one second each in one launch.
func blocksAt(workload string, generation int, from float64, blocks int) (lines []record.Line) {
	for n := range blocks {
		at := from + float64(n)
		lines = append(lines, record.Line{Block: &record.Block{Workload: workload, Generation: generation, Number: n, Windows: []record.Window{
			{Arm: "host", Start: at, Seconds: 0.5, Ops: 100}, {Arm: "container", Start: at + 0.5, Seconds: 0.5, Ops: 90},
		}}})
	}
	return lines
}

func started(workload string, generation int, seconds float64) record.Line {
	return record.Line{Generation: &record.Generation{Workload: workload, Number: generation, Seconds: seconds}}
}

// The time of a load in several passes is the sum over its launches, without the time of other
// loads between them. A continued run counts from its own start.
func TestSpanOfPasses(t *testing.T) {
	load := record.Workload{Name: "a", Baseline: "host", Arms: []record.Arm{{Name: "host"}, {Name: "container"}}}
	var lines []record.Line
	add := func(l ...record.Line) { lines = append(lines, l...) }
	add(record.Line{Run: &record.Run{}}, started("a", 1, 2), record.Line{Pilot: &record.Pilot{Workload: "a", Window: 0.5}})
	add(blocksAt("a", 1, 10, 4)...)
	add(started("b", 1, 2))
	add(blocksAt("b", 1, 20, 50)...)
	add(started("a", 2, 3))
	add(blocksAt("a", 2, 80, 4)...)
	if got := tabulate(load, 0, lines).seconds; got != 2+4+3+4 {
		t.Errorf("%v s in two passes, want 13", got)
	}
	add(record.Line{Run: &record.Run{}}, started("a", 1, 1))
	add(blocksAt("a", 1, 5, 4)...)
	if got := tabulate(load, 0, lines).seconds; got != 13+1+4 {
		t.Errorf("%v s with the run that continues it, want 18", got)
	}
}

// The time between a run and the run that continues it a day later is none of the result's.
func TestSecondsOfAContinuedRun(t *testing.T) {
	result := func() *record.Result { return world{seed: 3, generations: 4, blocks: 5, windowSD: 0.01}.result() }
	once, err := Analyse(result())
	if err != nil {
		t.Fatal(err)
	}
	twice, next := result(), result()
	for i := range next.Lines {
		next.Lines[i].Time = next.Lines[i].Time.Add(24 * time.Hour)
	}
	twice.Lines = append(twice.Lines, next.Lines...)
	both, err := Analyse(twice)
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * once.Seconds; math.Abs(both.Seconds-want) > 1e-6 || once.Seconds <= 0 {
		t.Errorf("%v s, want twice %v s", both.Seconds, once.Seconds)
	}
}
