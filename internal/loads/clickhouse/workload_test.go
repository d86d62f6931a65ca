package clickhouse_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tarelab/tare/internal/databases/clickhouse"
	"github.com/tarelab/tare/internal/databases/serve"
	driver "github.com/tarelab/tare/internal/loads/clickhouse"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/testing/workloadtest"
)

func TestClickHouse(t *testing.T) {
	t.Parallel()
	_, err := serve.Find(t.Context(), clickhouse.Name, "", "")
	testneed.Feature(t, "clickhouse", err)
	file := filepath.Join(t.TempDir(), "queries.sql")
	if err := os.WriteFile(file, []byte("-- mine\n\nSELECT count() FROM hits;\nSELECT 1 FORMAT Null\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, fast := range map[string]map[string]string{
		"outside": {"rows": "20000", "concurrency": "3"},
		"inside":  {"rows": "20000", "client": "inside", "max_threads": "1", "use_uncompressed_cache": "on"},
		"a file":  {"rows": "20000", "queries": file, "client": "inside", "server_options": "--max_open_files=5000"},
		"inline":  {"rows": "20000", "queries": "SELECT max(Duration) FROM hits; SELECT * FROM system.numbers LIMIT 1000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			workloadtest.Run(t, driver.Workload{}, fast)
		})
	}
}

func TestClickHouseRefuses(t *testing.T) {
	for _, bad := range []map[string]string{
		{"queries": "hist"},
		{"queries": "; ; "},
		{"queries": "  "},
		{"server_options": "--http_port=1"},
		{"server_options": "--logger.level=trace"},
		{"server_options": "--http_port"},
		{"use_uncompressed_cache": "1"},
		{"max_threads": "0"},
		{"mark_cache_size": "lots"},
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
