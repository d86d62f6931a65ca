package sysbench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/readback"
	"github.com/tarelab/tare/record"
)

// With one sysbench for each window the answer equals sysbench's summary, and the settings say how it was
// counted.
func TestSysbenchRuns(t *testing.T) {
	t.Parallel()
	b := newBenchmark(t, 2)
	b.NoHook = true
	told, err := readback.Create()
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	b.start(told).Ready()
	var before, after counter.Snapshot
	b.Counters.Read(&before) // the trial is not counted
	if before.Ops != 0 {
		t.Errorf("%d operations that nobody asked for", before.Ops)
	}
	began := time.Now()
	a := b.Asked(1500*time.Millisecond, 0)
	took := time.Since(began).Seconds()
	b.Counters.Read(&after)
	b.Process.Process.Signal(unix.SIGTERM)
	out := b.Wait(0)
	_, out, _ = strings.Cut(out, "Threads fairness") // of the trial
	agree(t, out, after.Ops, after.Since(&before))
	if a.Seconds < 2 || a.Seconds > took {
		t.Errorf("asked for 1.5 s, which sysbench rounds up to 2: it took %v s of %v", a.Seconds, took)
	}
	if !reportLine.MatchString(out) {
		t.Errorf("no report line in\n%s", out)
	}
	wantCounted(t, told, "one process for each window")
	nothingLeft(t, b)
}

func wantCounted(t *testing.T, told *os.File, want string) {
	t.Helper()
	list, err := readback.Read(told)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.Name == "sysbench counted" {
			if !strings.Contains(s.Got, want) {
				t.Errorf("%q, want %q", s.Got, want)
			}
			return
		}
	}
	t.Error("nobody says how it was counted")
}

// A script with its own loop has no place for the hook: the error has a hint, and following it works.
func TestSysbenchWithALoopOfItsOwn(t *testing.T) {
	t.Parallel()
	own := filepath.Join(t.TempDir(), "loop.lua")
	if err := os.WriteFile(own, []byte(`
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT 1") end
function thread_run(id)
   local C = require("ffi").C
   while C.sb_more_events(id) do C.sb_event_start(id) event() C.sb_event_stop(id) end
end
`), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBenchmark(t, 2)
	b.Script = own
	b.start().Wait(1)
	if _, note := b.Counters.State(); !strings.Contains(note, "hook=off") {
		t.Errorf("no remedy: %q", note)
	}
	b = newBenchmark(t, 2)
	b.Script, b.NoHook = own, true
	b.start().Ready().Asked(time.Second, 0)
	if b.Counters.Ops() < 100 {
		t.Errorf("%d operations", b.Counters.Ops())
	}
	b.Process.Process.Signal(unix.SIGTERM)
	b.Wait(0)
}

// With one sysbench for each window, faults end the load before it is ready.
func TestSysbenchRunsFaults(t *testing.T) {
	t.Parallel()
	b := newBenchmark(t, 2)
	b.NoHook, b.Tables = true, 3
	b.start().Wait(1)
	if _, note := b.Counters.State(); !strings.Contains(note, "sbtest3' doesn't exist") {
		t.Errorf("note %q", note)
	}
	var s, zero counter.Snapshot
	if b.Counters.Read(&s); s.Since(&zero).Total() != 0 {
		t.Errorf("counted %v", record.Histogram(s.Since(&zero)))
	}
}
