package workload

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// Neighbours that are programs. tare measures their work from outside, by the CPU time or the disk
// operations of their control group.

// Measures of a neighbour's work.
var (
	cpuWork     = Metric{Name: record.NeighbourCPU, Unit: "CPUs", Better: +1}
	ioWork      = Metric{Name: record.NeighbourIO, Unit: "B/s", Better: +1}
	requestWork = Metric{Name: record.NeighbourRequests, Unit: "1/s", Better: +1}
)

// fileMiB is the size in MiB of the file that each writing process overwrites; the tools' default is
// 1 GiB.
const fileMiB = 64

// runs is the stages of a program that runs until it is killed.
func runs(args []string, tool Tool, work Metric) Stages {
	return Stages{
		Threads: 1,
		Load:    func(wire.Place) Task { return LoadTask(load.KindProgram, load.Program{Args: args}) },
		Metrics: []Metric{cpuPerOp},
		Tools:   []Tool{tool}, Executes: args[:1],
		Work: work,
	}
}

// StressNG is stress-ng.
type StressNG struct{}

func (StressNG) Name() string { return "stress-ng" }

func (StressNG) Title() record.Said { return record.Say("noise_stress_ng") }

// stressors are stress-ng's names of kinds of noise with the measure of their work: bytes for hdd,
// CPU time for the others. stress-ng prints its own count only at its end.
var stressors = map[string]Metric{
	"cpu": cpuWork, "matrix": cpuWork, "cache": cpuWork, "stream": cpuWork, "memrate": cpuWork, "vm": cpuWork,
	"switch": cpuWork, "fork": cpuWork, "syscall": cpuWork, "sock": cpuWork, "udp": cpuWork, "io": cpuWork, "hdd": ioWork,
}

var stressorNames = []string{"cpu", "matrix", "cache", "stream", "memrate", "vm", "switch", "fork", "syscall", "sock", "udp", "io", "hdd"}

func (StressNG) Params() []Param {
	return []Param{
		Choice("stressor", "cpu", "kind of noise, stress-ng's own word", stressorNames...),
		{Name: "workers", Default: "4", Check: Whole(1, 1024), Help: "processes that make it"},
		{Name: "options", Default: None, Text: true, Check: checkWords,
			Help: "options passed on to stress-ng, such as --vm-bytes 64M"},
	}
}

func (StressNG) Stages(v Values) (Stages, error) {
	r := Reader{Values: v}
	workers, options := r.Whole("workers"), r.words("options")
	if r.Err != nil {
		return Stages{}, fmt.Errorf("stress-ng: %w", r.Err)
	}
	args := []string{"stress-ng", "--" + v["stressor"], strconv.Itoa(workers), "--timeout", "0", "--temp-path", ".", "--oomable", "--quiet"}
	args = append(args, modest(v["stressor"], workers)...)
	s := runs(append(args, options...), Tool{"stress-ng", "stress-ng"}, stressors[v["stressor"]])
	if v["stressor"] == "hdd" {
		s.Grows = int64(workers) * fileMiB << 20
	}
	return s, nil
}

// modest are options for less memory or disk, where stress-ng's default exceeds a neighbour's
// limits. The user's options come later and prevail.
func modest(stressor string, workers int) []string {
	each := func(mib int) string { return strconv.Itoa(max(mib/workers, 1)) + "M" }
	switch stressor {
	case "vm": // stress-ng divides it between the workers
		return []string{"--vm-bytes", "128M"}
	case "memrate":
		return []string{"--memrate-bytes", each(128)}
	case "stream": // three arrays of this
		return []string{"--stream-l3-size", each(40)}
	case "hdd":
		return []string{"--hdd-bytes", strconv.Itoa(fileMiB) + "M"}
	}
	return nil
}

// Stress is the program stress, as in the published study of ClickHouse.
type Stress struct{}

func (Stress) Name() string { return "stress" }

func (Stress) Title() record.Said { return record.Say("noise_stress") }

func (Stress) Params() []Param {
	return []Param{
		{Name: "cpu", Default: "4", Check: Whole(0, 1024), Help: "processes that calculate"},
		{Name: "vm", Default: "0", Check: Whole(0, 1024), Help: "processes that take and give back memory"},
		{Name: "vm_bytes", Default: "64MiB", Check: Size(1<<20, 64<<30), Help: "memory that each of those takes"},
		{Name: "io", Default: "0", Check: Whole(0, 1024), Help: "processes that sync"},
		{Name: "hdd", Default: "0", Check: Whole(0, 1024), Help: "processes that write files"},
	}
}

func (Stress) Stages(v Values) (Stages, error) {
	args := []string{"stress", "--quiet"}
	for _, kind := range []string{"cpu", "vm", "io", "hdd"} {
		if v[kind] != "0" {
			args = append(args, "--"+kind, v[kind])
		}
	}
	if len(args) == 2 {
		return Stages{}, errors.New("stress: every kind of noise is 0")
	}
	r := Reader{Values: v}
	if v["vm"] != "0" {
		args = append(args, "--vm-bytes", strconv.FormatInt(r.Size("vm_bytes"), 10))
	}
	writers := r.Whole("hdd")
	if writers > 0 {
		args = append(args, "--hdd-bytes", strconv.Itoa(fileMiB)+"M")
	}
	if r.Err != nil {
		return Stages{}, fmt.Errorf("stress: %w", r.Err)
	}
	s := runs(args, Tool{"stress", "stress"}, cpuWork)
	s.Grows = int64(writers) * fileMiB << 20
	return s, nil
}

// DiskNoise is fio that reads or writes its own file without end.
type DiskNoise struct{}

func (DiskNoise) Name() string { return "fio" }

func (DiskNoise) Title() record.Said { return record.Say("noise_disk") }

var fioWays = []string{"read", "write", "rw", "randread", "randwrite", "randrw"}

func (DiskNoise) Params() []Param {
	return []Param{
		Choice("rw", "randread", "what it does", fioWays...),
		{Name: "bs", Default: "4KiB", Check: Size(512, 64<<20), Help: "size of a request"},
		{Name: "size", Default: "256MiB", Check: Size(1<<20, 1<<40), Help: "size of the file"},
		{Name: "iodepth", Default: "16", Check: Whole(1, 4096), Help: "requests at the same time"},
		OnOff("direct", "on", "on: past the page cache"),
	}
}

func (DiskNoise) Stages(v Values) (Stages, error) {
	r := Reader{Values: v}
	bytes, file, depth := r.Size("bs"), r.Size("size"), r.Whole("iodepth")
	if r.Err != nil {
		return Stages{}, fmt.Errorf("fio: %w", r.Err)
	}
	direct := 0
	if v["direct"] == "on" {
		direct = 1
	}
	args := strings.Fields(fmt.Sprintf(
		"fio --name=noise --directory=. --rw=%s --bs=%d --size=%d --ioengine=libaio --iodepth=%d --direct=%d --time_based --runtime=30d --minimal --output=/dev/null",
		v["rw"], bytes, file, depth, direct))
	s := runs(args, Tool{"fio", "fio"}, requestWork)
	s.Grows = file
	return s, nil
}

// CommandNoise executes a command over and over without a pause.
type CommandNoise struct{}

func (CommandNoise) Name() string { return "command" }

func (CommandNoise) Title() record.Said { return record.Say("noise_command") }

func (CommandNoise) Params() []Param {
	return []Param{
		{Name: "command", Default: "true", Text: true, Check: checkCommand, Help: "the program and its arguments, split as a shell splits words"},
		{Name: "parallel", Default: "1", Check: Whole(1, 256), Help: "executions at the same time"},
	}
}

// Stages are the processes to start. The work is CPU time: an execution can last longer than a
// window, so the number of executions in a window says little.
func (CommandNoise) Stages(v Values) (Stages, error) {
	r := Reader{Values: v}
	threads := r.Whole("parallel")
	args, err := splitWords(v["command"])
	r.fail("command", err)
	if r.Err != nil {
		return Stages{}, fmt.Errorf("command: %w", r.Err)
	}
	const never = 30 * 24 * 3600 // seconds
	p := load.Executions{Args: args, Dir: ".", Codes: []int{0}, Timeout: never}
	return Stages{
		Threads: threads,
		Named:   []Named{namedProgram(v["command"], args, false, nil)},
		Load:    func(wire.Place) Task { return LoadTask(load.KindRepeat, p) },
		Metrics: []Metric{Throughput, cpuPerOp},
		Work:    cpuWork,
	}, nil
}
