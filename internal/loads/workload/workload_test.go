package workload_test

import (
	"testing"

	"github.com/tarelab/tare/internal/loads/fio"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/testing/workloadtest"
)

func TestMain(m *testing.M) { workloadtest.Main(m) }

// The conformance suite on tare's own loads and fio, for all parameters that change the processes.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		w    workload.Workload
		fast map[string]string
	}{
		{"oltp", workload.OLTP{}, map[string]string{"rows": "2000", "cache": "64KiB"}},
		{"oltp read_write", workload.OLTP{}, map[string]string{"rows": "2000", "mode": "read_write", "threads": "3"}},
		{"oltp special", workload.OLTP{}, map[string]string{"rows": "1000", "mode": "read_write", "rand": "special", "sync": "normal", "threads": "1"}},
		{"commit", workload.Commit{}, map[string]string{"log": "1MiB"}},
		{"commit grouped", workload.Commit{}, map[string]string{"log": "1MiB", "threads": "4"}},
		{"commit not grouped", workload.Commit{}, map[string]string{"log": "1MiB", "threads": "4", "group": "off"}},
		{"rpc", workload.RPC{}, map[string]string{"concurrency": "3", "response": "100KiB"}},
		{"rpc open", workload.RPC{}, map[string]string{"concurrency": "3", "mode": "open", "rate": "1000"}},
		{"rpc in batches", workload.RPC{}, map[string]string{"concurrency": "3", "mode": "open", "rate": "1000", "batch": "10", "rounds": "1000", "decides": "p99"}},
		{"commit reserved", workload.Commit{}, map[string]string{"log": "1MiB", "blocks": "reserved"}},
		{"command", workload.Command{}, nil},
		{"command with a number", workload.Command{}, map[string]string{
			"command": `printf 'warm 1 ms\nmean 2.5 ms\n'`, "value": `regexp:mean ([0-9.]+) ms`, "unit": "ms", "better": "lower"}},
		{"command in a shell, with files", workload.Command{}, map[string]string{
			"command": `n=$(wc -l <shell.go) || exit 3; echo "{\"n\": [$n]}"`, "shell": "on", "files": "shell.go", "value": "json:n[0]", "parallel": "3"}},
		{"fio", fio.Workload{}, map[string]string{"size": "2MiB", "iodepth": "4"}},
		{"fio with syncs", fio.Workload{}, map[string]string{
			"size": "1MiB", "rw": "randwrite", "engine": "psync", "fsync": "1", "jobs": "2", "direct": "off"}},
		{"spin", workload.Spin{}, map[string]string{"threads": "2", "rounds": "5000"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			workloadtest.Run(t, c.w, c.fast)
		})
	}
}
