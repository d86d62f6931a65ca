package workload_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/testneed"
	"github.com/tarelab/tare/internal/workload"
	"github.com/tarelab/tare/internal/workload/workloadtest"
)

// The real tool on a real server.
func TestClickHouseBenchmark(t *testing.T) {
	testneed.Tool(t, "clickhouse-benchmark")
	testneed.Tool(t, "clickhouse-server")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	workloadtest.Run(t, workload.ClickHouseBenchmark{}, map[string]string{"rows": "20000", "concurrency": "2", "options": "--max_threads=1"})
}

// Where the tool is missing, the built-in load does the same and says so; a
// tool that was named is never replaced.
func TestClickHouseBenchmarkSubstitute(t *testing.T) {
	given := map[string]string{"concurrency": "10", "queries": "numbers", "iterations": "10000", "reconnect": "0"}
	before := maps.Clone(given)
	w, params, why := workload.ClickHouseBenchmark{}.Substitute(given, func(string) bool { return false })
	if w == nil || w.Name() != "clickhouse" || !strings.Contains(why, "not installed") || !strings.Contains(why, "clickhouse-tools") {
		t.Fatalf("%v, %q", w, why)
	}
	if !maps.Equal(given, before) {
		t.Errorf("it changed what it was given: %v", given)
	}
	v, err := workload.Complete(w, params)
	if err != nil {
		t.Fatal(err)
	}
	if v["concurrency"] != "10" || v["queries"] != "numbers" || v["client"] != "inside" {
		t.Errorf("%v", v)
	}
	if _, err := w.Stages(v); err != nil {
		t.Error(err)
	}
	for _, there := range []string{"clickhouse-benchmark", "clickhouse"} {
		if w, _, _ := (workload.ClickHouseBenchmark{}).Substitute(given, func(tool string) bool { return tool == there }); w != nil {
			t.Errorf("%s is there and was replaced", there)
		}
	}
	given["benchmark"] = "/opt/clickhouse"
	if w, _, _ := (workload.ClickHouseBenchmark{}).Substitute(given, func(string) bool { return false }); w != nil {
		t.Error("a tool that was named was replaced")
	}
}

func TestClickHouseBenchmarkRefuses(t *testing.T) {
	for _, bad := range []map[string]string{
		{"client": "outside"},
		{"options": "--password=x"},
		{"options": "--client-side-time"},
		{"benchmark": "clickhouse-benchmark"},
		{"iterations": "-1"},
		{"queries": "; ; "},
	} {
		v, err := workload.Complete(workload.ClickHouseBenchmark{}, bad)
		if err == nil {
			_, err = workload.ClickHouseBenchmark{}.Stages(v)
		}
		if err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}
