package counter

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/tarelab/tare/record"
)

// Windows on request between two mappings, as two processes have them.
func TestWindowsOnRequest(t *testing.T) {
	m := create(t, 1)
	o := other(t, m)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			r, ok := o.Next()
			if !ok {
				return
			}
			o.BeginWindow(r)
			o.Slot(0).Add(uint64(r.Number)*100, 1, record.Histogram{Index: []uint32{5, 9}, Count: []uint64{uint64(r.Number), 2}})
			o.AddValue(2, r.Length.Seconds())
			o.Answer(r, Answer{Seconds: r.Length.Seconds(), First: 7, FirstSeconds: r.Discard.Seconds()})
		}
	})
	var before, now Snapshot
	var sum Sum
	for i := uint32(1); i <= 20; i++ {
		m.Read(&before)
		sum = m.Value(2)
		length := time.Duration(i) * time.Second
		r := m.Ask(length, length/2)
		if !m.Began(r, 10*time.Second) {
			t.Fatal("the window did not begin")
		}
		a, ok := m.Answered(r, 10*time.Second)
		if want := (Answer{float64(i), 7, float64(i) / 2}); !ok || a != want || r.Number != i {
			t.Fatalf("window %d: %+v %v", i, a, ok)
		}
		m.Read(&now)
		h := now.Since(&before)
		if now.Ops-before.Ops != uint64(i)*100 || now.Errors-before.Errors != 1 || h.Total() != uint64(i)+2 {
			t.Fatalf("window %d: %d operations, %d latencies", i, now.Ops-before.Ops, h.Total())
		}
		if got := m.Value(2).Mean(sum); got != float64(i) {
			t.Fatalf("window %d: value %v", i, got)
		}
	}
	o.Stop()
	wg.Wait()
}

func TestNobodyAnswers(t *testing.T) {
	m := create(t, 1)
	r := m.Ask(time.Second, 0)
	if m.Began(r, 5*time.Millisecond) {
		t.Error("nobody began")
	}
	if _, ok := m.Answered(r, 5*time.Millisecond); ok {
		t.Error("nobody answered")
	}
	// One that was given up is not mistaken for the next.
	late := m.Ask(time.Second, 0)
	m.Answer(r, Answer{Seconds: 1})
	if _, ok := m.Answered(late, 5*time.Millisecond); ok {
		t.Error("the answer to the request before was taken")
	}
	if got, ok := m.Next(); !ok || got.Number != late.Number {
		t.Errorf("next is %+v", got)
	}
}

func TestValues(t *testing.T) {
	m := create(t, 1)
	var none Sum
	if s := m.Value(0); !math.IsNaN(s.Mean(none)) {
		t.Errorf("%v of nothing", s.Mean(none))
	}
	m.AddValue(MaxValues-1, 2)
	m.AddValue(MaxValues-1, -5)
	if s := m.Value(MaxValues - 1); s.Mean(none) != -1.5 || s.Count != 2 {
		t.Errorf("%+v", s)
	}
	m.head.values[0].version.Store(1) // killed in between
	m.Value(0)
}
