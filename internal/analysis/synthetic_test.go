package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/tarelab/tare/record"
)

// world makes records with known effects: every arm has a true log effect on the rate. There is
// noise of launches (launchSD), noise that all windows of a block share, and noise of windows.
type world struct {
	seed        uint64
	generations int
	blocks      int
	effects     map[string]float64 // log ratio over the host
	launchSD    float64
	windowSD    float64
	sharedSD    float64
	cpuSD       float64 // of the CPU time per operation of a window, as a log ratio
	stallEvery  int     // every n-th window of the arm "stall" loses stallBy
	stallBy     float64 // share
	drop        func(generation, block int) string
	ramp        float64 // log ratio of first to second half, of every arm
	ownRamp     float64 // and what it is beyond that in the container
	opaque      float64 // log ratio of rotated to steady rate
	light       bool    // no latencies
}

var armNames = []string{"host", "twin", "cgroup", "namespaces", "rootfs", "container"}

func (w world) plan() record.Plan {
	load := record.Workload{
		Name: "oltp", Kind: "oltp", Primary: "throughput", Baseline: "host",
		Metrics: []string{"throughput", "p50", "p95", "p99", "cpu_per_op"},
	}
	last := ""
	for _, n := range armNames {
		a := record.Arm{Name: n, Environment: n, Twin: n == "twin", Step: last, Remainder: n == "container"}
		if n == "twin" {
			a.Step = ""
		} else {
			last = n
		}
		load.Arms = append(load.Arms, a)
	}
	return record.Plan{Schema: record.PlanSchema, Experiment: "synthetic", Seed: w.seed, Margin: 0.01, Precision: 0.01,
		Workloads: []record.Workload{load}}
}

func (w world) result() *record.Result {
	rng := rand.New(rand.NewPCG(w.seed, 1))
	r := &record.Result{Dir: "synthetic", Plan: w.plan(), Manifest: record.Manifest{Schema: record.ManifestSchema}}
	at, clock := 0.0, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	add := func(l record.Line) {
		l.Time = clock.Add(time.Duration(at * 1e9))
		r.Lines = append(r.Lines, l)
	}
	add(record.Line{Run: &record.Run{Schema: record.RecordSchema, Seed: w.seed}})
	add(record.Line{Pilot: &record.Pilot{Workload: "oltp", Window: 0.2, Discard: 0.02, Pause: "freezer v2"}})
	for g := range w.generations {
		launch := map[string]float64{}
		for _, a := range armNames {
			launch[a] = w.launchSD * rng.NormFloat64()
		}
		for b := range w.blocks {
			shared := w.sharedSD * rng.NormFloat64()
			block := &record.Block{Workload: "oltp", Generation: g, Number: b}
			for _, i := range rng.Perm(len(armNames)) {
				a := armNames[i]
				rate := 10000 * math.Exp(w.effects[a]+launch[a]+shared+w.windowSD*rng.NormFloat64())
				if a == "container" && w.stallEvery > 0 && rng.IntN(w.stallEvery) == 0 {
					rate *= 1 - w.stallBy
				}
				block.Windows = append(block.Windows, w.window(rng, a, at, rate))
				at += 0.22
			}
			if w.drop != nil {
				block.Windows[len(block.Windows)-1].Dropped = w.drop(g, b)
			}
			add(record.Line{Block: block})
			if b == 0 {
				add(record.Line{Check: &record.Check{Workload: "oltp", Generation: g, Kind: "transparency",
					Rotated: 10000 * math.Exp(w.opaque+0.003*rng.NormFloat64()), Steady: 10000}})
			}
		}
	}
	add(record.Line{End: &record.End{Reason: "budget"}})
	return r
}

// window has latencies in proportion to 1/rate and a CPU cost of 100 us.
func (w world) window(rng *rand.Rand, arm string, at, rate float64) record.Window {
	out := record.Window{Arm: arm, Start: at, Seconds: 0.2, Ops: uint64(rate*0.2 + 0.5), FirstSeconds: 0.1,
		Probes: map[string]record.Value{cpuMetric: record.Number(rate * 0.2 * 100e-6)}}
	if w.cpuSD > 0 {
		out.Probes[cpuMetric] = record.Number(rate * 0.2 * 100e-6 * math.Exp(w.cpuSD*rng.NormFloat64()))
	}
	ramp := w.ramp
	if arm == "container" {
		ramp += w.ownRamp
	}
	out.First = uint64(rate * 0.1 * math.Exp(ramp))
	if w.light {
		return out
	}
	counts := map[int]uint64{}
	for range 2000 {
		counts[record.Bucket(int64(4e9/rate*(0.5+rng.ExpFloat64())))]++
	}
	out.Latency = fromCounts(counts)
	return out
}

func fromCounts(counts map[int]uint64) record.Histogram {
	var h record.Histogram
	for b := range record.Buckets {
		if n := counts[b]; n > 0 {
			h.Index, h.Count = append(h.Index, uint32(b)), append(h.Count, n)
		}
	}
	return h
}

func find(effects []record.Effect, metric, arm string) record.Effect {
	for _, e := range effects {
		if e.Metric == metric && e.Arm == arm {
			return e
		}
	}
	panic(fmt.Sprintf("no effect of %s on %s", arm, metric))
}
