package record

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Value is one observed number, or the reason why there is none. Missing is never zero: the zero
// Value is missing, without a reason. The description of the probe or metric has the unit.
type Value struct {
	number float64
	known  bool
	reason Said
}

// Number makes a known value; NaN and infinities become missing.
func Number(x float64) Value {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return Missing(Say("not_finite"))
	}
	return Value{number: x, known: true}
}

// Missing makes a missing value.
func Missing(reason Said) Value { return Value{reason: reason} }

// Get returns the number and whether there is one.
func (v Value) Get() (float64, bool) { return v.number, v.known }

// Reason says why there is no number; nothing when there is one.
func (v Value) Reason() Said {
	if !v.known && v.reason.IsZero() {
		return Say("not_observed")
	}
	return v.reason
}

// String prints the number in its shortest form or the reason in brackets.
func (v Value) String() string {
	if v.known {
		return strconv.FormatFloat(v.number, 'g', -1, 64)
	}
	return "(" + v.Reason().String() + ")"
}

// MarshalJSON writes a bare number, or {"missing": reason}.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.known {
		return strconv.AppendFloat(nil, v.number, 'g', -1, 64), nil
	}
	return json.Marshal(struct {
		Missing Said `json:"missing"`
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
		Missing Said `json:"missing"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return fmt.Errorf("value is neither a number nor {\"missing\": reason}: %s", b)
	}
	*v = Missing(m.Missing)
	return nil
}
