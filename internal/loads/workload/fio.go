package workload

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/databases/serve"
	driver "github.com/tarelab/tare/internal/loads/fio"
	"github.com/tarelab/tare/internal/logs/fio"
	"github.com/tarelab/tare/internal/wire"
)

// Fio is file input and output by fio.
type Fio struct{}

func (Fio) Name() string { return "fio" }

func (Fio) Title() string {
	return "file input and output by fio: rates, and latencies by their parts"
}

// Params are the parameters. The defaults are the line of the published study
// of NFS in a pod: 4 KiB, random reads and writes half and half, libaio, 128 at
// the same time.
func (Fio) Params() []Param {
	return []Param{
		{Name: "job", Default: noneWord, Text: true, Check: anyText,
			Help: "a job file of fio instead of what follows; its files are made in the data directory, and what reaches outside of that is refused"},
		choice("rw", "randrw", "pattern of the input and output", fio.Patterns()...),
		{Name: "mix", Default: "50", Check: whole(1, 99),
			Help: "reads in a hundred, where the pattern has both"},
		{Name: "bs", Default: "4KiB", Check: size(512, 64<<20),
			Help: "size of one operation"},
		{Name: "iodepth", Default: "128", Check: whole(1, 65536),
			Help: "operations in flight of each job, for engines that can"},
		choice("engine", "libaio", "how it is done; a container's default security profile forbids io_uring", fio.Engines()...),
		onOff("direct", "on", "on: past the page cache; off: through it, as warm as the windows before left it"),
		{Name: "size", Default: "128MiB", Check: size(1<<20, 16<<40),
			Help: "size of the file of each job, written in full beforehand, in every arm"},
		{Name: "jobs", Default: "1", Check: whole(1, 1024),
			Help: "jobs at the same time, each with a file of its own"},
		{Name: "fsync", Default: "0", Check: whole(0, 1_000_000),
			Help: "an fdatasync after so many writes; 0: none"},
		{Name: "rate", Default: "0", Check: whole(0, 1_000_000_000),
			Help: "operations per second of each job and direction at most; 0: as many as it can"},
	}
}

func (f Fio) Stages(v Values) (Stages, error) {
	r := reader{v: v}
	bytes := r.size("size") * int64(r.whole("jobs"))
	text, err := f.job(v, &r)
	if err == nil {
		err = r.err
	}
	if err != nil {
		return Stages{}, fmt.Errorf("fio: %w", err)
	}
	files := driver.Layout{Job: text}
	key := fmt.Sprintf("fio-%s-%s", v["size"], v["jobs"])
	if v["job"] != noneWord {
		files, key, bytes = driver.Layout{File: v["job"]}, "fio-file", 0
	}
	values := f.values(v)
	p := driver.Params{}
	for _, m := range values {
		p.Values = append(p.Values, m.Name)
	}
	return Stages{
		Threads: 1,
		Key:     key,
		Prepare: func(dir string) Task {
			here := files
			here.Dir = dir
			return loadTask(driver.KindPrepare, here)
		},
		Load: func(at wire.Place) Task {
			here := p
			here.Dir = at.Volume
			return loadTask(driver.Kind, here)
		},
		Needs: []serve.Need{{Tool: "fio", Package: "fio"}},
		Disk:  fio.Writes(v["rw"]) || v["job"] != noneWord,
		Bytes: bytes,
		Windowed: &Windowed{
			Least: time.Second, Usual: 2 * time.Second, Discard: 300 * time.Millisecond,
			// A device that stalls is waited for: what it did not do is the result.
			Limit: time.Minute,
		},
		Metrics: append([]Metric{Throughput, P50, P95, P99}, compared(values)...),
		Values:  values,
	}, nil
}

// compared are the values that verdicts are given on: of each latency its mean
// and its tail.
func compared(values []Metric) []Metric {
	return slices.DeleteFunc(slices.Clone(values), func(m Metric) bool {
		return strings.HasSuffix(m.Name, "_p50") || strings.HasSuffix(m.Name, "_p95")
	})
}

// job is the job file of the parameters.
func (Fio) job(v Values, r *reader) (string, error) {
	var b strings.Builder
	set := func(name, value string) { fmt.Fprintf(&b, "%s=%s\n", name, value) }
	b.WriteString("[tare]\n")
	set("rw", v["rw"])
	if fio.Reads(v["rw"]) && fio.Writes(v["rw"]) {
		set("rwmixread", v["mix"])
	}
	set("bs", fmt.Sprint(r.size("bs")))
	set("size", fmt.Sprint(r.size("size")))
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
	_, err := fio.ParseJob([]byte(b.String()))
	return b.String(), err
}

// values are the numbers that fio says with these parameters; with a job file
// all of them, for who knows.
func (Fio) values(v Values) []Metric {
	file := v["job"] != noneWord
	rate := func(name, help string) Metric { return Metric{Name: name, Unit: "1/s", Better: +1, Help: help} }
	bandwidth := func(name, help string) Metric { return Metric{Name: name, Unit: "B/s", Better: +1, Help: help} }
	latency := func(name, help string) []Metric {
		out := []Metric{{Name: name, Unit: "s", Better: -1, Help: "mean " + help}}
		for _, end := range slices.Sorted(maps.Keys(driver.FioQuantiles())) {
			out = append(out, Metric{Name: name + end, Unit: "s", Better: -1, Help: end[1:] + " of the " + help})
		}
		return out
	}
	out := []Metric{bandwidth(driver.FioBandwidth, "bytes per second")}
	for _, d := range []struct {
		prefix, word string
		has          bool
	}{{driver.FioRead, "reads", file || fio.Reads(v["rw"])}, {driver.FioWrite, "writes", file || fio.Writes(v["rw"])}} {
		if !d.has {
			continue
		}
		out = append(out, rate(d.prefix+driver.FioIOPS, d.word+" per second"), bandwidth(d.prefix+driver.FioBandwidth, "bytes per second of "+d.word))
		if file || !fio.Synchronous(v["engine"]) {
			out = append(out, latency(d.prefix+driver.FioSlat, "time to submit "+d.word)...)
		}
		out = append(out, latency(d.prefix+driver.FioClat, "time from submission to completion of "+d.word)...)
		out = append(out, latency(d.prefix+driver.FioLat, "time of "+d.word)...)
	}
	if file || v["fsync"] != "0" && fio.Writes(v["rw"]) {
		out = append(out, latency(driver.FioSync, "time of a sync")...)
	}
	cpu := func(name, help string) Metric { return Metric{Name: name, Unit: "ratio", Better: -1, Help: help} }
	return append(out, cpu(driver.FioUserCPU, "CPU time of fio in user mode, of one CPU"), cpu(driver.FioSystemCPU, "CPU time of fio in the kernel, of one CPU"))
}
