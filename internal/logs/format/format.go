// Package format is the common ground of the packages below it, one per
// benchmark tool, which read what that tool prints: text, JSON, logs, of every
// version. It tells which tool wrote a file, cuts input into lines and numbers
// at the speed of the disk, and says how a reader complains.
//
// A reader is pure and streams: bytes in, figures out in base units (seconds,
// bytes, operations, ratios). It must not know arms, windows or statistics, and
// it must not guess: what is not certain is missing and a Warning says so.
package format

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tarelab/tare/record"
)

// Num is a number that may be missing. The zero value is missing, so nothing
// becomes a 0 by being forgotten; NaN and infinities cannot get in.
type Num struct {
	x  float64
	ok bool
}

// Some makes a known number; a NaN or an infinity becomes a missing one.
func Some(x float64) Num {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return Num{}
	}
	return Num{x, true}
}

// Given makes a number of what JSON has; nil is missing.
func Given(x *float64) Num {
	if x == nil {
		return Num{}
	}
	return Some(*x)
}

// Get returns the number and whether there is one.
func (n Num) Get() (float64, bool) { return n.x, n.ok }

// Known says whether there is a number.
func (n Num) Known() bool { return n.ok }

// Is says whether the number is there and equal to x.
func (n Num) Is(x float64) bool { return n.ok && n.x == x }

// Times returns the number times f: the step to base units.
func (n Num) Times(f float64) Num {
	if !n.ok {
		return n
	}
	return Some(n.x * f)
}

// Over returns the number divided by f; what was printed in thousandths is
// then the nearest number in units (28.28 over 1000 is 0.02828).
func (n Num) Over(f float64) Num {
	if !n.ok {
		return n
	}
	return Some(n.x / f)
}

// NonZero drops a zero: a latency printed as 0.00 is below the resolution of
// the print, or nothing happened; either way it is not a latency of zero. What is
// negative stays: whoever takes the figure names it.
func (n Num) NonZero() Num {
	if n.x == 0 {
		return Num{}
	}
	return n
}

// Value hands the number to a record; reason says why there is none.
func (n Num) Value(reason string) record.Value {
	if !n.ok {
		return record.Missing(reason)
	}
	return record.Number(n.x)
}

// IsZero says that the number is missing: `json:",omitzero"` leaves it out.
func (n Num) IsZero() bool { return !n.ok }

// String prints the shortest form or a dash.
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

// Quantile is one point of a latency distribution.
type Quantile struct {
	Q       float64 `json:"q"` // share of the operations, 0 to 1
	Seconds Num     `json:"seconds"`
}

// Share turns a percentile into a share: 99.99 is 0.9999, not a bit less.
func Share(percent float64) float64 { return math.Round(percent*1e8) / 1e10 }

// At returns the value at share q of a list of quantiles, if it has that one.
func At(list []Quantile, q float64) Num {
	for _, p := range list {
		if math.Abs(p.Q-q) < 1e-9 {
			return p.Seconds
		}
	}
	return Num{}
}

// Percentiles makes quantiles, in order, of values by percentile, of which so many
// make a second; what is no percentile, such as the "0.00" that some pad with
// (above), or has no value is left out.
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

// Bin is one bar of a latency histogram: Count operations took about Seconds.
// How wide a bar is the tool decides; it is given with each tool's field.
type Bin struct {
	Seconds float64 `json:"seconds"`
	Count   uint64  `json:"count"`
}

// Warning is something a reader of the figures has to know, with the line it
// is about (from 1; 0 is the whole input) and what can be done.
type Warning struct {
	Line   int    `json:"line,omitempty"`
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

// String is the warning on one line.
func (w Warning) String() string {
	s := w.Text
	if w.Line > 0 {
		s = fmt.Sprintf("line %d: %s", w.Line, s)
	}
	if w.Remedy != "" {
		s += " (" + w.Remedy + ")"
	}
	return s
}

// maxWarnings bounds the list: a file of rubbish earns no rubbish of its own.
const maxWarnings = 50

// Warnings collects warnings; the zero value is ready.
type Warnings struct {
	list []Warning
	seen map[string]bool
	more int
}

// Add appends a warning; beyond 50 they are only counted.
func (w *Warnings) Add(line int, text, remedy string) {
	if len(w.list) >= maxWarnings {
		w.more++
		return
	}
	w.list = append(w.list, Warning{line, text, remedy})
}

// Once adds a warning the first time its text comes up.
func (w *Warnings) Once(line int, text, remedy string) {
	if w.seen[text] {
		return
	}
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	w.seen[text] = true
	w.Add(line, text, remedy)
}

// List returns what was collected; the last entry counts what was left off.
func (w *Warnings) List() []Warning {
	if w.more == 0 {
		return w.list
	}
	return append(w.list[:len(w.list):len(w.list)], Warning{Text: fmt.Sprintf("%d more warnings were left off", w.more)})
}

// Error is input that cannot be read. Line and Column count from 1; 0 means
// that the place is not known or is the whole input. The caller adds the name
// of the file.
type Error struct {
	Line, Column int
	Text         string
	Remedy       string
	// Cut says that the input broke off here: what came before it was read.
	Cut bool
}

func (e *Error) Error() string {
	s := e.Text
	switch {
	case e.Line > 0 && e.Column > 0:
		s = fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, s)
	case e.Line > 0:
		s = fmt.Sprintf("line %d: %s", e.Line, s)
	}
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// nothing is the error of a reader that found nothing of its tool. lines is
// how many it looked at; seen is another tool that it recognised, or nil.
func nothing(tool string, lines int, seen *Tool, at int) error {
	e := &Error{Text: fmt.Sprintf("no output of %s in %d lines", tool, lines)}
	switch {
	case lines == 0:
		e.Text = "the input is empty"
		e.Remedy = "check that the benchmark's output was really written to this file"
	case seen != nil:
		e.Remedy = fmt.Sprintf("this looks like output of %s (line %d)", seen.Name, at)
	default:
		e.Remedy = "check the file: it is not in a format that is known"
	}
	return e
}
