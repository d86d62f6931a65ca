package sysbench

import (
	"bytes"
	"io"
	"runtime"
	"testing"
)

const reportLine = "[ 607s ] thds: 56 tps: 22154.20 qps: 354451.12 (r/w/o: 310143.73/0.00/44307.39) lat (ms,95%): 2.61 err/s: 0.00 reconn/s: 0.00\n"

// repeated is a reader of a log of n bytes that is not in memory.
type repeated struct {
	block []byte
	left  int64
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, io.EOF
	}
	n := copy(p, r.block[(int64(len(r.block))-r.left%int64(len(r.block)))%int64(len(r.block)):])
	r.left -= int64(n)
	return n, nil
}

func newRepeated(lines int) *repeated {
	block := bytes.Repeat([]byte(reportLine), 1000)
	return &repeated{block, int64(lines) * int64(len(reportLine))}
}

// BenchmarkSysbench reads a log to the figures of a run, on one core.
func BenchmarkSysbench(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const lines = 200_000
	b.SetBytes(lines * int64(len(reportLine)))
	b.ReportAllocs()
	for b.Loop() {
		runs, _, err := importFile("a.log", newRepeated(lines))
		if err != nil || len(runs) != 1 || !runs[0].Finish() || runs[0].Figures[0].Reports != lines {
			b.Fatal(err, len(runs))
		}
	}
}

// Memory does not grow with the log: a reader allocates the same for twenty times as many lines.
func TestMemoryDoesNotGrow(t *testing.T) {
	allocated := func(lines int) uint64 {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		if _, _, err := importFile("a.log", newRepeated(lines)); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	small, large := allocated(20_000), allocated(400_000)
	if large > small+small/2+1<<20 {
		t.Errorf("%d bytes for 20 000 lines, %d for 400 000", small, large)
	}
}
