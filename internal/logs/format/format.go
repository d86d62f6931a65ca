// Package format is what the readers of logs share. It recognises which tool wrote a file, splits input
// into lines, JSON documents and numbers at the speed of a disk, and has their warnings and errors.
//
// A reader streams: it gets bytes and returns figures in base units (seconds, bytes, operations,
// ratios). It must not know arms, windows or statistics, and must not guess: an uncertain figure is
// missing, with a Warning.
package format

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// Num is a number that may be missing. The zero value is missing. A Num is never NaN or infinite.
type Num struct {
	x  float64
	ok bool
}

// Some makes a known number; NaN and infinities become missing.
func Some(x float64) Num {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return Num{}
	}
	return Num{x, true}
}

// Given converts a JSON number; nil is missing.
func Given(x *float64) Num {
	if x == nil {
		return Num{}
	}
	return Some(*x)
}

// Get returns the number and whether there is one.
func (n Num) Get() (float64, bool) { return n.x, n.ok }

// Known reports whether there is a number.
func (n Num) Known() bool { return n.ok }

// Is reports whether the number is known and equal to x.
func (n Num) Is(x float64) bool { return n.ok && n.x == x }

// Times returns the number times f.
func (n Num) Times(f float64) Num {
	if !n.ok {
		return n
	}
	return Some(n.x * f)
}

// Over returns the number divided by f. It rounds better than Times(1/f): 28.28 over 1000 is 0.02828.
func (n Num) Over(f float64) Num {
	if !n.ok {
		return n
	}
	return Some(n.x / f)
}

// NonZero makes a zero missing: a latency printed as 0.00 is below the printed resolution, or there was
// no operation. Negative numbers stay; observed.Run warns about them.
func (n Num) NonZero() Num {
	if n.x == 0 {
		return Num{}
	}
	return n
}

// Value converts the number to a record's value; reason is for a missing one.
func (n Num) Value(reason record.Said) record.Value {
	if !n.ok {
		return record.Missing(reason)
	}
	return record.Number(n.x)
}

// IsZero reports that the number is missing, for `json:",omitzero"`.
func (n Num) IsZero() bool { return !n.ok }

// String prints the number in its shortest form, or a dash.
func (n Num) String() string {
	if !n.ok {
		return "-"
	}
	return strconv.FormatFloat(n.x, 'g', -1, 64)
}

// MarshalJSON writes the number or null.
func (n Num) MarshalJSON() ([]byte, error) {
	if !n.ok {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, n.x, 'g', -1, 64), nil
}

// Quantile is a quantile of a latency distribution.
type Quantile struct {
	Q       float64 `json:"q"` // share of the operations, 0 to 1
	Seconds Num     `json:"seconds"`
}

// Share converts a percentile to a share without rounding errors: 99.99 is exactly 0.9999.
func Share(percent float64) float64 { return math.Round(percent*1e8) / 1e10 }

// At finds the quantile q in a list; missing if it is not there.
func At(list []Quantile, q float64) Num {
	for _, p := range list {
		if math.Abs(p.Q-q) < 1e-9 {
			return p.Seconds
		}
	}
	return Num{}
}

// Percentiles converts values by percentile, in units of 1/scale seconds, to sorted quantiles. It leaves
// out keys that are no percentile greater than above (some tools pad with "0.00"), and nil values.
func Percentiles(values map[string]*float64, above, scale float64) []Quantile {
	var out []Quantile
	for key, x := range values {
		if p, ok := Whole([]byte(key)).Get(); ok && p > above && p <= 100 && x != nil {
			out = append(out, Quantile{Share(p), Some(*x).Over(scale)})
		}
	}
	slices.SortFunc(out, func(a, b Quantile) int { return cmp.Or(cmp.Compare(a.Q, b.Q), cmp.Compare(a.Seconds.x, b.Seconds.x)) })
	return out
}

// Bin is one bin of a latency histogram: Count operations took about Seconds. The fields that hold bins
// say how wide they are.
type Bin struct {
	Seconds float64 `json:"seconds"`
	Count   uint64  `json:"count"`
}

// Warning is a caveat about figures, with a remedy. Line counts from 1; 0 is the whole input.
type Warning struct {
	Line   int         `json:"line,omitempty"`
	Text   record.Said `json:"text"`
	Remedy record.Said `json:"remedy,omitzero"`
}

// String writes the warning on one line, in English.
func (w Warning) String() string {
	s := said.English(w.Text)
	if w.Line > 0 {
		s = inLine(w.Line, s)
	}
	if !w.Remedy.IsZero() {
		s += " (" + said.English(w.Remedy) + ")"
	}
	return s
}

// maxWarnings bounds the warnings about one file.
const maxWarnings = 50

// Warnings collects warnings; the zero value is ready.
type Warnings struct {
	list []Warning
	seen map[record.Said]bool
	more int
}

// Add adds a warning; beyond maxWarnings it only counts.
func (w *Warnings) Add(line int, text, remedy record.Said) {
	if len(w.list) >= maxWarnings {
		w.more++
		return
	}
	w.list = append(w.list, Warning{line, text, remedy})
}

// Once adds a warning unless there is one with the same text.
func (w *Warnings) Once(line int, text, remedy record.Said) {
	if w.seen[text] {
		return
	}
	if w.seen == nil {
		w.seen = map[record.Said]bool{}
	}
	w.seen[text] = true
	w.Add(line, text, remedy)
}

// List returns the warnings; the last says how many were only counted.
func (w *Warnings) List() []Warning {
	if w.more == 0 {
		return w.list
	}
	return append(w.list[:len(w.list):len(w.list)], Warning{Text: moreWarnings(w.more)})
}

// Error is an error about the input. Line and Column count from 1; 0: not known, or the whole input. The
// caller adds the name of the file.
type Error struct {
	Line, Column int
	Text         string
	Remedy       string
	// Cut says that the input ended too early here. Everything before was read.
	Cut bool
}

func (e *Error) Error() string {
	s := e.Text
	switch {
	case e.Line > 0 && e.Column > 0:
		s = inColumn(e.Line, e.Column, s)
	case e.Line > 0:
		s = inLine(e.Line, s)
	}
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// nothing is the error of a reader that found no output of its tool in so many lines. other is a tool
// that was recognised in line at; nil: none.
func nothing(tool string, lines int, other *Tool, at int) error {
	e := &Error{Text: noOutput(tool, lines)}
	switch {
	case lines == 0:
		e.Text = emptyInput
		e.Remedy = checkWritten
	case other != nil:
		e.Remedy = looksLike(other.Name, at)
	default:
		e.Remedy = checkFormat
	}
	return e
}
