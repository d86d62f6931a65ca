package cgroup

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkSwitch times the switch between two windows: one arm is frozen and confirmed, the
// next thawed. Both run the same load; "first" is the time from the thaw to the first progress
// of the thawed arm.
func BenchmarkSwitch(b *testing.B) {
	loads := []struct {
		mode string
		n    int
	}{{"sleep", 1}, {"spin", 8}, {"fdatasync", 1}}
	for _, kind := range []string{freezerV1, freezerV2} {
		for _, load := range loads {
			for _, class := range []string{"normal", "fifo"} {
				b.Run(fmt.Sprintf("%s/%s/%s", kind, load.mode, class), func(b *testing.B) {
					benchSwitch(b, kind, load.mode, load.n, class == "fifo")
				})
			}
		}
	}
}

func benchSwitch(b *testing.B, kind, mode string, n int, fifo bool) {
	tree := realTree(b)
	var arms [2]*Freezer
	var procs [2]process
	for i := range arms {
		g := makeGroup(b, tree, fmt.Sprint(i), freezer)
		for _, p := range start(b, mode, n) {
			if err := g.Add(p.Process.Pid); err != nil {
				b.Fatal(err)
			}
			procs[i] = p
		}
		f, err := newFreezer(kind, []Group{g})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { f.Thaw(); f.Close() })
		if err := f.Freeze(10 * time.Second); err != nil {
			b.Fatal(err)
		}
		arms[i] = f
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if fifo {
		setClass(b, unix.SCHED_FIFO, 10)
		defer setClass(b, unix.SCHED_NORMAL, 0)
	}
	if err := arms[1].Thaw(); err != nil {
		b.Fatal(err)
	}
	freeze, thaw, first := make([]time.Duration, 0, b.N), make([]time.Duration, 0, b.N), make([]time.Duration, 0, b.N)
	var late []time.Duration
	for i := range b.N {
		const window = 20 * time.Millisecond
		wake := time.Now()
		sleep(window)
		late = append(late, time.Since(wake)-window)
		from, to := arms[(i+1)%2], arms[i%2]
		t0 := time.Now()
		if err := from.Freeze(10 * time.Second); err != nil {
			b.Fatal(err)
		}
		t1 := time.Now()
		ticks := procs[i%2].shared[wordTicks].Load()
		if err := to.Thaw(); err != nil {
			b.Fatal(err)
		}
		t2 := time.Now()
		for procs[i%2].shared[wordTicks].Load() == ticks {
			sleep(20 * time.Microsecond)
		}
		freeze, thaw, first = append(freeze, t1.Sub(t0)), append(thaw, t2.Sub(t1)), append(first, time.Since(t2))
	}
	report(b, "freeze", freeze)
	report(b, "thaw", thaw)
	report(b, "first", first)
	report(b, "late", late)
	b.ReportMetric(0, "ns/op")
}

func report(b *testing.B, name string, d []time.Duration) {
	slices.Sort(d)
	us := func(q float64) float64 { return float64(d[int(q*float64(len(d)-1))].Nanoseconds()) / 1000 }
	b.ReportMetric(us(0.5), name+"-p50-µs")
	b.ReportMetric(us(0.99), name+"-p99-µs")
	b.ReportMetric(us(1), name+"-max-µs")
}

func setClass(b *testing.B, policy int, priority uint32) {
	b.Helper()
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: uint32(policy), Priority: priority}
	if err := unix.SchedSetAttr(0, &attr, 0); err != nil {
		b.Fatal(err)
	}
}
