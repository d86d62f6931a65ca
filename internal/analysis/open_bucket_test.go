package analysis

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// Latencies in the last bucket are longer than 9 minutes; how long is unknown, and so is every ratio with them.
func TestOpenBucket(t *testing.T) {
	r := world{seed: 3, generations: 6, blocks: 6, effects: map[string]float64{}, windowSD: 0.01}.result()
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		for i := range l.Block.Windows {
			if w := &l.Block.Windows[i]; w.Arm == "container" {
				w.Latency = fromCounts(map[int]uint64{record.Bucket(2e6): 1900, record.Buckets - 1: 100})
			}
		}
	}
	e, err := Analyse(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"p99", "p50"} {
		x := find(e.Effects, name, "container")
		if open := name == "p99"; open != (x.Typical == nil) || open != strings.HasPrefix(said.English(x.Reason), "longer than 9 min") {
			t.Errorf("%s: %+v, %q", name, x.Typical, x.Reason)
		}
	}
	for _, a := range e.Arms {
		if _, known := a.Values["p99"].Get(); known == (a.Arm == "container") {
			t.Errorf("%s: a level of p99: %v", a.Arm, known)
		}
	}
}
