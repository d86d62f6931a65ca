package fio

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/tarelab/tare/internal/loads/load"
	tool "github.com/tarelab/tare/internal/logs/fio"
	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/record"
)

// fioWindow is fio's report on a window.
type fioWindow struct {
	ops     uint64
	seconds float64
	latency record.Histogram
	values  map[string]float64
}

// Names of the values that fio reports, alone or behind prefixRead or prefixWrite. Latencies are
// means.
const (
	nameBandwidth = "bandwidth" // B/s
	nameSync      = "sync_lat"  // s, mean
	nameUserCPU   = "cpu_user"  // ratio of one CPU
	nameSystemCPU = "cpu_system"
	nameIOPS      = "iops" // 1/s
	nameSlat      = "slat"
	nameClat      = "clat"
	nameLat       = "lat"
	prefixRead    = "read_"
	prefixWrite   = "write_"
)

// quantileSuffixes are the quantiles of slat, clat, lat and syncs, by the suffix of the name.
func quantileSuffixes() map[string]float64 {
	return map[string]float64{"_p50": 0.50, "_p95": 0.95, "_p99": 0.99}
}

// fioTail is the least number of operations beyond a quantile that is reported.
const fioTail = 10

// readFio reads fio's JSON report on one window.
func readFio(text []byte) (fioWindow, error) {
	log, err := tool.Parse(bytes.NewReader(text))
	if err != nil {
		return fioWindow{}, fmt.Errorf("read fio's output: %w", err)
	}
	if len(log.Runs) != 1 {
		return fioWindow{}, fmt.Errorf("fio wrote %d reports instead of one", len(log.Runs))
	}
	run := log.Runs[0]
	if run.Failed() {
		return fioWindow{}, fioFailure(run)
	}
	w := newFioSum()
	for _, j := range run.Jobs {
		if err := w.job(j); err != nil {
			return fioWindow{}, err
		}
	}
	return w.window()
}

func fioFailure(run tool.Run) error {
	if run.Messages.Count > 0 {
		return fmt.Errorf("fio: %s", run.Messages.First.Text)
	}
	for _, j := range run.Jobs {
		if j.Error != 0 {
			return fmt.Errorf("fio: job %s ended with error %d %s", j.Name, j.Error, j.ErrorText)
		}
	}
	return errors.New("fio failed")
}

// mean is a weighted mean: the sum of weighted values and of weights.
type mean struct{ sum, weight float64 }

func (m *mean) add(x, weight float64) { m.sum, m.weight = m.sum+x*weight, m.weight+weight }

// fioSum sums up the jobs of a run.
type fioSum struct {
	ops     uint64
	seconds float64
	buckets map[uint32]uint64
	rates   map[string]float64 // per second, added up
	means   map[string]*mean   // weighted by operations
	bars    map[string]map[uint32]uint64
}

func newFioSum() *fioSum {
	return &fioSum{buckets: map[uint32]uint64{}, rates: map[string]float64{}, means: map[string]*mean{}, bars: map[string]map[uint32]uint64{}}
}

func (s *fioSum) job(j tool.Job) error {
	all := []struct {
		prefix string
		d      *tool.Direction
	}{{prefixRead, j.Read}, {prefixWrite, j.Write}, {"", j.Trim}, {"", j.Mixed}}
	if j.Mixed != nil {
		all = all[3:] // Mixed is the sum of the others
	}
	for _, a := range all {
		if a.d != nil {
			if err := s.direction(a.prefix, a.d); err != nil {
				return err
			}
		}
	}
	if j.Sync != nil && j.Sync.Lat != nil {
		s.mean(nameSync, j.Sync.Lat.Mean, j.Sync.Total)
		s.spread(nameSync, j.Sync.Lat.Bins)
	}
	s.rate(nameUserCPU, j.UserCPU)
	s.rate(nameSystemCPU, j.SystemCPU)
	return nil
}

func (s *fioSum) direction(prefix string, d *tool.Direction) error {
	total, ok := d.Total.Get()
	seconds, timed := d.Runtime.Get()
	if !ok || !timed {
		return errors.New("fio does not say how many operations took how long: want fio 3.18 or later")
	}
	s.ops += uint64(total)
	s.seconds = max(s.seconds, seconds)
	s.rate(nameBandwidth, d.Bandwidth)
	if prefix != "" {
		s.rate(prefix+nameIOPS, d.IOPS)
		s.rate(prefix+nameBandwidth, d.Bandwidth)
		for _, l := range []struct {
			name string
			lat  *tool.Latency
		}{{nameSlat, d.Slat}, {nameClat, d.Clat}, {nameLat, d.Lat}} {
			if l.lat != nil {
				s.mean(prefix+l.name, l.lat.Mean, d.Total)
				s.spread(prefix+l.name, l.lat.Bins)
			}
		}
	}
	lat := d.Lat
	if lat == nil || len(lat.Bins) == 0 {
		lat = d.Clat
	}
	if lat != nil {
		for _, b := range lat.Bins {
			spread(b, s.buckets)
		}
	}
	return nil
}

// spread adds a histogram to that of a latency.
func (s *fioSum) spread(name string, bins []format.Bin) {
	if s.bars[name] == nil {
		s.bars[name] = map[uint32]uint64{}
	}
	for _, b := range bins {
		spread(b, s.bars[name])
	}
}

// quantiles adds the quantiles with at least fioTail operations beyond.
func (s *fioSum) quantiles(to map[string]float64) {
	for name, buckets := range s.bars {
		h := load.Histogram(buckets)
		n := uint64(0)
		for _, c := range h.Count {
			n += c
		}
		for end, q := range quantileSuffixes() {
			if float64(n)*(1-q) >= fioTail {
				to[name+end] = h.Quantile(q)
			}
		}
	}
}

func (s *fioSum) rate(name string, n format.Num) {
	if x, ok := n.Get(); ok {
		s.rates[name] += x
	}
}

func (s *fioSum) mean(name string, n, weight format.Num) {
	x, ok := n.NonZero().Get()
	w, weighed := weight.Get()
	if !ok || !weighed || w <= 0 {
		return
	}
	if s.means[name] == nil {
		s.means[name] = &mean{}
	}
	s.means[name].add(x, w)
}

func (s *fioSum) window() (fioWindow, error) {
	if s.ops == 0 || s.seconds <= 0 {
		return fioWindow{}, errFioIdle
	}
	w := fioWindow{ops: s.ops, seconds: s.seconds, values: s.rates, latency: load.Histogram(s.buckets)}
	for name, m := range s.means {
		w.values[name] = m.sum / m.weight
	}
	s.quantiles(w.values)
	return w, nil
}

var errFioIdle = errors.New("fio finished no operation in the window; ask for a longer one (window= in the experiment)")

// spread distributes a bin of fio's histogram evenly over tare's finer buckets. Both cut powers of
// two of nanoseconds into equal parts, fio into 64 (stat.c, plat_idx_to_val), so the edges of a bin
// are edges of buckets.
func spread(b format.Bin, buckets map[uint32]uint64) {
	const plain = 7 // fio has a bin for each number of up to 7 bits
	middle := uint64(math.Round(b.Seconds * 1e9))
	low, width := middle, uint64(1)
	if n := bits.Len64(middle); n > plain {
		width = 1 << (n - plain)
		low = middle / width * width
	}
	first, last := record.Bucket(int64(low)), record.Bucket(int64(low+width-1))
	parts, put := uint64(last-first+1), uint64(0)
	for i := range parts {
		upTo := (2*b.Count*(i+1) + parts) / (2 * parts) // rounded
		if upTo > put {
			buckets[uint32(first)+uint32(i)] += upTo - put
			put = upTo
		}
	}
}
