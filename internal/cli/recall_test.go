package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// plannedAfter is the plan of a command with what is kept in the cache.
func plannedAfter(t *testing.T, args ...string) (*runCommand, *plan.Plan) {
	t.Helper()
	r := parsedRun(t, append([]string{"run"}, args...)...)
	e, _, err := r.load()
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.plan(e, inspect.Host("/"))
	if err != nil {
		t.Fatal(err)
	}
	return r, p
}

// ran is the result of a plan whose launches took so many seconds each.
func ran(p *plan.Plan, launch float64) *record.Result {
	out := &record.Result{Plan: p.Record, Manifest: record.Manifest{Started: time.Unix(1e9, 0)}}
	out.Lines = append(out.Lines, record.Line{Run: &record.Run{}})
	at := 0.0
	for _, w := range p.Record.Workloads {
		for g := range 2 {
			at += launch
			b := &record.Block{Workload: w.Name, Generation: g}
			for _, a := range w.Arms {
				b.Windows = append(b.Windows, record.Window{Arm: a.Name, Start: at, Seconds: 0.1, Ops: 10})
				at += 0.1
			}
			out.Lines = append(out.Lines, record.Line{Block: b})
		}
	}
	return out
}

// A plan knows what a run of the same loads took, writes it down, and names a budget by it; one of other loads, or of arms that
// were not there, knows nothing of it.
func TestRecall(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	command := []string{"quick", "--workload", "rpc,oltp-read-only", "--arms", "cgroup,namespaces", "--budget", "60s"}
	r, p := plannedAfter(t, command...)
	wantText(t, "before", verdictBudget(p, messages.Catalog{}), "unknown before a first run here of oltp-read-only, rpc")
	r.remember(ran(p, 3), &record.Effects{})
	r.remember(ran(p, 3), &record.Effects{}) // the same run again, as after --continue
	_, p = plannedAfter(t, command...)
	for _, w := range p.Record.Workloads {
		if k := w.Known; k == nil || k.Runs != 1 || k.Launch < 2.99 || k.Launch > 3.01 || k.Newest != "2001-09-09T01:46:40Z" {
			t.Errorf("%s: %+v", w.Name, k)
		}
	}
	wantText(t, "after", verdictBudget(p, messages.Catalog{}), "verdicts need 4 launches of each arm: by earlier runs here a budget of about 45 s")
	if got := launchNotice(p, messages.Catalog{}); got != "" {
		t.Error(got)
	}
	_, p = plannedAfter(t, append(command[:len(command)-1:len(command)-1], "20s")...)
	wantText(t, "short", launchNotice(p, messages.Catalog{}), "room for 1 of the 4 launches", "by earlier runs here --budget 45s would do")
	_, p = plannedAfter(t, "quick", "--workload", "rpc,oltp-read-only", "--arms", "cgroup,rootfs", "--budget", "60s")
	wantText(t, "another arm", verdictBudget(p, messages.Catalog{}), "unknown before a first run here of oltp-read-only, rpc")
	_, p = plannedAfter(t, "quick", "--workload", "rpc,commit", "--arms", "cgroup", "--budget", "60s")
	wantText(t, "another load", verdictBudget(p, messages.Catalog{}), "unknown before a first run here of commit")
}

// What is kept is of one host, one version of each program, one data set and the node of the pods.
func TestSeenOf(t *testing.T) {
	_, p := plannedAfter(t, "quick", "--workload", "rpc", "--arms", "cgroup")
	l, host, programs := p.Loads[0], record.Host{Name: "a"}, []record.Program{{Name: "MariaDB", Version: "10.11"}}
	keys := map[string]bool{seenOf(p, l, programs, host).Key(): true}
	keys[seenOf(p, l, programs, record.Host{Name: "b"}).Key()] = true
	keys[seenOf(p, l, []record.Program{{Name: "MariaDB", Version: "11.4"}}, host).Key()] = true
	data := l
	data.Stages.Prepare, data.Stages.Key = func(string) workload.Task { return workload.Task{} }, "1x25000"
	keys[seenOf(p, data, programs, host).Key()] = true
	data.Stages.Key = "10x10000000"
	keys[seenOf(p, data, programs, host).Key()] = true
	p.PodNode = "n"
	keys[seenOf(p, l, programs, host).Key()] = true
	if len(keys) != 6 {
		t.Errorf("%d keys", len(keys))
	}
	p.PodNode, l.Params = "", map[string]string{"threads": "64"}
	if !keys[seenOf(p, l, programs, host).Key()] {
		t.Error("parameters are in the file, not in its name")
	}
}

// A hundred million rows that no run here has made have no time at all.
func TestPublishedSize(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	_, p := plannedAfter(t, "mysql-layers", "--set", "size=published")
	got := verdictBudget(p, messages.Catalog{})
	wantText(t, "published", got, "unknown before a first run here of read-only (up to ", " GiB of data), read-write (up to ")
	if strings.Contains(got, "about") || strings.Contains(got, "at least") || leastDeciding(p) != nil {
		t.Errorf("a time of nothing: %s", got)
	}
}
