package db

import "testing"

func TestSize(t *testing.T) {
	for s, want := range map[string]int64{"0": 0, "12": 12, "1k": 1024, "128M": 128 << 20, "2G": 2 << 30, "1T": 1 << 40, "3MiB": 3 << 20, "1kiB": 1024} {
		if got, err := Size(s); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", s, got, err, want)
		}
	}
	for _, bad := range []string{"", "M", "-1", "99999999999999999999", "9999999999T", "+", "5iB", "iB", "MiB"} {
		if n, err := Size(bad); err == nil {
			t.Errorf("%q was read as %d", bad, n)
		}
	}
}
