package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/linux/netmount/nfstest"
	"github.com/tarelab/tare/record"
)

const nfsExperiment = `title: how far away the server is
budget: 70s
margin: 5%
window: 400ms
generations: 2
workloads:
  commit: {kind: commit, params: {log: 1MiB}}
`

// TestUMLNFS: a server is reached by two addresses, one of them through a longer wire. The
// run finds what that costs, and says that it is the wire: the requests wait by the delay
// longer for their answers, as a handshake does that the server has no part in, and not
// before they are sent.
func TestUMLNFS(t *testing.T) {
	v := newOnV2(t, "uml")
	const delay = 60 * time.Millisecond
	server := nfstest.Start(t)
	server.Delay("127.0.0.2", delay)
	near, far := "nfs:127.0.0.1:"+server.Dir+",vers=3,nolock", "nfs:127.0.0.2:"+server.Dir+",vers=3,nolock"
	t.Log(v.must("plan", v.experiment(nfsExperiment), "--volume", near, "--volume", far))
	v.must("run", v.experiment(nfsExperiment), "--volume", near, "--volume", far, "-q", "-o", v.dir)
	t.Log(v.must("report", v.dir, "--verbose"))
	var e record.Effects
	if err := json.Unmarshal([]byte(v.must("report", v.dir, "--format", "json")), &e); err != nil {
		t.Fatal(err)
	}
	r, err := record.Read(v.dir)
	if err != nil {
		t.Fatal(err)
	}
	arms := farNear(t, r.Plan)
	checkWire(t, r.Manifest, arms, delay)
	checkRequests(t, e, arms, delay)
	if names := server.Names(); len(names) > 0 {
		t.Errorf("the server has %v", names)
	}
	if b, _ := os.ReadFile("/proc/self/mountinfo"); strings.Contains(string(b), server.Dir+" ") && strings.Contains(string(b), " nfs4 ") {
		t.Errorf("left mounted: %s", b)
	}
	if out := v.must("cleanup"); !strings.Contains(out, "nothing to clean up") {
		t.Errorf("cleanup: %s", out)
	}
}

// farNear is the arm behind the longer wire, and the other.
func farNear(t *testing.T, p record.Plan) (arms [2]string) {
	t.Helper()
	for _, w := range p.Workloads {
		for _, a := range w.Arms {
			switch {
			case strings.Contains(a.Name, "127-0-0-2"):
				arms[0] = a.Name
			case strings.Contains(a.Name, "127-0-0-1"):
				arms[1] = a.Name
			}
		}
	}
	if arms[0] == "" || arms[1] == "" {
		t.Fatalf("the arms are %+v", p.Workloads)
	}
	return arms
}

func checkWire(t *testing.T, m record.Manifest, arms [2]string, delay time.Duration) {
	t.Helper()
	var wires [2]time.Duration
	for i, arm := range arms {
		for _, s := range m.Settings["commit/"+arm] {
			if s.Name == "volume.wire" {
				wires[i], _ = time.ParseDuration(s.Got)
			}
			if s.Name == "volume.options" && !strings.Contains(s.Got, "nolock") {
				t.Errorf("%s: %+v", arm, s)
			}
		}
	}
	if wires[0] < delay || wires[1] == 0 || wires[1] >= wires[0] {
		t.Errorf("the wires are %v, %v was planted", wires, delay)
	}
}

func checkRequests(t *testing.T, e record.Effects, arms [2]string, delay time.Duration) {
	t.Helper()
	verdict := record.Undecided
	for _, x := range e.Effects {
		if x.Arm == arms[0] && x.Metric == "throughput" {
			verdict = x.Verdict
		}
	}
	if verdict != record.Cost {
		t.Errorf("the longer wire is %v", verdict)
	}
	per := map[string][2]float64{}
	for _, k := range e.Kernel {
		a, _ := k.Values[arms[0]].Get()
		b, _ := k.Values[arms[1]].Get()
		per[k.Metric] = [2]float64{a, b}
	}
	rtt, queue := per["nfs.write.rtt"], per["nfs.write.queue"]
	t.Logf("WRITE: rtt %v, queue %v, requests %v", rtt, queue, per["nfs.write.requests"])
	if rtt[0] < delay.Seconds() || rtt[1] == 0 || rtt[1] >= rtt[0] {
		t.Errorf("WRITE waits %v for its answer, %v was planted", rtt, delay)
	}
	if queue[0]-queue[1] > (rtt[0]-rtt[1])/2 {
		t.Errorf("WRITE waits %v before it is sent, and %v for its answer", queue, rtt)
	}
}
