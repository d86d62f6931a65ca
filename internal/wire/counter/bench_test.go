package counter

import (
	"sync/atomic"
	"testing"
)

// BenchmarkOperation measures what a load pays for counting: two readings of the clock and three or four
// atomic writes to lines of its own.
func BenchmarkOperation(b *testing.B) {
	m := create(b, 1)
	slot := m.Slot(0)
	b.ReportAllocs()
	for b.Loop() {
		m.End(slot, m.Begin(slot), nil)
	}
}

func BenchmarkNow(b *testing.B) {
	m := create(b, 1)
	for b.Loop() {
		m.Now()
	}
}

func BenchmarkOperationParallel(b *testing.B) {
	m := create(b, 64)
	var next atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		slot := m.Slot(int(next.Add(1)-1) % m.Threads())
		for pb.Next() {
			m.End(slot, m.Begin(slot), nil)
		}
	})
}

// BenchmarkRead measures what tare pays for cutting a window, outside of the window.
func BenchmarkRead(b *testing.B) {
	for _, threads := range []int{1, 4, 16} {
		b.Run(map[int]string{1: "1 thread", 4: "4 threads", 16: "16 threads"}[threads], func(b *testing.B) {
			m := create(b, threads)
			var s Snapshot
			b.ReportAllocs()
			for b.Loop() {
				m.Read(&s)
			}
		})
	}
}
