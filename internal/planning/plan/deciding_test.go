package plan

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// With the least budget that decides each load has room for four launches and their least time of
// measuring, and the budget of two loads is twice that of one.
func TestDeciding(t *testing.T) {
	one := reaching(3, 100)
	d, ok := one.Deciding()
	// 1 s to prepare, and four times 0.75 s of launch and two blocks of 3 x 130 ms
	if want := 8 * time.Second; !ok || d != want {
		t.Errorf("%v, want %v", d, want)
	}
	two := reaching(3, 50)
	two.Record.Budget, two.Loads = 100, append(two.Loads, two.Loads[0])
	if twice, _ := two.Deciding(); twice != 15*time.Second {
		t.Errorf("%v of two loads", twice)
	}
	for generations, want := range map[int]bool{1: false, 3: false, 4: true, 8: true} {
		one.Generations = generations
		if _, ok := one.Deciding(); ok != want {
			t.Errorf("%d launches decide: %v", generations, ok)
		}
	}
}

// A load of which something is known needs at least the time of its launches and of its data, and with the least budget it
// has room for four launches, with a second less for fewer.
func TestDecidingKnown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := reaching(rapid.IntRange(2, 12).Draw(t, "arms"), 1000)
		k := record.Known{
			Data: rapid.Float64Range(0, 4000).Draw(t, "data"), Begin: rapid.Float64Range(0.1, 100).Draw(t, "begin"),
			Launch: rapid.Float64Range(0.1, 60).Draw(t, "launch"), Slot: rapid.Float64Range(0.01, 4).Draw(t, "slot"),
		}
		l := &p.Loads[0]
		l.Known = &k
		least, ok := p.Deciding()
		if seconds := least.Seconds(); !ok || seconds < k.Data+k.Begin+3*k.Launch+8*k.Slot*float64(len(l.Arms)) {
			t.Errorf("%+v: %v", k, least)
		}
		l.Budget = least.Seconds()
		if n := p.Launches(); n != metric.LeastLaunches {
			t.Errorf("%+v: %d launches in %v", k, n, least)
		}
		if l.Budget--; p.Launches() >= metric.LeastLaunches && p.turn(l, metric.LeastLaunches).Seconds() > l.Budget {
			t.Errorf("%+v: %d launches in a second less than %v", k, p.Launches(), least)
		}
	})
}

// Windows that had many operations can be shorter where the budget is short; those with few cannot.
func TestLeastSlot(t *testing.T) {
	p := reaching(2, 100)
	l := &p.Loads[0]
	for _, c := range []struct{ perWindow, want float64 }{{0, 2}, {2, 2}, {5, 2}, {10, 1}, {2000, 0.005}} {
		l.Known = &record.Known{Slot: 2, Operations: c.perWindow / 4, Windows: 0.25}
		if got := l.leastSlot(); got != c.want {
			t.Errorf("%v operations in a window: %v s, want %v", c.perWindow, got, c.want)
		}
	}
}
