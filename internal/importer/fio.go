package importer

import (
	"io"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/format"
	"github.com/tarelab/tare/internal/format/fio"
)

// loadOptions are the options of a job that make its load what it is.
var loadOptions = []string{"rw", "readwrite", "bs", "blocksize", "bsrange", "ioengine", "iodepth", "numjobs", "direct", "sync",
	"fsync", "fdatasync", "size", "rwmixread", "rwmixwrite", "rate", "rate_iops", "buffered", "time_based", "random_distribution"}

func readFio(_ string, text io.Reader) ([]*run, []format.Warning, error) {
	log, err := fio.Parse(text, nil)
	var out []*run
	warnings := log.Warnings
	for i := range log.Runs {
		one := &log.Runs[i]
		if one.Interim {
			continue
		}
		out = append(out, fioJobs(one)...)
		if one.Failed() {
			warnings = append(warnings, fioFailed(one))
		}
	}
	return out, warnings, err
}

func fioFailed(r *fio.Run) format.Warning {
	w := format.Warning{Line: r.Line, Text: "a job ended with an error", Remedy: "find out what failed before the figures are used"}
	if len(r.Messages) > 0 {
		w.Line, w.Text = r.Messages[0].Line, "fio said: "+r.Messages[0].Text
	}
	return w
}

// fioJobs makes a run of every job; jobs of the same name are one load.
func fioJobs(one *fio.Run) []*run {
	var names []string
	jobs := map[string][]*fio.Job{}
	for i := range one.Jobs {
		j := &one.Jobs[i]
		if j.Name == "All clients" {
			continue
		}
		if jobs[j.Name] == nil {
			names = append(names, j.Name)
		}
		jobs[j.Name] = append(jobs[j.Name], j)
	}
	var out []*run
	for _, name := range names {
		r := fioJob(one, jobs[name])
		if len(names) > 1 {
			r.sub = name
		}
		out = append(out, r)
	}
	return out
}

func fioJob(one *fio.Run, jobs []*fio.Job) *run {
	r := &run{}
	r.Tool, r.Version, r.Line, r.Complete = "fio", one.Version, max(one.Line, jobs[0].Line), true
	r.fioOptions(one, jobs[0])
	r.other("version", one.Version)
	directions := directionsOf(jobs)
	for i, d := range directions {
		prefix := ""
		if len(directions) > 1 {
			prefix = d.name + "_"
			if i == 0 {
				r.total("throughput", sum(directions, func(d *fio.Direction) format.Num { return d.IOPS }))
			}
		}
		r.direction(prefix, d)
	}
	for _, j := range jobs {
		if j.Sync != nil && j.Sync.Lat != nil && len(jobs) == 1 {
			r.total("sync_latency_mean", j.Sync.Lat.Mean.Positive())
		}
	}
	return r
}

// fioOptions are a job's own options above the global ones.
func (r *run) fioOptions(one *fio.Run, j *fio.Job) {
	for _, name := range loadOptions {
		v, ok := j.Options[name]
		if !ok {
			v, ok = one.Global[name]
		}
		if ok && v == "" {
			v = "yes"
		}
		r.load(name, v)
	}
	r.load("kind of I/O", strings.Join(kindsOf(j), " and "))
}

func kindsOf(j *fio.Job) []string {
	var out []string
	for _, d := range directionsOf([]*fio.Job{j}) {
		out = append(out, d.name)
	}
	return out
}

// direction is one direction of I/O of all jobs of a name.
type direction struct {
	name string
	of   []*fio.Direction
}

func directionsOf(jobs []*fio.Job) []direction {
	all := []direction{{name: "read"}, {name: "write"}, {name: "trim"}, {name: "mixed"}}
	for _, j := range jobs {
		for i, d := range []*fio.Direction{j.Read, j.Write, j.Trim, j.Mixed} {
			if d != nil && (d.IOPS.Positive().Known() || d.Total.Positive().Known()) {
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

// sum adds a figure up over jobs; missing when one of them has none.
func sum(of []direction, get func(*fio.Direction) format.Num) format.Num {
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

func (r *run) direction(prefix string, d direction) {
	one := []direction{d}
	rate := "throughput"
	if prefix != "" {
		rate = prefix + "iops"
	}
	r.total(rate, sum(one, func(d *fio.Direction) format.Num { return d.IOPS }).Positive())
	r.total(prefix+"latency_mean", meanLatency(d.of))
	r.total(prefix+"bandwidth", sum(one, func(d *fio.Direction) format.Num { return d.Bandwidth }).Positive())
	for _, x := range d.of {
		if s, ok := x.Runtime.Get(); ok {
			r.Seconds = max(r.Seconds, s)
		}
	}
	if len(d.of) > 1 {
		r.other("jobs", strconv.Itoa(len(d.of)))
		return // quantiles of several jobs do not add up
	}
	if l := latencyOf(d.of[0]); l != nil {
		for _, q := range l.Quantiles {
			if q.Q == 0.5 || q.Q == 0.95 || q.Q == 0.99 || q.Q == 0.999 {
				r.total(prefix+quantileName(q.Q), q.Seconds.Positive())
			}
		}
	}
}

// latencyOf has the quantiles: of the completion latency unless fio was told
// otherwise.
func latencyOf(d *fio.Direction) *fio.Latency {
	for _, l := range []*fio.Latency{d.Lat, d.Clat} {
		if l != nil && len(l.Quantiles) > 0 {
			return l
		}
	}
	return nil
}

// meanLatency is the mean of the total latency over jobs, each with the weight of
// its I/Os.
func meanLatency(of []*fio.Direction) format.Num {
	total, weight := 0.0, 0.0
	for _, d := range of {
		l := d.Lat
		if l == nil || !l.Mean.Positive().Known() {
			l = d.Clat
		}
		if l == nil {
			return format.Num{}
		}
		m, ok := l.Mean.Positive().Get()
		n, counted := d.Total.Get()
		if !counted {
			n, _ = d.IOPS.Get()
		}
		if !ok || len(of) > 1 && n == 0 {
			return format.Num{}
		}
		if len(of) == 1 {
			return l.Mean
		}
		total, weight = total+m*n, weight+n
	}
	return format.Some(total / weight)
}

// readFioLog reads a log of single I/Os or of averages.
func readFioLog(name string, text io.Reader) ([]*run, []format.Warning, error) {
	kind := fio.KindOf(name)
	r := &run{}
	r.Tool, r.Line = "fio", 1
	metric := map[fio.LogKind]string{fio.LatencyLog: "latency_mean", fio.BandwidthLog: "bandwidth", fio.IOPSLog: "throughput"}[kind]
	byDirection := map[byte]*figure{}
	first, last, n := 0.0, 0.0, 0
	sum, err := fio.ParseLog(text, fio.LogOptions{Kind: kind}, func(e fio.Entry) error {
		f := byDirection[e.Direction]
		if f == nil {
			f = &figure{metric: metric}
			byDirection[e.Direction] = f
		}
		f.put(e.Value)
		if n == 0 {
			first = e.Time
		}
		last = e.Time
		n++
		return nil
	})
	names := map[byte]string{'r': "read_", 'w': "write_", 't': "trim_", 's': "sync_"}
	for _, d := range []byte("rwts") {
		f := byDirection[d]
		if f == nil {
			continue
		}
		if len(byDirection) > 1 {
			f.metric = names[d] + map[bool]string{true: "iops", false: metric}[metric == "throughput"]
		}
		r.load("kind of I/O", strings.TrimSuffix(names[d], "_"))
		r.figures = append(r.figures, f)
		if f.n > 1 {
			r.every = max(r.every, (last-first)/float64(f.n-1))
		}
	}
	r.sub = string(kind)
	r.Seconds = last - first
	return []*run{r}, sum.Warnings, err
}
