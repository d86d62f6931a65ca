package plan

import (
	"testing"
	"time"
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
