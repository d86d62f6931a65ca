package main

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/record"
)

// made is a result directory that a script asks for.
type made struct {
	id, end, host, kernel, version, size string
	loss, slower, noise                  float64        // of the container: throughput lost, latency gained; scatter of a window
	launches, blocks, dropped            int            // blocks per launch, and in how many of them the container's window was dropped
	limits                               []record.Limit // of the plan
}

// result DIR NAME=VALUE...: writes a result directory of two arms, host and container, with known
// effects; see made. end=killed leaves out the last line, end=torn cuts it, end=broken breaks a
// line in the middle.
func result(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: result DIR NAME=VALUE...")
	}
	m := made{id: "k3m5p7r9", end: "budget", host: "db7", kernel: "6.12.0", version: "1.0", size: "1KiB",
		loss: 0.03, slower: 0.04, noise: 0.005, launches: 6, blocks: 5}
	for _, a := range args[1:] {
		name, value, _ := strings.Cut(a, "=")
		number := func() float64 {
			x, err := strconv.ParseFloat(value, 64)
			ts.Check(err)
			return x
		}
		switch name {
		case "id":
			m.id = value
		case "end":
			m.end = value
		case "host":
			m.host = value
		case "kernel":
			m.kernel = value
		case "tare":
			m.version = value
		case "size":
			m.size = value
		case "loss":
			m.loss = number()
		case "slower":
			m.slower = number()
		case "noise":
			m.noise = number()
		case "launches":
			m.launches = int(number())
		case "limit":
			metric, size, _ := strings.Cut(value, "=")
			l, err := experiment.Words{}.ParseLimit(metric, size)
			ts.Check(err)
			m.limits = append(m.limits, l)
		case "dropped":
			m.dropped = int(number())
		default:
			ts.Fatalf("no %s of a result", name)
		}
	}
	ts.Check(m.write(ts.MkAbs(args[0])))
}

var began = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

func (m made) write(dir string) error {
	w, err := record.Create(dir)
	if err != nil {
		return err
	}
	lines := append([]record.Line{{Time: began, Run: &record.Run{Schema: record.RecordSchema, ID: m.id, Seed: 7}}}, m.lines()...)
	if m.end == "budget" {
		last := lines[len(lines)-1].Time
		lines = append(lines, record.Line{Time: last, End: &record.End{Reason: m.end}})
	}
	err = errors.Join(record.WriteJSON(dir, record.PlanFile, m.plan()), record.WriteJSON(dir, record.ManifestFile, m.manifest()),
		w.Append(lines...), w.Close())
	if err != nil {
		return err
	}
	return m.damage(filepath.Join(dir, record.RecordFile))
}

// damage damages a record as the value of end says.
func (m made) damage(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	switch m.end {
	case "torn":
		return os.WriteFile(path, b[:len(b)-40], 0o644)
	case "broken":
		lines := strings.SplitAfter(string(b), "\n")
		lines[2] = "{\"block\":[\n"
		return os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644)
	}
	return nil
}

func (m made) plan() record.Plan {
	return record.Plan{
		Schema: record.PlanSchema, Experiment: "made", Source: "name: made\nvolume: layer\n", Command: []string{"tare", "run", "made"},
		Seed: 7, Budget: 60, Precision: 0.01, Margin: 0.01, Limits: m.limits,
		Workloads: []record.Workload{{
			Name: "db", Kind: "commit", Params: map[string]string{"size": m.size}, Primary: "throughput",
			Metrics: []string{"throughput", "p50", "cpu_per_op"}, Baseline: "host",
			Arms: []record.Arm{
				{Name: "host", Environment: "host", Title: record.Say("arm_host")},
				{Name: "twin", Environment: "host", Title: record.Say("arm_again", "arm", "host"), Twin: true},
				{Name: "container", Environment: "container", Title: record.Say("arm_container"), Step: "host"},
			},
		}},
	}
}

func (m made) manifest() record.Manifest {
	return record.Manifest{
		Schema: record.ManifestSchema, Started: began, Tare: m.version, User: "root",
		Host: record.Host{Name: m.host, Kernel: m.kernel, Arch: "amd64", CPUModel: "a processor", CPUs: 2, Memory: 8 << 30, Cgroup: "v2"},
		Left: []record.Left{{Workload: "db", Arm: "nat", Reason: record.InProse("no nftables on this host"), Remedy: record.InProse("install nftables")}},
	}
}

func (m made) lines() []record.Line {
	rng := rand.New(rand.NewPCG(2026, uint64(m.id[0])))
	at := 0.0
	var out []record.Line
	line := func(l record.Line) {
		l.Time = began.Add(time.Duration(at * float64(time.Second)))
		out = append(out, l)
	}
	for g := range m.launches {
		line(record.Line{Generation: &record.Generation{Workload: "db", Number: g, Seconds: 0.5}})
		for b := range m.blocks {
			block := record.Block{Workload: "db", Generation: g, Number: b}
			for _, arm := range []string{"host", "twin", "container"} {
				at += 0.5
				rate, latency := 10000.0, 1.0
				if arm == "container" {
					rate, latency = rate*(1-m.loss), latency*(1+m.slower)
				}
				scatter := math.Exp(m.noise * rng.NormFloat64())
				block.Windows = append(block.Windows, window(arm, at, rate*scatter, latency*math.Exp(m.noise*rng.NormFloat64())))
			}
			if b < m.dropped {
				last := &block.Windows[len(block.Windows)-1]
				for i := range block.Windows {
					if block.Windows[i].Arm == "container" {
						last = &block.Windows[i]
					}
				}
				last.Dropped, last.Detail = record.DropError, "1 errors"
			}
			line(record.Line{Block: &block})
		}
	}
	return out
}

// window is half a second of an arm at this rate, with latencies of about 100 µs times the factor.
func window(arm string, start, rate, latency float64) record.Window {
	ops := uint64(rate / 2)
	w := record.Window{Arm: arm, Start: start, Seconds: 0.5, Ops: ops, First: ops / 2, FirstSeconds: 0.25,
		Probes: map[string]record.Value{"cpu.time": record.Number(0.4)}}
	each := make([]record.Histogram, 40)
	for i := range each {
		ns := int64(latency * (80e3 + 1e3*float64(i)))
		each[i] = record.Histogram{Index: []uint32{uint32(record.Bucket(ns))}, Count: []uint64{ops / 40}}
	}
	w.Latency = record.Merge(each...)
	return w
}
