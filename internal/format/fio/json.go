package fio

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/format"
)

var errNotFio = errors.New("JSON without fio's jobs")

// jsonReader reads one document. What a version does not write stays missing.
type jsonReader struct {
	*format.JSON
	run     Run
	seconds format.Num // timestamp
	ms      format.Num // timestamp_ms
}

// decode reads a document and says whether it had undefined figures: fio divides
// by zero where nothing was measured.
func decode(d format.Document) (*Run, bool, error) {
	r := &jsonReader{run: Run{Line: d.Line, Form: "json"}}
	err := d.Walk(func(j *format.JSON, key []byte) error {
		r.JSON = j
		return r.top(key)
	})
	if err != nil {
		return nil, false, err
	}
	if r.run.Jobs == nil && r.run.Version == "" {
		return nil, false, errNotFio
	}
	if ms, ok := r.ms.Get(); ok {
		r.run.Time = time.UnixMilli(int64(ms)).UTC()
	} else if s, ok := r.seconds.Get(); ok {
		r.run.Time = time.Unix(int64(s), 0).UTC()
	}
	return &r.run, r.Undefined, nil
}

func (r *jsonReader) top(key []byte) (err error) {
	switch string(key) {
	case "fio version":
		r.run.Version = strings.TrimPrefix(r.Text(), "fio-")
	case "timestamp":
		r.seconds, err = r.stamp()
	case "timestamp_ms":
		r.ms, err = r.stamp()
	case "global options":
		r.run.Global, err = r.options()
	case "jobs", "client_stats":
		err = r.Array(r.job)
	case "disk_util":
		err = r.Array(r.disk)
	}
	return err
}

// stamp is a time that a calendar has.
func (r *jsonReader) stamp() (format.Num, error) {
	n, err := r.Num()
	if x, ok := n.Get(); !ok || x < 0 || x > 1e13 {
		return format.Num{}, err
	}
	return n, err
}

// options keeps options as text, whatever their JSON type.
func (r *jsonReader) options() (map[string]string, error) {
	out := map[string]string{}
	err := r.Object(func(key []byte) error {
		out[strings.ToValidUTF8(string(key), "?")] = r.Text()
		return nil
	})
	return out, err
}

// num reads a number into a field, over what makes it a base unit.
func (r *jsonReader) num(into *format.Num, over float64) error {
	n, err := r.Num()
	*into = n.Over(over)
	return err
}

func (r *jsonReader) job() error {
	j := Job{}
	err := r.Object(func(key []byte) (err error) {
		switch string(key) {
		case "jobname":
			j.Name = r.Text()
		case "groupid":
			j.Group, err = r.Int()
		case "hostname":
			j.Host = r.Text()
		case "error":
			j.Error, err = r.Int()
		case "job options":
			j.Options, err = r.options()
		case "job_runtime":
			err = r.num(&j.Runtime, milli)
		case "read":
			j.Read, err = r.direction()
		case "write":
			j.Write, err = r.direction()
		case "trim":
			j.Trim, err = r.direction()
		case "mixed":
			j.Mixed, err = r.direction()
		case "sync":
			j.Sync, err = r.sync()
		case "usr_cpu":
			err = r.num(&j.UserCPU, 100)
		case "sys_cpu":
			err = r.num(&j.SystemCPU, 100)
		case "ctx":
			err = r.num(&j.Switches, 1)
		case "majf":
			err = r.num(&j.MajorFaults, 1)
		}
		return err
	})
	r.run.Jobs = append(r.run.Jobs, j)
	return err
}

// amounts are the figures of a direction before their units are known.
type amounts struct {
	kbytes, bw         format.Num
	bwBytes            bool
	samples, iops      Spread
	slat, clat, lat    *Latency // in microseconds
	slatN, clatN, latN *Latency // in nanoseconds
	nano               bool
}

// direction is nil when nothing was read or written: fio prints zeros then.
func (r *jsonReader) direction() (*Direction, error) {
	d, a := &Direction{}, amounts{}
	err := r.Object(func(key []byte) (err error) {
		switch string(key) {
		case "io_bytes":
			err = r.num(&d.Bytes, 1)
		case "io_kbytes":
			err = r.num(&a.kbytes, 1)
		case "bw_bytes":
			a.bwBytes = true
			err = r.num(&d.Bandwidth, 1)
		case "bw":
			err = r.num(&a.bw, 1.0/kibi)
		case "iops":
			err = r.num(&d.IOPS, 1)
		case "runtime":
			err = r.num(&d.Runtime, milli)
		case "total_ios":
			err = r.num(&d.Total, 1)
		case "short_ios":
			err = r.num(&d.Short, 1)
		case "drop_ios":
			err = r.num(&d.Dropped, 1)
		default:
			err = r.rest(&a, string(key))
		}
		return err
	})
	if err != nil || !d.Bytes.Positive().Known() {
		return nil, err
	}
	a.settle(d)
	return d, nil
}

// rest reads the latencies and samples of a direction.
func (r *jsonReader) rest(a *amounts, key string) (err error) {
	switch key {
	case "slat":
		a.slat, err = r.latency(micro)
	case "clat":
		a.clat, err = r.latency(micro)
	case "lat":
		a.lat, err = r.latency(micro)
	case "slat_ns":
		a.slatN, err = r.latency(nano)
	case "clat_ns":
		a.nano = true
		a.clatN, err = r.latency(nano)
	case "lat_ns":
		a.nano = true
		a.latN, err = r.latency(nano)
	case "bw_min":
		err = r.num(&a.samples.Min, 1.0/kibi)
	case "bw_max":
		err = r.num(&a.samples.Max, 1.0/kibi)
	case "bw_mean":
		err = r.num(&a.samples.Mean, 1.0/kibi)
	case "bw_dev":
		err = r.num(&a.samples.StdDev, 1.0/kibi)
	case "bw_samples":
		err = r.num(&a.samples.N, 1)
	case "iops_min":
		err = r.num(&a.iops.Min, 1)
	case "iops_max":
		err = r.num(&a.iops.Max, 1)
	case "iops_mean":
		err = r.num(&a.iops.Mean, 1)
	case "iops_stddev":
		err = r.num(&a.iops.StdDev, 1)
	case "iops_samples":
		err = r.num(&a.iops.N, 1)
	}
	return err
}

// settle decides the units by what is there, not by the version: io_kbytes
// beside it (2.21) means that io_bytes is bytes and not KiB, clat_ns (2.99)
// that latencies are nanoseconds.
func (a *amounts) settle(d *Direction) {
	if !a.kbytes.Known() {
		d.Bytes = d.Bytes.Times(kibi)
	}
	if !a.bwBytes {
		d.Bandwidth = a.bw
	}
	d.Slat, d.Clat, d.Lat = a.slat, a.clat, a.lat
	if a.nano {
		d.Slat, d.Clat, d.Lat = a.slatN, a.clatN, a.latN
	}
	d.BandwidthSamples, d.IOPSSamples = a.samples.measured(), a.iops.measured()
}

// measured is nil when no sample was taken.
func (s Spread) measured() *Spread {
	if s.N.Is(0) || !s.Mean.Positive().Known() {
		return nil
	}
	return &s
}

// latency is nil when nothing was measured: fio prints zeros then.
func (r *jsonReader) latency(over float64) (*Latency, error) {
	l := &Latency{}
	err := r.Object(func(key []byte) (err error) {
		switch string(key) {
		case "min":
			err = r.num(&l.Min, over)
		case "max":
			err = r.num(&l.Max, over)
		case "mean":
			err = r.num(&l.Mean, over)
		case "stddev":
			err = r.num(&l.StdDev, over)
		case "N":
			err = r.num(&l.N, 1)
		case "percentile":
			l.Quantiles, err = r.quantiles(over)
		case "bins":
			l.Bins, err = r.bins(over)
		}
		return err
	})
	return l.measured(), err
}

func (l *Latency) measured() *Latency {
	if l.N.Is(0) || !l.Max.Positive().Known() && !l.Mean.Positive().Known() {
		return nil
	}
	return l
}

// quantiles reads percentiles; "0.00" is padding of fio 2.x.
func (r *jsonReader) quantiles(over float64) ([]format.Quantile, error) {
	var out []format.Quantile
	err := r.Object(func(key []byte) error {
		percent, _ := format.Whole(key).Get()
		var x format.Num
		if err := r.num(&x, over); err != nil {
			return err
		}
		if percent > 0 && percent <= 100 && x.Known() {
			out = append(out, format.Quantile{Q: format.Share(percent), Seconds: x})
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b format.Quantile) int { return cmp.Compare(a.Q, b.Q) })
	return out, err
}

func (r *jsonReader) bins(over float64) ([]format.Bin, error) {
	var out []format.Bin
	err := r.Object(func(key []byte) error {
		x, n := format.Uint(key)
		number, err := r.Num()
		if count, _ := number.Get(); n > 0 && n == len(key) && count >= 1 && count < 1<<53 {
			out = append(out, format.Bin{Seconds: float64(x) / over, Count: uint64(count)})
		}
		return err
	})
	slices.SortStableFunc(out, func(a, b format.Bin) int { return cmp.Compare(a.Seconds, b.Seconds) })
	return out, err
}

func (r *jsonReader) sync() (*Sync, error) {
	s := &Sync{}
	err := r.Object(func(key []byte) (err error) {
		switch string(key) {
		case "total_ios":
			err = r.num(&s.Total, 1)
		case "lat_ns":
			s.Lat, err = r.latency(nano)
		}
		return err
	})
	// fio 3.33 says 0 here where it measured syncs all the same.
	if !s.Total.Positive().Known() && s.Lat != nil {
		s.Total = s.Lat.N
	}
	if !s.Total.Positive().Known() {
		return nil, err
	}
	return s, err
}

func (r *jsonReader) disk() error {
	d := Disk{}
	err := r.Object(func(key []byte) (err error) {
		switch string(key) {
		case "name":
			d.Name = r.Text()
		case "read_ios":
			err = r.num(&d.Reads, 1)
		case "write_ios":
			err = r.num(&d.Writes, 1)
		case "util":
			err = r.num(&d.Utilisation, 100)
		}
		return err
	})
	r.run.Disks = append(r.run.Disks, d)
	return err
}
