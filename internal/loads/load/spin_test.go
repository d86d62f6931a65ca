package load

import "testing"

func TestWorkMultipliesTheRounds(t *testing.T) {
	for _, c := range []struct {
		p    Spin
		want int
	}{{Spin{Rounds: 20000}, 20000}, {Spin{Rounds: 20000, Work: 1}, 20000}, {Spin{Rounds: 20000, Work: 1.01}, 20200}, {Spin{Rounds: 1, Work: 0.1}, 0}} {
		if got := c.p.rounds(); got != c.want {
			t.Errorf("%+v does %d rounds, want %d", c.p, got, c.want)
		}
	}
	if err := runSpin(t.Context(), counters(t, 1), params(t, Spin{Rounds: 1, Work: 0.1})); err == nil {
		t.Error("a load without work runs")
	}
}
