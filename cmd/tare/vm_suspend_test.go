package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

const suspendedExperiment = `title: a machine that is suspended
budget: 10m
window: 1s
workloads:
  commit: {kind: commit, params: {log: 1MiB}}
arms:
  host: {environment: host}
  cgroup: {environment: cgroup}
`

// suspend suspends the machine to memory for so many seconds; its clock wakes it.
func suspend(t *testing.T, seconds int) {
	t.Helper()
	const alarm = "/sys/class/rtc/rtc0/wakealarm"
	before, running := sched.Boottime(), sched.Monotonic()
	for _, w := range []struct{ file, text string }{{alarm, "0"}, {alarm, fmt.Sprint("+", seconds)}, {"/sys/power/state", "mem"}} {
		must(t, os.WriteFile(w.file, []byte(w.text), 0))
	}
	was := time.Duration(sched.Boottime() - before - (sched.Monotonic() - running))
	if was < time.Duration(seconds)*time.Second/2 {
		t.Fatalf("the machine was suspended for %v, want %d s", was, seconds)
	}
}

// TestVMSuspended: a step of the wall clock changes nothing in a run, and a window does not count
// in which the machine was suspended.
func TestVMSuspended(t *testing.T) {
	v := newOnV2(t, "vm")
	_, err := os.Stat("/sys/class/rtc/rtc0/wakealarm")
	testneed.Feature(t, "a clock that wakes the machine", err)
	cmd := v.tool("run", v.experiment(suspendedExperiment), "-q", "-o", v.dir)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	must(t, cmd.Start())
	text := func() string { return read(filepath.Join(v.dir, record.RecordFile)) }
	for end := time.Now().Add(5 * time.Minute); !strings.Contains(text(), `"block"`); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it measures nothing:\n%s", said.String())
		}
	}
	for _, step := range []time.Duration{26 * time.Hour, -25 * time.Hour} {
		now := unix.NsecToTimespec(time.Now().Add(step).UnixNano())
		must(t, unix.ClockSettime(unix.CLOCK_REALTIME, &now))
		time.Sleep(2 * time.Second)
	}
	before := text()
	times := 0
	for ; times < 12 && !strings.Contains(text(), record.DropSilent) && !strings.Contains(text(), record.DropLong); times++ {
		suspend(t, 12)
		time.Sleep(4300 * time.Millisecond) // until the block is written
	}
	must(t, cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait() // it was interrupted
	if strings.Contains(before, `"dropped"`) {
		t.Errorf("a step of the wall clock had a window dropped:\n%s", before)
	}
	r, err := record.Read(v.dir)
	must(t, err)
	kept, dropped := 0, map[string]int{}
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		for _, w := range l.Block.Windows {
			switch {
			case w.Dropped != "":
				dropped[w.Dropped]++
			case w.Seconds > 2:
				t.Errorf("a window of %g s is kept", w.Seconds)
			default:
				kept++
			}
		}
	}
	t.Logf("%d windows kept, dropped: %v", kept, dropped)
	gone := dropped[record.DropSilent] + dropped[record.DropLong]
	delete(dropped, record.DropAbandoned) // by the interrupt
	if gone == 0 || gone > times || len(dropped) > 2 || kept == 0 {
		t.Errorf("%d windows kept, dropped: %v, suspended %d times\n%s", kept, dropped, times, said.String())
	}
	if last := r.Lines[len(r.Lines)-1]; last.End == nil {
		t.Errorf("the last line is %+v", last)
	}
	sameGroups(t, v.groups)
	for _, left := range leftOf(runID(v.dir)) {
		t.Errorf("left: %s", left)
	}
}
