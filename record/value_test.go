package record

import (
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestMissingIsNotZero(t *testing.T) {
	var zero Value
	if x, ok := zero.Get(); ok {
		t.Errorf("the zero value is %g, want none", x)
	}
	for _, v := range []Value{zero, Missing(InProse("no freezer")), Missing(Said{}), Number(math.NaN()), Number(math.Inf(1)), Number(math.Inf(-1))} {
		if _, ok := v.Get(); ok || v.Reason().IsZero() {
			t.Errorf("%v is a number or has no reason", v)
		}
	}
	if x, ok := Number(0).Get(); !ok || x != 0 || !Number(0).Reason().IsZero() {
		t.Error("a zero that was observed is not known")
	}
	if Number(0) == Missing(Said{}) || Number(0) == zero {
		t.Error("zero and missing are equal")
	}
}

func TestValuesRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := Missing(InProse(rapid.StringN(1, 20, -1).Draw(rt, "reason")))
		if rapid.Bool().Draw(rt, "known") {
			v = Number(rapid.Float64().Draw(rt, "number"))
		}
		b, err := json.Marshal(map[string]Value{"v": v})
		if err != nil {
			rt.Fatal(err)
		}
		var back map[string]Value
		if err := json.Unmarshal(b, &back); err != nil {
			rt.Fatalf("%s: %v", b, err)
		}
		if back["v"] != v {
			rt.Errorf("%v was written as %s and read as %v", v, b, back["v"])
		}
	})
}

func TestReadingValues(t *testing.T) {
	for text, want := range map[string]Value{
		"0":                    Number(0),
		"-1.5e-3":              Number(-0.0015),
		"null":                 {},
		`{"missing":"no PSI"}`: Missing(InProse("no PSI")),
		`{}`:                   Missing(Said{}),
	} {
		var v Value
		if err := json.Unmarshal([]byte(text), &v); err != nil || v != want {
			t.Errorf("%s was read as %v (%v), want %v", text, v, err, want)
		}
	}
	for _, text := range []string{`"3"`, `[]`, `true`, `1e999`, `{"missing":3}`} {
		var v Value
		if err := json.Unmarshal([]byte(text), &v); err == nil {
			t.Errorf("%s was read as %v", text, v)
		}
	}
	if s := Number(0.1).String() + Missing(InProse("why")).String() + (Value{}).String(); s != "0.1(why)(not_observed)" {
		t.Errorf("printed %q", s)
	}
}

// The zero value of a verdict is undecided, and so is an unknown name.
func TestVerdicts(t *testing.T) {
	for v, name := range verdictNames {
		b, err := Verdict(v).MarshalText()
		var back Verdict
		if err != nil || string(b) != name || back.UnmarshalText(b) != nil || back != Verdict(v) {
			t.Errorf("%s was written as %s and read as %v (%v)", name, b, back, err)
		}
	}
	v := Faster
	if err := v.UnmarshalText([]byte("triumph")); err != nil || v != Undecided || Verdict(0) != Undecided {
		t.Errorf("an unknown verdict is %v (%v)", v, err)
	}
	if Verdict(99).String() != "invalid" || Verdict(-1).String() != "invalid" {
		t.Error("a verdict that does not exist has a good name")
	}
}
