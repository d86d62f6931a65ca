package record_test

import (
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/record"
)

// What is said is the same after it was written and read.
func TestSaidIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		why := record.InProse(rapid.String().Draw(t, "why"))
		s := record.Say(rapid.StringMatching(`(?s).+`).Draw(t, "code"), rapid.String().Draw(t, "name"), 1, "n", rapid.IntRange(-1e9, 1e9).Draw(t, "n"), "x", rapid.Float64().Draw(t, "x"), "text", rapid.String().Draw(t, "text"),
			"why", why, "list", rapid.SliceOf(rapid.String()).Draw(t, "list"), "all", []record.Said{why, record.Say("other", "ok", true)})
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var got record.Said
		if err := json.Unmarshal(b, &got); err != nil || got != s {
			t.Fatalf("%v: %s is %v, want %v", err, b, got, s)
		}
		if x, ok := got.Value("why").(record.Said); !why.IsZero() && (!ok || x != why) {
			t.Fatalf("why is %v, want %v", x, why)
		}
	})
}

func TestSaid(t *testing.T) {
	for _, c := range []struct {
		json string
		want record.Said
	}{
		{`null`, record.Said{}}, {`""`, record.Said{}}, {`"no <quota>"`, record.InProse("no <quota>")},
		{`{"code":"few_launches","needed":4,"made":3}`, record.Say("few_launches", "needed", 4, "made", 3)},
		{` { "needed": 4, "code": "few_launches", "made": 3 } `, record.Say("few_launches", "needed", 4, "made", 3)},
	} {
		var got record.Said
		if err := json.Unmarshal([]byte(c.json), &got); err != nil || got != c.want {
			t.Errorf("%s is %v, %v, want %v", c.json, got, err, c.want)
		}
	}
	for _, bad := range []string{`7`, `[]`, `{"code":7}`} {
		if err := json.Unmarshal([]byte(bad), &record.Said{}); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
	if got := record.Say("x", "share", math.NaN()).Value("share"); got != nil {
		t.Errorf("NaN is %v", got)
	}
	b, err := json.Marshal(record.Warning{Text: record.Say("no_block")})
	if err != nil || string(b) != `{"text":{"code":"no_block"}}` {
		t.Errorf("%s, %v", b, err)
	}
}
