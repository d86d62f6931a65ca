package proc

import "testing"

func TestAutogroup(t *testing.T) {
	fs := tree(t, map[string]string{"proc/7/autogroup": "/autogroup-25 nice -3\n", "proc/8/autogroup": "/autogroup-x nice 0\n"})
	if got, err := fs.Autogroup(7); err != nil || got != (Autogroup{ID: 25, Nice: -3}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, pid := range []int{8, 9} {
		if got, err := fs.Autogroup(pid); err == nil || got != (Autogroup{}) {
			t.Errorf("of process %d: %+v, %v; want an error", pid, got, err)
		}
	}
}
