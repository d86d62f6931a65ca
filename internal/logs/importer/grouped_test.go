package importer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/logs/importer"
)

// written writes a file for an import.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What is wrong with several files alike is said once, with their number.
func TestAlikeWarnings(t *testing.T) {
	var words []string
	for _, arm := range []string{"host", "pod"} {
		for i := range 4 {
			text := "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nRunning the test with following options:\nNumber of threads: 4\nThreads started!\n"
			for s := range 30 {
				text += fmt.Sprintf("[ %ds ] thds: 4 tps: %d.00 qps: 20000.00 (r/w/o: 14000.00/4000.00/2000.00) lat (ms,95%%): 5.00 err/s: 0.00 reconn/s: 0.00\n", s+1, 1000+s*3%17+i)
			}
			words = append(words, arm+"="+written(t, fmt.Sprintf("%s-%d.log", arm, i), text))
		}
	}
	e := imports(t, nil, words...)
	logs, summaries := 0, 0
	for _, c := range e.Caveats {
		if strings.Contains(said.English(c.Text), "no summary") {
			logs++
		}
	}
	for _, w := range e.Warnings {
		if strings.Contains(said.English(w.Text), "and 7 more: the summary of the run that begins in line 1 is missing") && w.Arm == "" {
			summaries++
		}
	}
	if logs != 1 || summaries != 1 || len(e.Warnings) != 1 || !strings.HasPrefix(said.English(e.Caveats[1].Text), "8 logs hold report lines and no summary") {
		t.Errorf("caveats %+v, warnings %+v", e.Caveats, e.Warnings)
	}
}

// A command of hyperfine that took 0 s has no figure; the other one is an arm, also if it is the only one.
func TestZeroTimes(t *testing.T) {
	e := imports(t, nil, written(t, "hf.json", `{"results":[
		{"command":"sleep 0","mean":0,"min":0,"times":[0,0,0],"exit_codes":[0,0,0]},
		{"command":"sleep 0.1","mean":0.1,"min":0.1,"times":[0.1,0.1001,0.1002],"exit_codes":[0,0,0]}]}`))
	if len(e.Arms) != 1 || e.Arms[0].Arm != "sleep 0.1" || len(e.Warnings) != 1 || !strings.Contains(said.English(e.Warnings[0].Text), "times of 0") {
		t.Errorf("arms %+v, warnings %+v", e.Arms, e.Warnings)
	}
}

// A percentile at the end of sysbench's histogram is longer than that, and no figure.
func TestEndOfHistogram(t *testing.T) {
	text := func(ms string) string {
		return "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nRunning the test with following options:\nNumber of threads: 4\nThreads started!\n\n" +
			"SQL statistics:\n    queries performed:\n        read:                            140000\n        write:                           40000\n" +
			"        other:                           20000\n        total:                           200000\n    transactions:                        10000  (1000.00 per sec.)\n" +
			"    queries:                             200000 (20000.00 per sec.)\n    ignored errors:                      0      (0.00 per sec.)\n" +
			"    reconnects:                          0      (0.00 per sec.)\n\nGeneral statistics:\n    total time:                          10.0001s\n" +
			"    total number of events:              10000\n\nLatency (ms):\n         min:                                    0.50\n" +
			"         avg:                                    4.00\n         max:                                  200000.00\n" +
			"         95th percentile:                     " + ms + "\n         sum:                                 40000.00\n"
	}
	for ms, open := range map[string]bool{"5.00": false, "100000.00": true} {
		arms, err := importer.Arms([]string{"host=" + written(t, "a.log", text(ms)), "pod=" + written(t, "b.log", text(ms))})
		if err != nil {
			t.Fatal(err)
		}
		read, err := importer.Read(importer.Options{Arms: arms})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(printed(read.Warnings), "sysbench's histogram ends"); got != open {
			t.Errorf("%s ms: %v", ms, read.Warnings)
		}
	}
}
