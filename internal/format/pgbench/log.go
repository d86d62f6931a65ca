package pgbench

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/tarelab/tare/internal/format"
)

// Outcome is what became of a transaction.
type Outcome byte

// The outcomes.
const (
	Done          Outcome = iota
	Skipped               // late beyond the limit, never begun
	Failed                // and not retried any more
	Serialization         // Failed, with --failures-detailed
	Deadlock              // Failed, with --failures-detailed
)

// Transaction is one line of a log made with -l.
type Transaction struct {
	Line    int        `json:"line"`
	Client  float64    `json:"client"`
	Number  float64    `json:"number"` // of the client's transactions, from 1
	Script  float64    `json:"script"` // from 0
	Time    float64    `json:"time"`   // seconds since 1970, when it ended
	Latency format.Num `json:"latency,omitzero"`
	Outcome Outcome    `json:"outcome,omitempty"`
	// Lag behind the schedule in seconds and number of retries: known where the
	// line has both. One column alone can be either.
	Lag     format.Num `json:"lag,omitzero"`
	Retries format.Num `json:"retries,omitzero"`
}

// Aggregate is one line of a log made with --aggregate-interval, by one thread.
type Aggregate struct {
	Line    int        `json:"line"`
	Time    float64    `json:"time"`  // seconds since 1970, when it began
	Count   float64    `json:"count"` // transactions
	Mean    format.Num `json:"mean,omitzero"`
	StdDev  format.Num `json:"stddev,omitzero"`
	Min     format.Num `json:"min,omitzero"`
	Max     format.Num `json:"max,omitzero"`
	LagMean format.Num `json:"lag_mean,omitzero"`
	Skipped format.Num `json:"skipped,omitzero"`
	Retried format.Num `json:"retried,omitzero"`
	Retries format.Num `json:"retries,omitzero"`
	Failed  format.Num `json:"failed,omitzero"` // with --failures-detailed, since 15
}

// Summary is a log as a whole.
type Summary struct {
	Lines    int              `json:"lines"` // that were read
	Warnings []format.Warning `json:"warnings,omitempty"`
}

// maxColumns of a log line.
const maxColumns = 17

// ParseLog reads the log of single transactions and hands every line out. An
// error of each ends the reading and is returned.
func ParseLog(r io.Reader, each func(Transaction) error) (*Summary, error) {
	return parseLines(r, "pgbench's transaction log", func(n int, line []byte) (bool, error) {
		t := Transaction{Line: n}
		if !t.read(line) {
			return false, nil
		}
		if each == nil {
			return true, nil
		}
		return true, each(t)
	})
}

// ParseAggregate reads an aggregated log and hands every line out. Threads write
// logs of their own: the same second comes once per thread.
func ParseAggregate(r io.Reader, each func(Aggregate) error) (*Summary, error) {
	return parseLines(r, "pgbench's aggregated log", func(n int, line []byte) (bool, error) {
		a := Aggregate{Line: n}
		if !a.read(line) {
			return false, nil
		}
		if each == nil {
			return true, nil
		}
		return true, each(a)
	})
}

func parseLines(r io.Reader, what string, take func(n int, line []byte) (bool, error)) (*Summary, error) {
	s, lines := &Summary{}, format.NewLines(r)
	var warn format.Warnings
	foreign := format.Foreign{Own: format.PgBench}
	bad := 0
	var err error
	for err == nil && lines.Next() {
		line := lines.Bytes()
		if lines.Torn() {
			warn.Add(lines.Number(), "the last line has no end and was left out", "")
			break
		}
		if len(line) == 0 {
			continue
		}
		ok := false
		if ok, err = take(lines.Number(), line); ok {
			s.Lines++
			continue
		}
		foreign.Look(line, lines.Number(), &warn)
		if bad++; bad == 1 {
			warn.Add(lines.Number(), "this line is not of the log and was left out, as are others like it", fmt.Sprintf("check the file: %q", line[:min(len(line), 60)]))
		}
	}
	if err == nil {
		err = lines.Err()
	}
	s.Warnings = lines.Doubts(&warn)
	if err == nil && s.Lines == 0 {
		err = format.Nothing(what, lines.Number(), foreign.First, foreign.Line)
	}
	return s, err
}

// columns reads numbers between blanks; word is the one column, if any, that
// is a word, and at its index.
func columns(line []byte, x *[maxColumns]float64) (n int, word []byte, at int) {
	at = -1
	for i := 0; i < len(line); n++ {
		for i < len(line) && line[i] == ' ' {
			i++
		}
		if i == len(line) {
			return n, word, at
		}
		if n == maxColumns {
			return 0, nil, 0
		}
		v, size := format.Number(line[i:])
		end := i + size
		if size == 0 {
			end = i + blank(line[i:])
			if at >= 0 {
				return 0, nil, 0
			}
			word, at = line[i:end], n
		}
		if v < 0 || end < len(line) && line[end] != ' ' {
			return 0, nil, 0
		}
		x[n] = v
		i = end
	}
	return n, word, at
}

func blank(b []byte) int {
	if i := bytes.IndexByte(b, ' '); i >= 0 {
		return i
	}
	return len(b)
}

// read reads "client number latency script seconds microseconds [lag] [retries]".
func (t *Transaction) read(line []byte) bool {
	var x [maxColumns]float64
	n, word, at := columns(line, &x)
	if n < 6 || n > 8 || at >= 0 && at != 2 || x[4] < 1e8 || x[5] >= 1e6 {
		return false
	}
	t.Client, t.Number, t.Script, t.Time = x[0], x[1], x[3], x[4]+x[5]/micro
	switch string(word) {
	case "":
		t.Latency = format.Some(x[2] / micro)
	case "skipped":
		t.Outcome = Skipped
	case "failed":
		t.Outcome = Failed
	case "serialization":
		t.Outcome = Serialization
	case "deadlock":
		t.Outcome = Deadlock
	default:
		return false
	}
	if n == 8 {
		t.Lag, t.Retries = format.Some(x[6]/micro), format.Some(x[7])
	}
	return true
}

// read reads "start count sum sum² min max [four of the lag [skipped [retried
// retries serialization deadlock]]]": 6 columns since 9.3, 10 or 11 with --rate,
// always 15 since 15. Times are in microseconds.
func (a *Aggregate) read(line []byte) bool {
	var x [maxColumns]float64
	n, _, at := columns(line, &x)
	if at >= 0 || n != 6 && n != 10 && n != 11 && n != 15 || x[0] < 1e8 {
		return false
	}
	a.Time, a.Count = x[0], x[1]
	if a.Count > 0 {
		mean := x[2] / a.Count
		a.Mean, a.Min, a.Max = format.Some(mean/micro), format.Some(x[4]/micro), format.Some(x[5]/micro)
		a.StdDev = deviation(x[3]/a.Count - mean*mean)
	}
	if n >= 10 && a.Count > 0 && x[9] > 0 {
		a.LagMean = format.Some(x[6] / a.Count / micro)
	}
	if n == 11 {
		a.Skipped = format.Some(x[10])
	}
	if n == 15 { // since 15 a column that was not asked for is 0
		a.Skipped, a.Retried, a.Retries = format.Some(x[10]).Positive(), format.Some(x[11]).Positive(), format.Some(x[12]).Positive()
		a.Failed = format.Some(x[13] + x[14]).Positive()
	}
	return true
}

// deviation is the square root of a variance in square microseconds; rounding
// can make a tiny one negative.
func deviation(variance float64) format.Num {
	if variance < 0 {
		return format.Num{}
	}
	return format.Some(math.Sqrt(variance) / micro)
}
