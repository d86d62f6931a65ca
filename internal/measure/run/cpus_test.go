package run

import "testing"

func TestBeyond(t *testing.T) {
	for _, c := range []struct {
		own, other string
		want       bool
	}{
		{"0-3", "0-3", false},
		{"0-3", "1,3", false},
		{"0", "0-3", true},
		{"0-1", "2", true},
		{"", "0-3", false},
		{"0", "", false},
		{"0", "not said by this kernel", false},
		{"what", "0", false},
	} {
		if got := beyond(c.own, c.other); got != c.want {
			t.Errorf("%q beyond %q: %v", c.other, c.own, got)
		}
	}
}
