package workload_test

import (
	"maps"
	"testing"

	"github.com/tarelab/tare/internal/loads/clickhouse"
	"github.com/tarelab/tare/internal/loads/pgbench"
	"github.com/tarelab/tare/internal/loads/redis"
	"github.com/tarelab/tare/internal/loads/sysbench"
	"github.com/tarelab/tare/internal/loads/workload"
)

// Rate covers logs that are never truncated and tables that are written to.
func TestRate(t *testing.T) {
	const mebi = 1 << 20
	for name, c := range map[string]struct {
		w    workload.Workload
		set  map[string]string
		want int64
	}{
		"binlog":               {sysbench.Workload{}, map[string]string{"script": "oltp_write_only", "threads": "4", "binlog": "on"}, 4 * (2*mebi + mebi/4)},
		"binlog, many threads": {sysbench.Workload{}, map[string]string{"script": "oltp_write_only", "threads": "100", "binlog": "on"}, 64*mebi + 25*mebi},
		"binlog, only reads":   {sysbench.Workload{}, map[string]string{"script": "oltp_read_only", "threads": "4", "binlog": "on"}, 0},
		"no binlog":            {sysbench.Workload{}, map[string]string{"script": "oltp_write_only", "threads": "4", "binlog": "off"}, mebi},
		"pgbench":              {pgbench.Workload{}, map[string]string{"clients": "8", "script": "tpcb-like"}, 2 * mebi},
		"pgbench, only reads":  {pgbench.Workload{}, map[string]string{"clients": "8", "script": "select-only"}, 0},
		"redis":                {redis.Workload{}, nil, 0},
		"appendonly":           {redis.Workload{}, map[string]string{"appendonly": "yes", "connections": "4", "size": "100B"}, 40_000 * 200},
		"appendonly, large":    {redis.Workload{}, map[string]string{"appendonly": "yes", "connections": "400", "size": "1MiB"}, 512 * mebi},
		"clickhouse":           {clickhouse.Workload{}, nil, 0},
	} {
		v, err := workload.Complete(c.w, maps.Clone(c.set))
		if err != nil {
			t.Fatal(name, err)
		}
		s, err := c.w.Stages(v)
		if err != nil || s.Rate != c.want {
			t.Errorf("%s: %d bytes a second, want %d, %v", name, s.Rate, c.want, err)
		}
	}
}

// A cache fills only as far as there is data; its list of pages has full size.
func TestMemory(t *testing.T) {
	const mebi = 1 << 20
	for _, c := range []struct {
		w       workload.Workload
		setting string
	}{{sysbench.Workload{}, "buffer_pool"}, {pgbench.Workload{}, "shared_buffers"}} {
		v, err := workload.Complete(c.w, map[string]string{c.setting: "1000M"})
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
	if n := (workload.Stages{Bytes: mebi}).Memory(mebi); n != 0 {
		t.Errorf("a load without a server's cache: %d bytes", n)
	}
}
