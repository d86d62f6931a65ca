package fio

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/loads/load"
	tool "github.com/tarelab/tare/internal/logs/fio"
	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/record"
)

// spread keeps the number of operations of a bin and stays within its edges.
func TestSpread(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		// fio has 64 bins for each power of two.
		group, k := rapid.IntRange(0, 25).Draw(rt, "group"), rapid.IntRange(0, 63).Draw(rt, "bar")
		low, width := uint64(64+k)<<group, uint64(1)<<group
		count := rapid.Uint64Range(1, 1000).Draw(rt, "count")
		middle := float64(low) + float64(width)/2
		if group == 0 {
			middle = float64(low)
		}
		buckets := map[uint32]uint64{}
		spread(format.Bin{Seconds: math.Floor(middle) / 1e9, Count: count}, buckets)
		h := load.Histogram(buckets)
		if h.Total() != count {
			rt.Fatalf("%d operations of %d", h.Total(), count)
		}
		for _, b := range h.Index {
			from, to := record.BucketBounds(int(b))
			if uint64(from) < low || uint64(to) > low+max(width, 1) {
				rt.Fatalf("bucket [%d, %d) of a bar [%d, %d)", from, to, low, low+width)
			}
		}
		if q := h.Quantile(0.5) * 1e9; math.Abs(q-middle) > float64(width)/2+1 {
			rt.Fatalf("the median of one bar is %v, its middle %v", q, middle)
		}
	})
}

// The sums over fio's jobs agree with real output.
func TestReadFio(t *testing.T) {
	files, err := filepath.Glob("../../logs/fio/testdata/*plus*.json")
	if err != nil || len(files) == 0 {
		t.Skip("no output with every bin among the test data")
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		w, err := readFio(text)
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		log, err := tool.Parse(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for _, j := range log.Runs[0].Jobs {
			for _, d := range []*tool.Direction{j.Read, j.Write} {
				if d != nil {
					n, _ := d.Total.Get()
					total += n
				}
			}
		}
		if float64(w.ops) != total || w.seconds <= 0 {
			t.Errorf("%s: %d operations of %v in %v s", f, w.ops, total, w.seconds)
		}
	}
}

func TestReadFioTrouble(t *testing.T) {
	for _, text := range []string{
		"", "fio: something\n", `{"fio version": "fio-3.33", "jobs": []}`,
		`{"fio version": "fio-3.33", "jobs": [{"jobname": "a", "error": 28, "read": {"total_ios": 1, "runtime": 5, "clat_ns": {}}}]}`,
		`{"fio version": "fio-3.33", "jobs": [{"jobname": "a", "error": 0`,
	} {
		if w, err := readFio([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, w)
		}
	}
}
