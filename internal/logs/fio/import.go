package fio

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
	"github.com/tarelab/tare/internal/wire/metric"
)

// jobOptions are the options that define a job's load: jobs that differ in one are different loads.
var jobOptions = []string{"rw", "bs", "bsrange", "ioengine", "iodepth", "numjobs", "direct", "sync",
	"fsync", "fdatasync", "size", "rwmixread", "rwmixwrite", "rate", "rate_iops", "buffered", "time_based", "random_distribution"}

// importFile reads the runs in fio's output.
func importFile(_ string, text io.Reader) ([]*observed.Run, []format.Warning, error) {
	log, err := Parse(text)
	var out []*observed.Run
	warnings := log.Warnings
	for i := range log.Runs {
		report := &log.Runs[i]
		out = append(out, jobRuns(report)...)
		if n := report.jobs(); report.Started > n {
			warnings = append(warnings, format.Warning{Line: report.Line,
				Text: someJobs(report.Started, n), Remedy: importWhole})
		}
		if report.Failed() {
			warnings = append(warnings, failure(report))
		}
	}
	return out, warnings, err
}

// jobs returns the number of jobs in the report, without the sum over clients.
func (r *Run) jobs() (n int) {
	for _, j := range r.Jobs {
		if j.Name != allClients {
			n += max(1, j.jobs)
		}
	}
	return n
}

// failure returns the warning about a report with errors.
func failure(r *Run) format.Warning {
	w := format.Warning{Line: r.Line, Text: jobFailed, Remedy: findFailure}
	if m := r.Messages; m.Count > 0 {
		w.Line, w.Text = m.First.Line, fioSaid(m.First.Text)
	}
	return w
}

// allClients is fio's name for the sum over all clients of a client/server run.
const allClients = "All clients"

// jobRuns makes one run of all jobs that have the same name.
func jobRuns(report *Run) []*observed.Run {
	var names []string
	jobs := map[string][]*Job{}
	for i := range report.Jobs {
		j := &report.Jobs[i]
		if j.Name == allClients && slices.ContainsFunc(report.Jobs, func(j Job) bool { return j.Name != allClients }) {
			continue // the sum of the others
		}
		if jobs[j.Name] == nil {
			names = append(names, j.Name)
		}
		jobs[j.Name] = append(jobs[j.Name], j)
	}
	var out []*observed.Run
	for _, name := range names {
		r := jobRun(report, jobs[name])
		if len(names) > 1 {
			r.Sub = name
		}
		out = append(out, r)
	}
	return out
}

// jobRun makes a run of jobs with the same name.
func jobRun(report *Run, jobs []*Job) *observed.Run {
	r := &observed.Run{}
	r.Tool, r.Version, r.Line, r.Complete = Program, report.Version, max(report.Line, jobs[0].Line), true
	addOptions(r, report, jobs)
	r.MayDiffer("version", report.Version)
	directions := directionsOf(jobs)
	for i, d := range directions {
		if i == 0 && len(directions) > 1 {
			r.Total(metric.Throughput, sum(directions, func(d *Direction) format.Num { return d.IOPS }))
		}
		addFigures(r, d, len(directions) > 1)
	}
	for _, j := range jobs {
		if j.Sync != nil && j.Sync.Lat != nil && len(jobs) == 1 {
			r.Total(metric.LatencyMean.Of("sync"), j.Sync.Lat.Mean.NonZero())
		}
	}
	return r
}

// defaults are fio's defaults for options. Only a JSON report lists every option that was set, so only
// there a missing option has its default.
var defaults = map[string]string{"rw": "read", "bs": "4k", "iodepth": "1", "numjobs": "1", "direct": "0", "fsync": "0",
	"rate": "none", "rate_iops": "none"}

// addOptions adds the options of the jobs as settings of the load. An option of a job overrides the
// global one.
func addOptions(r *observed.Run, report *Run, jobs []*Job) {
	j := jobs[0]
	for _, name := range jobOptions {
		v, ok := option(report, j, name)
		switch {
		case ok && v == "":
			v = "yes"
		case !ok && report.Form == "json" && len(j.Options) > 0:
			v = defaults[name]
		}
		switch name {
		case "bs", "bsrange":
			if v = blockSize(v); name == "bs" && v == "" {
				v = impliedSize(j)
			}
		case "size":
			v = observed.Bytes(v)
		case "numjobs":
			n := 0
			for _, x := range jobs {
				n += x.jobs
			}
			if n > 0 {
				v = strconv.Itoa(n)
			}
		}
		r.MakesLoad(name, v)
	}
	r.MakesLoad(kindOfIO, allKinds(kindsOf(j)))
}

// option finds an option by its name or its alias, of the job or else global.
func option(report *Run, j *Job, name string) (string, bool) {
	for _, from := range []map[string]string{j.Options, report.Global} {
		for _, n := range []string{name, aliases[name]} {
			if v, ok := from[n]; ok {
				return v, true
			}
		}
	}
	return "", false
}

var aliases = map[string]string{"rw": "readwrite", "bs": "blocksize", "bsrange": "blocksize_range"}

// blockSize writes "4k", "4K-4K/4K-4K/4K-4K" and "(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B" as
// "4 KiB". Sizes that differ by direction become a list.
func blockSize(v string) string {
	var sizes []string
	for _, one := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == '/' }) {
		one = strings.TrimSpace(one)
		if len(one) > 4 && one[0] == '(' && one[2] == ')' {
			one = one[4:]
		}
		low, high, both := strings.Cut(one, "-")
		if one = observed.Bytes(low); both && observed.Bytes(high) != one {
			one = sizesTo(one, observed.Bytes(high))
		}
		if !slices.Contains(sizes, one) {
			sizes = append(sizes, one)
		}
	}
	return strings.Join(sizes, ", ")
}

// impliedSize computes the block size from bandwidth and IOPS. It is empty unless all directions give
// the same power of two within 6 %, because the report prints few digits.
func impliedSize(j *Job) string {
	size := 0.0
	for _, d := range j.directions() {
		if d == nil {
			continue
		}
		bandwidth, _ := d.Bandwidth.Get()
		iops, _ := d.IOPS.Get()
		if iops < 10 || bandwidth <= 0 {
			continue // rounded to a whole number, IOPS are too imprecise
		}
		power := math.Exp2(math.Round(math.Log2(bandwidth / iops)))
		if off := bandwidth / iops / power; power < 512 || off < 0.94 || off > 1.06 || size > 0 && size != power {
			return ""
		}
		size = power
	}
	if size == 0 {
		return ""
	}
	return observed.Bytes(strconv.FormatFloat(size, 'f', -1, 64))
}

// kindsOf returns the names of the kinds of I/O that a job did: read, write, trim, mixed.
func kindsOf(j *Job) []string {
	var out []string
	for _, d := range directionsOf([]*Job{j}) {
		out = append(out, d.name)
	}
	return out
}

// direction has the figures of one kind of I/O, one for each job of the same name.
type direction struct {
	name string
	of   []*Direction
}

// directionsOf returns the kinds of I/O that the jobs did.
func directionsOf(jobs []*Job) []direction {
	all := []direction{{name: "read"}, {name: "write"}, {name: "trim"}, {name: "mixed"}}
	for _, j := range jobs {
		for i, d := range []*Direction{j.Read, j.Write, j.Trim, j.Mixed} {
			if d != nil && (d.IOPS.NonZero().Known() || d.Total.NonZero().Known() || d.Bandwidth.NonZero().Known()) {
				all[i].of = append(all[i].of, d)
			}
		}
	}
	var out []direction
	for _, d := range all {
		if len(d.of) > 0 {
			out = append(out, d)
		}
	}
	return out
}

// sum adds a figure over directions and jobs; missing if any of them does not have it.
func sum(of []direction, get func(*Direction) format.Num) format.Num {
	total := 0.0
	for _, one := range of {
		for _, d := range one.of {
			x, ok := get(d).Get()
			if !ok {
				return format.Num{}
			}
			total += x
		}
	}
	return format.Some(total)
}

// addFigures adds the figures of one kind of I/O. If the job did several kinds, each metric is named
// after its kind, as in read_iops.
func addFigures(r *observed.Run, d direction, several bool) {
	one := []direction{d}
	rate, named := metric.Throughput, func(m metric.Metric) metric.Metric { return m }
	if several {
		rate, named = metric.IOPS.Of(d.name), func(m metric.Metric) metric.Metric { return m.Of(d.name) }
	}
	r.Total(rate, sum(one, func(d *Direction) format.Num { return d.IOPS }).NonZero())
	if mean := meanLatency(d.of, func(d *Direction) *Latency { return d.Lat }); mean.Known() {
		r.Total(named(metric.LatencyMean), mean)
	} else { // completion latency has another name: it lacks the submission, most of a buffered write's time
		r.Total(named(metric.Seconds("completion_latency_mean")), meanLatency(d.of, func(d *Direction) *Latency { return d.Clat }))
	}
	r.Total(named(metric.Bandwidth), sum(one, func(d *Direction) format.Num { return d.Bandwidth }).NonZero())
	for _, x := range d.of {
		if s, ok := x.Runtime.Get(); ok {
			r.Seconds = max(r.Seconds, s)
		}
	}
	if len(d.of) > 1 {
		return // quantiles of several jobs cannot be combined
	}
	if l := latencyOf(d.of[0]); l != nil {
		for _, q := range l.Quantiles {
			if q.Q == 0.5 || q.Q == 0.95 || q.Q == 0.99 || q.Q == 0.999 {
				r.Total(named(metric.Quantile(q.Q)), q.Seconds.NonZero())
			}
		}
	}
}

// latencyOf returns the latency that has quantiles: the total latency (fio's option lat_percentiles),
// else the completion latency.
func latencyOf(d *Direction) *Latency {
	for _, l := range []*Latency{d.Lat, d.Clat} {
		if l != nil && len(l.Quantiles) > 0 {
			return l
		}
	}
	return nil
}

// meanLatency is the mean of one kind of latency over jobs, weighted by their I/Os; missing if a job does
// not have it.
func meanLatency(of []*Direction, kind func(*Direction) *Latency) format.Num {
	total, weight := 0.0, 0.0
	for _, d := range of {
		l := kind(d)
		if l == nil {
			return format.Num{}
		}
		m, ok := l.Mean.NonZero().Get()
		n, counted := d.Total.Get()
		if !counted {
			n, _ = d.IOPS.Get()
		}
		if !ok || len(of) > 1 && n == 0 {
			return format.Num{}
		}
		if len(of) == 1 {
			return l.Mean.NonZero()
		}
		total, weight = total+m*n, weight+n
	}
	return format.Some(total / weight)
}

// logReader returns a reader of fio's log files (write_lat_log and others). version is
// logOptions.Version.
func logReader(version int) observed.Read {
	return func(name string, text io.Reader) ([]*observed.Run, []format.Warning, error) {
		return importLog(name, text, version)
	}
}

// logMetrics are the metrics by kind of log: alone if the log has one kind of I/O, each if it has
// several; each then gets the name of the kind of I/O.
var logMetrics = map[logKind]struct{ alone, each metric.Metric }{
	latencyLog:   {metric.LatencyMean, metric.LatencyMean},
	bandwidthLog: {metric.Bandwidth, metric.Bandwidth},
	iopsLog:      {metric.Throughput, metric.IOPS},
}

func importLog(name string, text io.Reader, version int) ([]*observed.Run, []format.Warning, error) {
	kind := kindOf(name)
	r := &observed.Run{}
	r.Tool, r.Line = Program, 1
	byDirection := map[byte]*observed.Figure{}
	first, last, n := 0.0, 0.0, 0
	sum, err := parseLog(text, logOptions{Kind: kind, Version: version}, func(e entry) {
		f := byDirection[e.Direction]
		if f == nil {
			f = observed.NewFigure(logMetrics[kind].alone)
			byDirection[e.Direction] = f
		}
		f.Put(e.Value)
		if n == 0 {
			first = e.Time
		}
		last = e.Time
		n++
	})
	names := map[byte]string{'r': "read", 'w': "write", 't': "trim", 's': "sync"}
	for _, d := range []byte("rwts") {
		f := byDirection[d]
		if f == nil {
			continue
		}
		if len(byDirection) > 1 {
			f.Metric = logMetrics[kind].each.Of(names[d])
		}
		r.MakesLoad(kindOfIO, names[d])
		r.AddFigure(f)
		if f.N() > 1 {
			r.Every = max(r.Every, (last-first)/float64(f.N()-1))
		}
	}
	r.Sub = string(kind)
	r.Seconds = last - first
	return []*observed.Run{r}, sum.Warnings, err
}
