package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Value is one observed number, or the reason why there is none. Missing is
// never zero: the zero Value is missing, without a reason. The unit stands in
// the description of the probe or metric that the value belongs to.
type Value struct {
	number float64
	known  bool
	reason string
}

// Number makes a known value. A NaN or an infinity is not a number that
// anybody observed and becomes a missing value.
func Number(x float64) Value {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return Missing("not a finite number")
	}
	return Value{number: x, known: true}
}

// Missing makes a value that is not there, for the given reason.
func Missing(reason string) Value { return Value{reason: reason} }

// Get returns the number and whether there is one.
func (v Value) Get() (float64, bool) { return v.number, v.known }

// Reason says why there is no number; empty when there is one.
func (v Value) Reason() string {
	if !v.known && v.reason == "" {
		return "not observed"
	}
	return v.reason
}

// String prints the number in its shortest form or the reason in brackets.
func (v Value) String() string {
	if v.known {
		return strconv.FormatFloat(v.number, 'g', -1, 64)
	}
	return "(" + v.Reason() + ")"
}

// MarshalJSON writes a bare number, or {"missing": reason}.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.known {
		return strconv.AppendFloat(nil, v.number, 'g', -1, 64), nil
	}
	return json.Marshal(struct {
		Missing string `json:"missing"`
	}{v.Reason()})
}

// UnmarshalJSON reads what MarshalJSON wrote; null is a missing value.
func (v *Value) UnmarshalJSON(b []byte) error {
	if x, err := strconv.ParseFloat(string(b), 64); err == nil {
		*v = Number(x)
		return nil
	}
	if string(b) == "null" {
		*v = Value{}
		return nil
	}
	var m struct {
		Missing string `json:"missing"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return fmt.Errorf("value is neither a number nor {\"missing\": reason}: %s", b)
	}
	*v = Missing(m.Missing)
	return nil
}

// Values are observed numbers by name.
type Values map[string]Value

// UnmarshalJSON reads an object of values. A record is mostly these, so what
// MarshalJSON wrote of names and reasons without escapes is read here, and anything
// else by the library.
func (v *Values) UnmarshalJSON(b []byte) error {
	if m, ok := plainValues(b); ok {
		*v = m
		return nil
	}
	m := map[string]Value(*v)
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	*v = m
	return nil
}

// plainValues reads {"name":value,...} without white space and escapes; not ok for
// anything else.
func plainValues(b []byte) (m Values, ok bool) {
	if len(b) < 2 || b[0] != '{' || b[len(b)-1] != '}' {
		return nil, false
	}
	m = make(Values, bytes.Count(b, []byte{':'}))
	for b = b[1:]; len(b) > 1; {
		name, rest, ok := plainString(b)
		if !ok || len(rest) == 0 || rest[0] != ':' {
			return nil, false
		}
		var x Value
		if x, rest, ok = plainValue(rest[1:]); !ok || len(rest) == 0 || rest[0] != ',' && rest[0] != '}' {
			return nil, false
		}
		m[string(name)], b = x, rest[1:]
	}
	return m, true
}

// plainString is the string at the start of b, if it has no escapes, and the rest.
func plainString(b []byte) (s, rest []byte, ok bool) {
	if len(b) < 2 || b[0] != '"' {
		return nil, nil, false
	}
	end := 1 + bytes.IndexByte(b[1:], '"')
	if end < 1 || bytes.IndexByte(b[:end], '\\') >= 0 {
		return nil, nil, false
	}
	return b[1:end], b[end+1:], true
}

// plainValue is the number, or the reason for none, at the start of b.
func plainValue(b []byte) (v Value, rest []byte, ok bool) {
	if why, found := bytes.CutPrefix(b, []byte(`{"missing":`)); found {
		s, rest, ok := plainString(why)
		if !ok || len(rest) == 0 || rest[0] != '}' {
			return v, nil, false
		}
		return Missing(string(s)), rest[1:], true
	}
	end := bytes.IndexAny(b, ",}")
	if end < 0 {
		return v, nil, false
	}
	x, err := strconv.ParseFloat(string(b[:end]), 64)
	return Number(x), b[end:], err == nil
}
