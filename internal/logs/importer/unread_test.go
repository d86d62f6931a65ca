package importer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/importer"
)

// The error about a tool without a reader names the tool and a remedy.
func TestToolsThatAreNotRead(t *testing.T) {
	names := map[string]string{"ycsb.txt": "YCSB", "ycsb-with-prompt.txt": "YCSB", "wrk.txt": "wrk or wrk2", "wrk2.txt": "wrk or wrk2", "ab.txt": "ab (ApacheBench)",
		"iperf3.txt": "iperf", "iperf3-json.txt": "iperf", "dd-chinese.txt": "dd", "rados-bench.txt": "rados bench", "rbd-bench.txt": "rbd bench", "hammerdb.txt": "HammerDB",
		"cassandra-stress-table.txt": "cassandra-stress", "dbench-samba.txt": "dbench of Samba", "etcd-check-perf.txt": "etcd check perf", "etcd-metrics.txt": "etcd (its metrics)",
		"pgbench-aggregate.txt": "pgbench --aggregate-interval", "jmeter.txt": "JMeter", "gatling.txt": "Gatling (a log of single requests)", "hey.txt": "hey (a log of single requests)",
		"k6-csv.txt": "k6 (a log of single requests)", "ab-gnuplot.txt": "ab (a log of single requests)", "k6-summary.txt": "k6", "memtier-json.txt": "memtier_benchmark", "vegeta-json.txt": "vegeta"}
	files, err := filepath.Glob("testdata/unread/*.txt")
	if err != nil || len(files) < 24 {
		t.Fatal(err, files)
	}
	seen := map[string]bool{}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := names[filepath.Base(path)]
		if name == "" {
			name = strings.TrimSuffix(filepath.Base(path), ".txt")
		}
		seen[name] = true
		for form, text := range map[string]string{"as it is": string(b), "Windows": strings.ReplaceAll(string(b), "\n", "\r\n"),
			"indented": "    " + strings.ReplaceAll(string(b), "\n", "\n    "), "fenced": "Here it is:\n```\n" + string(b) + "```\n",
			"HTML": "<pre><code>" + string(b) + "</code></pre>\n", "quoted": "> " + strings.ReplaceAll(strings.TrimSpace(string(b)), "\n", "\n> ") + "\n",
			"coloured": "\x1b[32m" + strings.ReplaceAll(strings.TrimSpace(string(b)), "\n", "\x1b[0m\n\x1b[32m") + "\x1b[0m\n"} {
			_, err := alone(t, put(t, "x.txt", text))
			if err == nil || !strings.Contains(err.Error(), "the output of "+name+", which is not read") || !strings.Contains(err.Error(), "tps and p95 (ms)") {
				t.Errorf("%s, %s: %v", name, form, err)
			}
		}
	}
	for _, tool := range importer.Known() {
		if tool.Kind == format.Unknown && !seen[tool.Name] {
			t.Errorf("no sample of %s", tool.Name)
		}
	}
}

// Lines of a tool without a reader, beside output that is read, are a warning.
func TestUnreadBesideRead(t *testing.T) {
	b, err := os.ReadFile("testdata/unread/dd.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(b) + pgbenchReport(100), pgbenchReport(100) + string(b)} {
		r, err := alone(t, put(t, "x.txt", text))
		if err != nil || len(r.Runs) != 1 || figure(r.Runs[0], "throughput") != 100 {
			t.Errorf("%v %+v", err, r)
		}
	}
}

// Output of a tool with a reader is never recognised as that of a tool without one.
func TestReadIsNotUnread(t *testing.T) {
	files, err := filepath.Glob("../*/testdata/*")
	if err != nil || len(files) < 100 {
		t.Fatal(err)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil || strings.HasSuffix(path, ".golden") || strings.HasSuffix(path, ".sh") || strings.HasSuffix(path, ".md") {
			continue
		}
		if f := importer.Known().Detect("x", b); f.Tool != nil && f.Tool.Kind == format.Unknown {
			t.Errorf("%s: %+v", path, f)
		}
	}
}
