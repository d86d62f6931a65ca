package fio

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/logs/format"
)

// The fields of fio's JSON that tare reads; nil where a version does not write them.
type (
	document struct {
		Version     string        `json:"fio version"`
		Timestamp   *float64      `json:"timestamp"`
		TimestampMS *float64      `json:"timestamp_ms"`
		Global      options       `json:"global options"`
		Jobs        []documentJob `json:"jobs"`
		Clients     []documentJob `json:"client_stats"`
	}
	documentJob struct {
		Name      text               `json:"jobname"`
		Group     int32              `json:"groupid"`
		Error     int32              `json:"error"`
		Options   options            `json:"job options"`
		Read      *documentDirection `json:"read"`
		Write     *documentDirection `json:"write"`
		Trim      *documentDirection `json:"trim"`
		Mixed     *documentDirection `json:"mixed"`
		Sync      *documentSync      `json:"sync"`
		UserCPU   *float64           `json:"usr_cpu"`
		SystemCPU *float64           `json:"sys_cpu"`
	}
	documentDirection struct {
		Bytes     *float64         `json:"io_bytes"` // before 2.21 in KiB
		BytesPerS *float64         `json:"bw_bytes"`
		KiBPerS   *float64         `json:"bw"`
		IOPS      *float64         `json:"iops"`
		Runtime   *float64         `json:"runtime"`
		Total     *float64         `json:"total_ios"`
		Slat      *documentLatency `json:"slat"` // before 2.99, in microseconds
		Clat      *documentLatency `json:"clat"`
		Lat       *documentLatency `json:"lat"`
		SlatNS    *documentLatency `json:"slat_ns"`
		ClatNS    *documentLatency `json:"clat_ns"`
		LatNS     *documentLatency `json:"lat_ns"`
	}
	documentLatency struct {
		Max         *float64            `json:"max"`
		Mean        *float64            `json:"mean"`
		N           *float64            `json:"N"`
		Percentiles map[string]*float64 `json:"percentile"`
		Bins        map[string]float64  `json:"bins"`
	}
	documentSync struct {
		Total *float64         `json:"total_ios"`
		Lat   *documentLatency `json:"lat_ns"`
	}
)

// options has each option as text, whatever its JSON type.
type options map[string]text

func (o options) strings() map[string]string {
	var out map[string]string
	for name, value := range o {
		if out == nil {
			out = map[string]string{}
		}
		out[name] = string(value)
	}
	return out
}

// text is a JSON string, or the source text of another JSON value.
type text string

// UnmarshalJSON reads any value.
func (t *text) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return json.Unmarshal(b, (*string)(t))
	}
	*t = text(bytes.ToValidUTF8(b, []byte("?")))
	return nil
}

// run converts the document to a report; nil: the document is not fio's.
func (d *document) run(line int) *Run {
	if d.Jobs == nil && d.Clients == nil && d.Version == "" {
		return nil
	}
	r := &Run{Line: line, Form: "json", Version: strings.TrimPrefix(d.Version, "fio-"), Global: d.Global.strings()}
	if ms, ok := stamp(d.TimestampMS); ok {
		r.time = time.UnixMilli(ms).UTC()
	} else if s, ok := stamp(d.Timestamp); ok {
		r.time = time.Unix(s, 0).UTC()
	}
	for _, j := range slices.Concat(d.Jobs, d.Clients) {
		r.Jobs = append(r.Jobs, Job{Name: string(j.Name), Group: int(j.Group), Error: int(j.Error), Options: j.Options.strings(),
			Read: j.Read.direction(), Write: j.Write.direction(), Trim: j.Trim.direction(), Mixed: j.Mixed.direction(),
			Sync: j.Sync.sync(), UserCPU: format.Given(j.UserCPU).Over(100), SystemCPU: format.Given(j.SystemCPU).Over(100)})
	}
	return r
}

// stamp converts a time stamp; false if it is out of range.
func stamp(x *float64) (int64, bool) {
	if x == nil || *x < 0 || *x > 1e13 {
		return 0, false
	}
	return int64(*x), true
}

// direction returns nil if there was no I/O: fio prints zeros then. Fields show the unit of latencies:
// clat_ns (since 2.99) is in nanoseconds.
func (d *documentDirection) direction() *Direction {
	if d == nil || !format.Given(d.Bytes).NonZero().Known() {
		return nil
	}
	out := &Direction{Bandwidth: format.Given(d.BytesPerS), IOPS: format.Given(d.IOPS), Runtime: format.Given(d.Runtime).Over(milli),
		Total: format.Given(d.Total)}
	if d.BytesPerS == nil {
		out.Bandwidth = format.Given(d.KiBPerS).Times(kibi)
	}
	if d.ClatNS != nil || d.LatNS != nil {
		out.Slat, out.Clat, out.Lat = d.SlatNS.latency(nano), d.ClatNS.latency(nano), d.LatNS.latency(nano)
	} else {
		out.Slat, out.Clat, out.Lat = d.Slat.latency(micro), d.Clat.latency(micro), d.Lat.latency(micro)
	}
	return out
}

// latency returns nil if nothing was measured: fio prints zeros then.
func (d *documentLatency) latency(scale float64) *Latency {
	if d == nil || format.Given(d.N).Is(0) || !format.Given(d.Max).NonZero().Known() && !format.Given(d.Mean).NonZero().Known() {
		return nil
	}
	l := &Latency{Mean: format.Given(d.Mean).Over(scale), Quantiles: format.Percentiles(d.Percentiles, 0, scale)}
	for key, count := range d.Bins {
		if x, n := format.Uint([]byte(key)); n > 0 && n == len(key) && count >= 1 && count < 1<<53 {
			l.Bins = append(l.Bins, format.Bin{Seconds: float64(x) / scale, Count: uint64(count)})
		}
	}
	slices.SortFunc(l.Bins, func(a, b format.Bin) int {
		return cmp.Or(cmp.Compare(a.Seconds, b.Seconds), cmp.Compare(a.Count, b.Count))
	})
	return l
}

func (d *documentSync) sync() *Sync {
	if d == nil {
		return nil
	}
	s := &Sync{Total: format.Given(d.Total), Lat: d.Lat.latency(nano)}
	// fio 3.33 prints 0 here although it measured syncs.
	if !s.Total.NonZero().Known() && s.Lat != nil {
		s.Total = format.Given(d.Lat.N)
	}
	if !s.Total.NonZero().Known() {
		return nil
	}
	return s
}
