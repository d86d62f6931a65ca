package workload

import "testing"

// A server's cache is filled by what data there is, and kept book of in whole.
func TestMemory(t *testing.T) {
	const mebi = 1 << 20
	for _, c := range []struct {
		w       Workload
		setting string
	}{{Sysbench{}, "buffer_pool"}, {Pgbench{}, "shared_buffers"}} {
		v, err := Complete(c.w, map[string]string{c.setting: "1000M"})
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.w.Stages(v)
		if err != nil {
			t.Fatal(err)
		}
		for need, want := range map[int64]int64{0: 20, 100 * mebi: 120, 5000 * mebi: 1020} {
			if got := s.Memory(need); got != want*mebi {
				t.Errorf("%s=1000M with %d MiB of data: %d MiB, want %d", c.setting, need/mebi, got/mebi, want)
			}
		}
	}
	if n := (Stages{Bytes: mebi}).Memory(mebi); n != 0 {
		t.Errorf("a load without a server's cache: %d bytes", n)
	}
}
