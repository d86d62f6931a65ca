package pgbench_test

import (
	"testing"

	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/databases/serve"
	driver "github.com/tarelab/tare/internal/loads/pgbench"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/testing/workloadtest"
)

func TestPgbench(t *testing.T) {
	t.Parallel()
	_, err := serve.Find(t.Context(), postgres.Name, "", "")
	testneed.Feature(t, "postgres", err)
	for name, fast := range map[string]map[string]string{
		"outside":                {"scale": "1", "clients": "3", "threads": "2"},
		"inside, by its socket":  {"scale": "1", "clients": "1", "client": "inside", "connect": "socket", "script": "simple-update", "mode": "simple"},
		"inside, by TCP, writes": {"scale": "1", "client": "inside", "script": "tpcb-like", "synchronous_commit": "off", "server_options": "--work_mem=1MB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			workloadtest.Run(t, driver.Workload{}, fast)
		})
	}
}

func TestPgbenchRefuses(t *testing.T) {
	for _, bad := range []map[string]string{
		{"connect": "socket"},
		{"script": "my.sql"},
		{"options": "--client=3"},
		{"init_options": "--scale=3"},
		{"server_options": "--port=1"},
		{"server_options": "-c port=1"},
		{"fsync": "yes"},
	} {
		v, err := workload.Complete(driver.Workload{}, bad)
		if err == nil {
			_, err = driver.Workload{}.Stages(v)
		}
		if err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}
