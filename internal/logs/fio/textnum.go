package fio

import (
	"bytes"

	"github.com/tarelab/tare/internal/base/units"
	"github.com/tarelab/tare/internal/logs/format"
)

// latency reads "clat (usec): min=2, max=20600k, avg=942.09, stdev=3344.49" and
// "clat percentiles (usec):".
func (t *textRun) latency(j *Job, key string, value []byte) bool {
	name, unit, _ := bytes.Cut([]byte(key), []byte("("))
	scale := perSecond(bytes.TrimRight(unit, ")"))
	if scale == 0 {
		return false
	}
	label, quantiles := bytes.CutSuffix(bytes.TrimSpace(name), []byte(" percentiles"))
	into := t.named(j, string(label))
	switch {
	case quantiles:
		t.scale, t.last = scale, nil
		if into != nil {
			t.last = *into
		}
		return t.last != nil
	case !bytes.Contains(value, []byte("avg=")):
		return true // the distribution over classes, or prio statistics
	case into == nil:
		return false
	}
	*into = &Latency{Mean: count(value, "avg=").Over(scale)}
	return true
}

// named returns the field for a latency; nil: none.
func (t *textRun) named(j *Job, label string) **Latency {
	switch {
	case t.syncing && j.Sync != nil && label == "sync":
		return &j.Sync.Lat
	case t.dir == nil:
		return nil
	case label == "slat":
		return &t.dir.Slat
	case label == "clat":
		return &t.dir.Clat
	case label == "lat":
		return &t.dir.Lat
	}
	return nil
}

// percentiles reads " |  1.00th=[   39],  5.00th=[   49], ...". In 2.x, 0.00th is padding.
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

// perSecond returns how many of a unit make a second; 0: not a unit of time.
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

// numberAfter reads the number behind a label, and returns the text behind it.
func numberAfter(value []byte, label string) (x float64, rest []byte, ok bool) {
	i := bytes.Index(value, []byte(label))
	if i < 0 {
		return 0, nil, false
	}
	b := bytes.TrimLeft(value[i+len(label):], " ")
	x, n := format.Number(b)
	return x, b[n:], n > 0
}

// size reads bytes behind a label: "BW=1189KiB/s", "bw=1204.0KB/s". decimal is the base of units without
// i: 1024 in 2.x, 1000 in 3.x.
func size(value []byte, label string, decimal float64) format.Num {
	x, rest, ok := numberAfter(value, label)
	end := 0
	for end < len(rest) && (rest[end]|0x20)-'a' <= 'z'-'a' {
		end++
	}
	unit, known := units.FioText(decimal).Unit(string(rest[:end]))
	if !ok || x < 0 || !known {
		return format.Num{}
	}
	return format.Some(x * unit)
}

// count reads the number behind a label, with fio's k, M and G of 1000.
func count(value []byte, label string) format.Num {
	x, rest, ok := numberAfter(value, label)
	if !ok {
		return format.Num{}
	}
	if len(rest) > 0 {
		switch rest[0] {
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
