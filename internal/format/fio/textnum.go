package fio

import (
	"bytes"

	"github.com/tarelab/tare/internal/format"
)

// latency reads "clat (usec): min=2, max=20600k, avg=942.09, stdev=3344.49",
// "clat percentiles (usec):" and "bw (  KiB/s): min= 1185, ...".
func (t *textRun) latency(j *Job, key string, value []byte) bool {
	name, unit, ok := bytes.Cut([]byte(key), []byte("("))
	if !ok {
		return false
	}
	unit = bytes.TrimRight(unit, ")")
	label := string(bytes.TrimSpace(name))
	if label == "bw" {
		scale := bandwidthUnit(unit)
		if t.dir != nil && scale > 0 {
			t.dir.BandwidthSamples = samples(value, scale)
		}
		return scale > 0
	}
	scale := perSecond(unit)
	if scale == 0 {
		return false
	}
	if rest, ok := bytes.CutSuffix([]byte(label), []byte(" percentiles")); ok {
		t.scale, t.last = scale, t.named(j, string(rest))
		return t.last != nil
	}
	if !bytes.Contains(value, []byte("avg=")) {
		return true // the distribution over classes, or prio statistics
	}
	l := &Latency{Min: pair(value, "min=").Over(scale), Max: pair(value, "max=").Over(scale),
		Mean: pair(value, "avg=").Over(scale), StdDev: pair(value, "stdev=").Over(scale)}
	return t.put(j, label, l)
}

// put keeps a latency under its name.
func (t *textRun) put(j *Job, label string, l *Latency) bool {
	if t.syncing && j.Sync != nil {
		j.Sync.Lat = l
		return label == "sync"
	}
	if t.dir == nil {
		return false
	}
	switch label {
	case "slat":
		t.dir.Slat = l
	case "clat":
		t.dir.Clat = l
	case "lat":
		t.dir.Lat = l
	default:
		return false
	}
	return true
}

// named finds the latency that percentiles belong to.
func (t *textRun) named(j *Job, label string) *Latency {
	switch {
	case t.syncing && j.Sync != nil && label == "sync":
		return j.Sync.Lat
	case t.dir == nil:
		return nil
	case label == "slat":
		return t.dir.Slat
	case label == "clat":
		return t.dir.Clat
	case label == "lat":
		return t.dir.Lat
	}
	return nil
}

// percentiles reads " |  1.00th=[   39],  5.00th=[   49], ...". In 2.x, 0.00th
// is padding.
func (t *textRun) percentiles(text []byte) bool {
	if t.scale == 0 || t.last == nil {
		return false
	}
	for _, part := range bytes.Split(text[1:], []byte("]")) {
		q, v, ok := bytes.Cut(bytes.TrimLeft(part, " ,"), []byte("th=["))
		if !ok {
			continue
		}
		percent, known := format.Whole(q).Get()
		if x := format.Whole(v); known && percent > 0 && percent <= 100 && x.Known() {
			t.last.Quantiles = append(t.last.Quantiles, format.Quantile{Q: format.Share(percent), Seconds: x.Over(t.scale)})
		}
	}
	return true
}

// perSecond returns how many of the unit make a second, 0 for no unit of time.
func perSecond(unit []byte) float64 {
	switch string(unit) {
	case "nsec":
		return nano
	case "usec":
		return micro
	case "msec":
		return milli
	case "sec":
		return 1
	}
	return 0
}

// bandwidthUnit reads "  KiB/s", "KB  /s", "  MiB/s"; 0 for no such unit. The
// KB of 2.x is 1024 bytes, the kB of 3.x is 1000.
func bandwidthUnit(unit []byte) float64 {
	u, ok := bytes.CutSuffix(bytes.ReplaceAll(unit, []byte(" "), nil), []byte("/s"))
	if !ok {
		return 0
	}
	return sizeUnit(u, 1000)
}

// sizeUnit returns the bytes of B, KiB, KB, kB and so on; mega is what an M
// without an i stands for, squared: 1024 in 2.x, 1000 in 3.x.
func sizeUnit(u []byte, mega float64) float64 {
	if len(u) == 0 || u[len(u)-1] != 'B' {
		return 0
	}
	u = u[:len(u)-1]
	if len(u) == 0 {
		return 1
	}
	base := mega
	if len(u) == 2 && u[1] == 'i' || u[0] == 'K' && len(u) == 1 {
		base = 1024
	} else if len(u) != 1 {
		return 0
	}
	switch u[0] {
	case 'k', 'K':
		return base
	case 'M':
		return base * base
	case 'G':
		return base * base * base
	case 'T':
		return base * base * base * base
	case 'P':
		return base * base * base * base * base
	}
	return 0
}

// size reads an amount of bytes behind a label: "BW=1189KiB/s", "io=1204.0KB".
func size(value []byte, label string, mega float64) format.Num {
	i := bytes.Index(value, []byte(label))
	if i < 0 {
		return format.Num{}
	}
	b := bytes.TrimLeft(value[i+len(label):], " ")
	x, n := format.Number(b)
	if n == 0 || x < 0 {
		return format.Num{}
	}
	end := n
	for end < len(b) && (b[end]|0x20)-'a' <= 'z'-'a' {
		end++
	}
	unit := sizeUnit(b[n:end], mega)
	if unit == 0 {
		return format.Num{}
	}
	return format.Some(x * unit)
}

// pair reads the number behind a label, with fio's k, M and G of 1000.
func pair(value []byte, label string) format.Num {
	i := bytes.Index(value, []byte(label))
	if i < 0 {
		return format.Num{}
	}
	b := bytes.TrimLeft(value[i+len(label):], " ")
	x, n := format.Number(b)
	if n == 0 {
		return format.Num{}
	}
	if n < len(b) {
		switch b[n] {
		case 'k', 'K':
			x *= 1e3
		case 'M':
			x *= 1e6
		case 'G':
			x *= 1e9
		}
	}
	return format.Some(x)
}

// samples reads "min= 1185, max= 1185, per=85.40%, avg=1185.00, stdev= 0.00,
// samples=1".
func samples(value []byte, unit float64) *Spread {
	return Spread{pair(value, "min=").Times(unit), pair(value, "max=").Times(unit), pair(value, "avg=").Times(unit),
		pair(value, "stdev=").Times(unit), pair(value, "samples=")}.measured()
}
