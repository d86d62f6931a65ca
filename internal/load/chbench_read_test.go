package load

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/format"
)

// What the tool printed in every era gives operations, seconds and latencies.
// Where the files come from is said in internal/format/testdata/SOURCES.md.
func TestReadClickHouseBenchmark(t *testing.T) {
	const between = 4.5 // seconds by our own clock
	for name, want := range map[string]struct {
		era     string
		json    string
		ops     uint64
		errors  uint64
		seconds float64
		p50     float64
	}{
		"1.1.log":             {era: "1.1 to 18.x"},
		"18.16.log":           {era: "1.1 to 18.x"},
		"18.16-1-printed.log": {era: "1.1 to 18.x", json: "18.16-1-printed.json", ops: 1592, seconds: 3.004, p50: 0.003143582},
		"20.log":              {era: "20 to 23.7", ops: 80, seconds: between, p50: 0.525},
		"20-cumulative.log":   {era: "20 to 23.7", seconds: between},
		"20-errors.log":       {era: "20 to 23.7", seconds: between},
		"23.8.log":            {era: "23.8 or later"},
		"24-errors.log":       {era: "23.8 or later"},
	} {
		text := golden(t, name)
		var json []byte
		if want.json != "" {
			json = golden(t, want.json)
		}
		got, err := readClickHouseBenchmark(text, json, between)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		failed := strings.Contains(name, "errors")
		if got.era != want.era || got.ops == 0 || (got.errors > 0) != failed || !(got.seconds > 0) {
			t.Errorf("%s: %+v", name, got)
		}
		if got.latency.Total() != got.ops {
			t.Errorf("%s: %d operations, %d latencies", name, got.ops, got.latency.Total())
		}
		if want.ops != 0 && got.ops != want.ops || want.seconds != 0 && math.Abs(got.seconds/want.seconds-1) > 0.001 {
			t.Errorf("%s: %d in %v s, want %d in %v", name, got.ops, got.seconds, want.ops, want.seconds)
		}
		if p50 := got.latency.Quantile(0.5); want.p50 != 0 && math.Abs(p50/want.p50-1) > 0.01 {
			t.Errorf("%s: the median is %v s, want %v", name, p50, want.p50)
		}
	}
}

func golden(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../format/clickhouse/testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReadClickHouseBenchmarkRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":        "",
		"no report":      "Loaded 1 queries.\n",
		"an exception":   "Loaded 1 queries.\nCode: 60. DB::Exception: Table d.t doesn't exist.\n",
		"several":        string(golden(t, "24-two-servers.log")),
		"cut":            string(golden(t, "20-killed.log")),
		"of two runs":    string(golden(t, "23.8.log")) + string(golden(t, "23.8.log")),
		"another tool's": "sysbench 1.0.20\n",
	} {
		if got, err := readClickHouseBenchmark([]byte(text), nil, 1); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, err := readClickHouseBenchmark(golden(t, "18.16.log"), []byte("{"), 1); err == nil {
		t.Error("JSON that is cut was read")
	}
}

// The quantiles of the histogram are those that it was made from, and its size
// is the number of operations.
func TestFromQuantiles(t *testing.T) {
	var quantiles []format.Quantile
	for _, q := range []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999} {
		quantiles = append(quantiles, format.Quantile{Q: q, Seconds: format.Some(0.001 * math.Exp(4*q))})
	}
	for _, ops := range []uint64{1, 3, 17, 1000, 123_457} {
		h := fromQuantiles(quantiles, ops)
		if h.Total() != ops {
			t.Errorf("%d operations became %d", ops, h.Total())
		}
		if ops < 1000 {
			continue
		}
		for _, q := range quantiles[1:12] {
			want, _ := q.Seconds.Get()
			if got := h.Quantile(q.Q); math.Abs(got/want-1) > 0.03 {
				t.Errorf("%d operations: quantile %v is %v, want %v", ops, q.Q, got, want)
			}
		}
	}
	if h := fromQuantiles(nil, 10); h.Total() != 0 {
		t.Errorf("latencies without quantiles: %v", h)
	}
}
