package report

import (
	"testing"

	"github.com/tarelab/tare/record"
)

// The last lines of a log stay lines.
func TestReasonsKeepTheirLines(t *testing.T) {
	b := english.leftOut(&record.Effects{Left: []record.Left{{Arm: "nat", Reason: record.InProse("the server ended\n  first words\n  last words"), Remedy: record.InProse("look")}}})
	var got []string
	for _, line := range wrap(b.items[0].text, 80) {
		s := ""
		for _, c := range line {
			s += c.text
		}
		got = append(got, s)
	}
	want := []string{"nat: the server ended", "first words", "last words", "→ look"}
	if len(got) != len(want) {
		t.Fatalf("%q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
}
