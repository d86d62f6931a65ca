package main

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/nfstest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

const faultExperiment = `title: what befalls a server
margin: 5%
window: 250ms
unequal: mark
workloads:
  load: `

// These are the lengths of runs. A load that has to meet a fault has launches after the fault: on a
// busy host the first launches take most of a short run.
const (
	brief = "budget: 45s\ngenerations: 2\n"
	long  = "budget: 100s\ngenerations: 8\n"
)

// These loads meet a fault: one writes over what it has, and one takes more and more room, of which
// none becomes free.
const (
	rewriting = "{kind: commit, params: {log: 1MiB}}\n"
	growing   = `{kind: command, params: {command: "dd if=/dev/zero of=grown bs=16k count=1 oflag=append conv=notrunc,fsync status=none"}}` + "\n"
)

// fault is a fault of a server in the middle of a run, and what undoes it: while the run goes on,
// or after it has ended.
type fault struct {
	name   string
	strike func(*nfstest.Away)
	mend   func(*nfstest.Away)
	within time.Duration // mended so long after; 0: when the run has ended
	says   []string      // one of them stands in the error of a run that fails
	load   string
	met    bool // the run is long and the load cannot but meet it: it is said, whatever the end
	fails  bool // the run cannot go on
}

var faults = []fault{
	{
		name: "stopped", within: 30 * time.Second, says: []string{") d "},
		strike: func(a *nfstest.Away) { a.Serve(0) }, mend: func(a *nfstest.Away) { a.Serve(4) },
	},
	{
		name: "gone", says: []string{"does not answer"},
		strike: func(a *nfstest.Away) { a.Serve(0) }, mend: func(a *nfstest.Away) { a.Serve(4) },
	},
	{
		name: "cut", says: []string{"does not answer"},
		strike: (*nfstest.Away).Cut, mend: (*nfstest.Away).Mend,
	},
	{
		name: "full", says: []string{"no space left"}, load: growing, met: true,
		strike: (*nfstest.Away).Fill, mend: (*nfstest.Away).Empty,
	},
	{
		name: "deleted", says: []string{"stale"},
		strike: func(a *nfstest.Away) {
			for _, name := range a.Names() {
				os.RemoveAll(filepath.Join(a.Dir, name))
			}
		},
		mend: func(*nfstest.Away) {},
	},
	{
		name: "withdrawn", says: []string{"stale", "permission denied"},
		strike: (*nfstest.Away).Withdraw, mend: (*nfstest.Away).Export,
	},
}

// TestUMLFaults: the run goes on, or it ends and says why; the record can be read; and when the
// server is back, tare cleanup leaves nothing here and nothing there.
func TestUMLFaults(t *testing.T) {
	testneed.Long(t, "uml")
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			server := nfstest.StartAway(t, 64)
			v := newOnV2(t, "uml")
			t.Parallel()
			befall(t, v, f, happening{
				volumes: []string{"bind", server.Volume("")},
				strike:  func() { f.strike(server) }, mend: func() { f.mend(server) },
				clean: func() { cleanNFS(t, server) },
			})
		})
	}
}

// happening is a fault of the volumes of a run.
type happening struct {
	volumes      []string
	strike, mend func()
	clean        func() // what has to hold when it is mended and cleaned up
}

// befall runs, strikes in the middle, and looks at what is there afterwards.
func befall(t *testing.T, v onV2, f fault, h happening) {
	length := brief
	if f.met {
		length = long
	}
	args := []string{"run", v.experiment(length + faultExperiment + cmp.Or(f.load, rewriting)), "-q", "-o", v.dir}
	for _, volume := range h.volumes {
		args = append(args, "--volume", volume)
	}
	cmd := v.tool(args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	hasBlock(t, v, ended)
	h.strike()
	t.Logf("struck after %.0f s", time.Since(began).Seconds())
	mended := false
	back := make(<-chan time.Time)
	if f.within > 0 {
		back = time.After(f.within)
	}
	limit := time.After(8 * time.Minute) // without Ceph's store it took 289 s
	for over := false; !over; {
		select {
		case err := <-ended:
			over = true
			t.Logf("ended after %.0f s: %v\n%s", time.Since(began).Seconds(), err, said.String())
			f.judge(t, err, said.String()+v.must("report", v.dir, "--verbose"))
		case <-back:
			h.mend()
			mended = true
		case <-limit:
			stacks(t, cmd)
			_ = cmd.Process.Kill()
			over = true
			select {
			case err := <-ended:
				t.Errorf("the run did not end: %v\n%s", err, said.String())
			case <-time.After(time.Minute): // the kernel has one of its threads
				stacks(t, cmd)
				t.Error("the run did not end, nor when it was killed")
			}
		}
	}
	if !mended {
		h.mend()
	}
	recordReads(t, v)
	cleansUp(t, v)
	h.clean()
}

// judge checks how the run ended.
func (f fault) judge(t *testing.T, err error, said string) {
	t.Helper()
	if err == nil && f.fails {
		t.Error("the run ended as if nothing had befallen it")
	}
	if err == nil && !f.met {
		return
	}
	for _, words := range f.says {
		if strings.Contains(strings.ToLower(said), words) {
			return
		}
	}
	t.Errorf("the run does not say one of %q", f.says)
}

// hasBlock waits until a block is in the record.
func hasBlock(t *testing.T, v onV2, ended <-chan error) {
	t.Helper()
	for {
		select {
		case err := <-ended:
			t.Fatalf("the run ended before anything befell its server: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
		b, _ := os.ReadFile(filepath.Join(v.dir, record.RecordFile))
		if strings.Contains(string(b), `"block"`) {
			return
		}
	}
}

// clients are words in the names of the kernel's functions for volumes on other machines.
var clients = regexp.MustCompile(`nfs|rpc|rbd|ceph`)

// stacks returns the kernel stacks of the threads that wait for a server, or for a device, when a
// process does not end.
func stacks(t *testing.T, cmd *exec.Cmd) {
	all, _ := filepath.Glob("/proc/[0-9]*/task/*/stack")
	for _, file := range all {
		b, _ := os.ReadFile(file)
		status, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "status"))
		if clients.Match(b) || bytes.Contains(status, []byte("State:\tD")) {
			name, _, _ := strings.Cut(string(status), "\n")
			t.Logf("%s %s\n%s", file, name, b)
		}
	}
	t.Logf("the run is process %d", cmd.Process.Pid)
}

// recordReads: however the run ended, its record has blocks and a report.
func recordReads(t *testing.T, v onV2) {
	t.Helper()
	r, err := record.Read(v.dir)
	if err != nil {
		t.Fatal(err)
	}
	blocks, reason := 0, ""
	for _, l := range r.Lines {
		if l.Block != nil {
			blocks++
		}
		if l.End != nil {
			reason = l.End.Reason
		}
	}
	t.Logf("%d blocks, ended: %q; left out: %+v", blocks, reason, r.Manifest.Left)
	if blocks == 0 || reason == "" {
		t.Error("the record has no blocks or no end")
	}
	t.Log(v.must("report", v.dir, "--verbose"))
}

// cleansUp: tare cleanup takes back what the run could not.
func cleansUp(t *testing.T, v onV2) {
	t.Helper()
	t.Logf("cleanup: %s", v.must("cleanup"))
	if out := v.must("cleanup"); !strings.Contains(out, "nothing to clean up") {
		t.Errorf("the second cleanup: %s", out)
	}
	for _, left := range leftOf(runID(v.dir)) {
		t.Errorf("left: %s", left)
	}
}

// cleanNFS fails if anything is left on the server, or a mount of it.
func cleanNFS(t *testing.T, server *nfstest.Away) {
	t.Helper()
	if names := server.Names(); len(names) > 0 {
		t.Errorf("the server has %v", names)
	}
	if b, _ := os.ReadFile("/proc/self/mountinfo"); strings.Contains(string(b), server.Address) {
		t.Errorf("left mounted: %s", b)
	}
}
