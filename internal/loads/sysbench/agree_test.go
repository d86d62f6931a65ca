package sysbench_test

import (
	"math"
	"regexp"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/record"
)

// Lines that sysbench prints at its end.
var (
	totalEvents = regexp.MustCompile(`total number of events: +([0-9]+)`)
	percentile  = regexp.MustCompile(`95th percentile: +([0-9.]+)`)
	reportLine  = regexp.MustCompile(`(?m)^\[ 1s \] thds: 2 tps: [0-9.]+ qps: `)
)

func number(t *testing.T, re *regexp.Regexp, text string) float64 {
	t.Helper()
	m := re.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no %v in\n%s", re, text)
	}
	x, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// agree compares sysbench's summary with the counters. It allows 0.1 % for the operations, and for the 95th
// percentile one bucket of sysbench's histogram (1024 from 1 µs to 100 s, so 1.8 %), its rounding to
// 10 µs and that of the rank.
func agree(t *testing.T, out string, ops uint64, latency record.Histogram) {
	t.Helper()
	if events := number(t, totalEvents, out); math.Abs(float64(ops)/events-1) > 1e-3 {
		t.Errorf("counted %d operations, sysbench %v", ops, events)
	}
	theirs, ours := number(t, percentile, out)*1e-3, latency.Quantile(0.95)
	bucket, rank := math.Log(1e8)/1023, 1/float64(ops)
	low, high := latency.Quantile(0.95-rank)*math.Exp(-bucket)-5e-6, latency.Quantile(0.95+rank)*math.Exp(bucket)+5e-6
	if !(low <= theirs && theirs <= high) { // also fails if there is no latency
		t.Errorf("the 95th percentile is %v s, sysbench says %v", ours, theirs)
	}
	t.Logf("%d operations; p95 %.3f ms, sysbench %.2f ms", ops, ours*1e3, theirs*1e3)
}

// The counters agree with sysbench's summary, and its report lines are in the log.
func TestSysbenchAgrees(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"oltp_read_only", "oltp_point_select", "oltp_write_only"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			b := newBenchmark(t, 2)
			b.Script, b.Seconds = script, 2
			out := b.start().Ready().Wait(0)
			var s, zero counter.Snapshot
			b.Counters.Read(&s)
			agree(t, out, s.Ops, s.Since(&zero))
			if !reportLine.MatchString(out) {
				t.Errorf("no report line in\n%s", out)
			}
			if s.Cut != 0 || s.Errors != 0 {
				t.Errorf("%d errors, %d cut", s.Errors, s.Cut)
			}
		})
	}
}

// The counts of all slices add up to sysbench's summary; an event across a pause counts once.
func TestSysbenchSliced(t *testing.T) {
	t.Parallel()
	for _, seconds := range []int{4, 16, 64} {
		if sliced(t, seconds) > 0 {
			return
		} // sysbench ended before the first slice
	}
	t.Fatal("nothing was cut by 15 pauses in 64 s")
}

// sliced cuts the run of a sysbench into slices and returns how many events a pause interrupted.
func sliced(t *testing.T, seconds int) (cut uint64) {
	t.Helper()
	b := newBenchmark(t, 4)
	b.Seconds = seconds
	b.start().Ready()
	var before, now counter.Snapshot
	var ops, latencies uint64
	slice := func() {
		b.Counters.Read(&now)
		ops, cut, latencies = ops+now.Ops-before.Ops, cut+now.Cut-before.Cut, latencies+now.Since(&before).Total()
		before, now = now, before
	}
	for range 15 {
		time.Sleep(50 * time.Millisecond)
		b.Signal(unix.SIGSTOP)
		slice()
		time.Sleep(10 * time.Millisecond)
		b.Counters.MarkThaw()
		b.Signal(unix.SIGCONT)
	}
	out := b.Wait(0)
	slice()
	if events := number(t, totalEvents, out); float64(ops) != events {
		t.Errorf("the slices hold %d operations, sysbench did %v", ops, events)
	}
	if latencies+cut != ops || cut > 4*15 {
		t.Errorf("%d operations, %d latencies, %d cut by 15 pauses of 4 threads", ops, latencies, cut)
	}
	return cut
}
