package fio

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/loads/workload"
	tool "github.com/tarelab/tare/internal/logs/fio"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// Workload is file input and output by fio.
type Workload struct{}

func (Workload) Name() string { return "fio" }

func (Workload) Title() record.Said { return record.Say("load_fio") }

// Params are the parameters. The defaults are those of the published study of NFS in a pod: 4 KiB,
// random reads and writes half and half, libaio, iodepth 128.
func (Workload) Params() []workload.Param {
	return []workload.Param{
		{Name: "job", Default: workload.None, Text: true, Check: workload.AnyText,
			Help: "a job file of fio instead of what follows; its files are made in the data directory, and what reaches outside of that is refused"},
		workload.Choice("rw", "randrw", "pattern of the input and output", tool.Patterns()...),
		{Name: "mix", Default: "50", Check: workload.Whole(1, 99),
			Help: "reads in a hundred, where the pattern has both"},
		{Name: "bs", Default: "4KiB", Check: workload.Size(512, 64<<20),
			Help: "size of one operation"},
		{Name: "iodepth", Default: "128", Check: workload.Whole(1, 65536),
			Help: "operations in flight of each job, for engines that can"},
		workload.Choice("engine", "libaio", "how it is done; a container's default security profile forbids io_uring", tool.Engines()...),
		workload.OnOff("direct", "on", "on: past the page cache; off: through it, as warm as the windows before left it"),
		{Name: "size", Default: "128MiB", Check: workload.Size(1<<20, 16<<40),
			Help: "size of the file of each job, written in full beforehand, in every arm"},
		{Name: "jobs", Default: "1", Check: workload.Whole(1, 1024),
			Help: "jobs at the same time, each with a file of its own"},
		{Name: "fsync", Default: "0", Check: workload.Whole(0, 1_000_000),
			Help: "an fdatasync after so many writes; 0: none"},
		{Name: "rate", Default: "0", Check: workload.Whole(0, 1_000_000_000),
			Help: "operations per second of each job and direction at most; 0: as many as it can"},
	}
}

func (w Workload) Stages(v workload.Values) (workload.Stages, error) {
	r := workload.Reader{Values: v}
	bytes := r.Size("size") * int64(r.Whole("jobs"))
	text, err := w.job(v, &r)
	if err == nil {
		err = r.Err
	}
	if err != nil {
		return workload.Stages{}, fmt.Errorf("fio: %w", err)
	}
	files := layout{Job: text}
	key := fmt.Sprintf("fio-%s-%s", v["size"], v["jobs"])
	if v["job"] != workload.None {
		files, key, bytes = layout{File: v["job"]}, "fio-file", 0
	}
	values := w.values(v)
	var named []workload.Named
	if files.File != "" {
		named = append(named, workload.NamedText("job", files.File, checkJob))
	}
	p := jobParams{}
	for _, m := range values {
		p.Values = append(p.Values, m.Name)
	}
	return workload.Stages{
		Threads: 1,
		Key:     key,
		Prepare: func(dir string) workload.Task {
			here := files
			here.Dir = dir
			return workload.LoadTask(kindPrepare, here)
		},
		Load: func(at wire.Place) workload.Task {
			here := p
			here.Dir = at.Volume
			return workload.LoadTask(kind, here)
		},
		Needs: []serve.Need{{Tool: "fio", Package: "fio"}},
		Named: named,
		Disk:  tool.Writes(v["rw"]) || v["job"] != workload.None,
		Bytes: bytes,
		Windowed: &workload.Windowed{
			Least: time.Second, Usual: 2 * time.Second, Discard: 300 * time.Millisecond,
			// A window waits for a device that stalls: the stall is part of the result.
			Limit: time.Minute,
		},
		Metrics: append([]workload.Metric{workload.Throughput, workload.P50, workload.P95, workload.P99}, compared(values)...),
		Values:  values,
	}, nil
}

// compared are the values that get a verdict: of each latency the mean and p99.
func compared(values []workload.Metric) []workload.Metric {
	return slices.DeleteFunc(slices.Clone(values), func(m workload.Metric) bool {
		return strings.HasSuffix(m.Name, "_p50") || strings.HasSuffix(m.Name, "_p95")
	})
}

// job is the text of the job file for the parameters.
func (Workload) job(v workload.Values, r *workload.Reader) (string, error) {
	var b strings.Builder
	set := func(name, value string) { fmt.Fprintf(&b, "%s=%s\n", name, value) }
	b.WriteString("[tare]\n")
	set("rw", v["rw"])
	if tool.Reads(v["rw"]) && tool.Writes(v["rw"]) {
		set("rwmixread", v["mix"])
	}
	set("bs", fmt.Sprint(r.Size("bs")))
	set("size", fmt.Sprint(r.Size("size")))
	set("ioengine", v["engine"])
	set("iodepth", v["iodepth"])
	set("numjobs", v["jobs"])
	set("direct", map[string]string{"on": "1", "off": "0"}[v["direct"]])
	if v["fsync"] != "0" {
		set("fdatasync", v["fsync"])
	}
	if v["rate"] != "0" {
		set("rate_iops", v["rate"])
	}
	_, err := tool.ParseJob([]byte(b.String()))
	return b.String(), err
}

// values are the numbers that fio prints with these parameters. With a job file of the user's they
// are all numbers that fio can print.
func (Workload) values(v workload.Values) []workload.Metric {
	file := v["job"] != workload.None
	rate := func(name, help string) workload.Metric {
		return workload.Metric{Name: name, Unit: "1/s", Better: +1, Help: help}
	}
	bandwidth := func(name, help string) workload.Metric {
		return workload.Metric{Name: name, Unit: "B/s", Better: +1, Help: help}
	}
	latency := func(name, help string) []workload.Metric {
		out := []workload.Metric{{Name: name, Unit: "s", Better: -1, Help: "mean " + help}}
		for _, end := range slices.Sorted(maps.Keys(quantileSuffixes())) {
			out = append(out, workload.Metric{Name: name + end, Unit: "s", Better: -1, Help: end[1:] + " of the " + help})
		}
		return out
	}
	out := []workload.Metric{bandwidth(nameBandwidth, "bytes per second")}
	for _, d := range []struct {
		prefix, word string
		has          bool
	}{{prefixRead, "reads", file || tool.Reads(v["rw"])}, {prefixWrite, "writes", file || tool.Writes(v["rw"])}} {
		if !d.has {
			continue
		}
		out = append(out, rate(d.prefix+nameIOPS, d.word+" per second"), bandwidth(d.prefix+nameBandwidth, "bytes per second of "+d.word))
		if file || !tool.Synchronous(v["engine"]) {
			out = append(out, latency(d.prefix+nameSlat, "time to submit "+d.word)...)
		}
		out = append(out, latency(d.prefix+nameClat, "time from submission to completion of "+d.word)...)
		out = append(out, latency(d.prefix+nameLat, "time of "+d.word)...)
	}
	if file || v["fsync"] != "0" && tool.Writes(v["rw"]) {
		out = append(out, latency(nameSync, "time of a sync")...)
	}
	cpu := func(name, help string) workload.Metric {
		return workload.Metric{Name: name, Unit: "ratio", Better: -1, Help: help}
	}
	return append(out, cpu(nameUserCPU, "CPU time of fio in user mode, of one CPU"), cpu(nameSystemCPU, "CPU time of fio in the kernel, of one CPU"))
}
