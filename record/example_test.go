package record_test

import (
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tarelab/tare/record"
)

// Throughput of each arm of a result, over all windows that count.
func ExampleScan() {
	r, err := record.Scan("testdata/quick")
	if err != nil {
		log.Fatal(err)
	}
	ops, seconds := map[string]uint64{}, map[string]float64{}
	err = r.Each(func(l *record.Line) {
		if l.Block == nil || l.Block.Workload != "commit" {
			return
		}
		for _, w := range l.Block.Windows {
			if w.Dropped == "" {
				ops[w.Arm] += w.Ops
				seconds[w.Arm] += w.Seconds
			}
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Plan.Experiment, "on", r.Manifest.Host.Name)
	for _, arm := range slices.Sorted(maps.Keys(ops)) {
		fmt.Printf("%-10s %.0f/s\n", arm, float64(ops[arm])/seconds[arm])
	}
	// Output:
	// quick on db1
	// cgroup     787/s
	// container  1014/s
	// host       1242/s
	// namespaces 566/s
	// twin       1096/s
}

// Percentiles of an arm: histograms of windows are added up first, because percentiles have no mean.
func ExampleMerge() {
	r, err := record.Read("testdata/quick")
	if err != nil {
		log.Fatal(err)
	}
	var windows []record.Histogram
	for _, l := range r.Lines {
		if l.Block == nil || l.Block.Workload != "rpc" {
			continue
		}
		for _, w := range l.Block.Windows {
			if w.Arm == "host" && w.Dropped == "" {
				windows = append(windows, w.Latency)
			}
		}
	}
	all := record.Merge(windows...)
	fmt.Printf("%d requests: p50 %.1f µs, p99 %.1f µs\n", all.Total(), all.Quantile(0.5)*1e6, all.Quantile(0.99)*1e6)
	// Output:
	// 13603 requests: p50 24.9 µs, p99 106.1 µs
}

// What the kernel counted in a window. A value that is not known has a reason, and is not zero.
func ExampleValue() {
	r, err := record.Read("testdata/quick")
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		w := l.Block.Windows[0]
		for _, probe := range []string{"cpu.time", "cpu.instructions"} {
			if x, ok := w.Probes[probe].Get(); ok {
				fmt.Printf("%s: %.3g\n", probe, x)
			} else {
				fmt.Printf("%s: unknown, %s\n", probe, w.Probes[probe].Reason())
			}
		}
		return
	}
	// Output:
	// cpu.time: 0.011
	// cpu.instructions: unknown, no_cpu_counters
}

// A record is written line by line; a line is on the disk when Append returns.
func ExampleCreate() {
	parent, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(parent)
	dir := filepath.Join(parent, "result")
	w, err := record.Create(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	plan := record.Plan{Schema: record.PlanSchema, Experiment: "mine", Seed: 1}
	if err := record.WriteJSON(dir, record.PlanFile, plan); err != nil {
		log.Fatal(err)
	}
	began := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	window := record.Window{Arm: "host", Seconds: 0.5, Ops: 1200}
	err = w.Append(
		record.Line{Time: began, Run: &record.Run{Schema: record.RecordSchema, ID: "mine", Seed: plan.Seed}},
		record.Line{Time: began, Block: &record.Block{Workload: "db", Windows: []record.Window{window}}},
		record.Line{Time: began.Add(time.Second), End: &record.End{Reason: "budget"}},
	)
	if err != nil {
		log.Fatal(err)
	}
	r, err := record.Read(dir)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(r.Lines), "lines, the window of", r.Lines[1].Block.Windows[0].Arm, "at", r.Lines[1].Block.Windows[0].Rate(), "operations per second")
	// Output:
	// 3 lines, the window of host at 2400 operations per second
}

// Errors say whether a directory holds no result, a damaged one, or one of a newer tare.
func ExampleRead() {
	_, err := record.Read("testdata")
	switch {
	case errors.Is(err, record.ErrNoRecord):
		fmt.Println("no result:", err)
	case errors.Is(err, record.ErrDamaged), errors.Is(err, record.ErrNewer):
		fmt.Println("not readable:", err)
	}
	// Output:
	// no result: testdata: not a result directory of tare (no plan.json)
}

// The advice of tare advise: why a load lost, and what gave the loss back.
func ExampleReadAdvice() {
	a, err := record.ReadAdvice("testdata")
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range a.Losses {
		fmt.Printf("%s in %s: %.0f %% lost, %s\n", l.Workload, l.Arm, 100*(1-l.Lost.Ratio), l.Standing)
		if l.Remedy != nil {
			does, share := l.Candidates[*l.Remedy].Does[0], l.Proof.Regained
			fmt.Printf("%s: %.0f %% of the loss regained (%.0f to %.0f)\n", does, 100*share.Share, 100*share.Low, 100*share.High)
		}
	}
	// Output:
	// oltp in none: 37 % lost, proved
	// the neighbour runs only on CPU time that nobody else wants: 85 % of the loss regained (76 to 95)
}
