package main

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/nfstest"
	"github.com/tarelab/tare/record"
)

const nfsExperiment = `title: how far away the server is
budget: 50s
margin: 5%
window: 250ms
generations: 2
unequal: mark
workloads:
  commit: {kind: commit, params: {log: 1MiB}}
`

// planted is what a test knows of the arms beforehand.
type planted struct {
	onV2
	effects  record.Effects
	manifest record.Manifest
}

// plant runs an experiment on several volumes, the first of which is the baseline.
func plant(t *testing.T, experiment string, volumes ...string) planted {
	t.Helper()
	v := newOnV2(t, "uml")
	args := []string{"run", v.experiment(experiment), "-q", "-o", v.dir}
	for _, volume := range volumes {
		args = append(args, "--volume", volume)
	}
	v.must(args...)
	p := planted{onV2: v, effects: v.effects()}
	// Beside other work there are few windows in the time of an experiment.
	for range 3 {
		if !p.undecided() {
			break
		}
		v.must("run", "--continue", v.dir, "--budget", "60s", "-q")
		p.effects = v.effects()
	}
	t.Log(v.must("report", v.dir, "--verbose"))
	r, err := record.Read(v.dir)
	if err != nil {
		t.Fatal(err)
	}
	p.manifest = r.Manifest
	if out := v.must("cleanup"); !strings.Contains(out, "nothing to clean up") {
		t.Errorf("cleanup: %s", out)
	}
	sameGroups(t, v.groups)
	return p
}

// effects returns the effects of the run so far.
func (v onV2) effects() (e record.Effects) {
	v.t.Helper()
	if err := json.Unmarshal([]byte(v.must("report", v.dir, "--format", "json")), &e); err != nil {
		v.t.Fatal(err)
	}
	return e
}

// slower says whether the whole interval of an effect is below the baseline. A verdict needs more launches
// than there is time for.
func slower(x record.Effect) bool {
	return x.Verdict != record.Invalid && x.Typical != nil && x.Typical.High < 1
}

// undecided says whether an arm's throughput may be that of the baseline.
func (p planted) undecided() bool {
	return slices.ContainsFunc(p.effects.Effects, func(x record.Effect) bool {
		return x.Metric == "throughput" && x.Verdict == record.Undecided && !slower(x) && !strings.HasPrefix(x.Arm, "twin")
	})
}

// arm returns the arm whose name contains part.
func (p planted) arm(part string) string {
	p.t.Helper()
	var names []string
	for _, a := range p.effects.Arms {
		if strings.Contains(a.Arm, part) {
			return a.Arm
		}
		names = append(names, a.Arm)
	}
	p.t.Fatalf("no arm of %q has %q in its name; left out: %+v", names, part, p.manifest.Left)
	return ""
}

// longer returns how much longer an operation of an arm takes than one of the baseline, from the
// interval of the throughput: one operation is under way at a time.
func (p planted) longer(arm string) (least, most time.Duration) {
	p.t.Helper()
	for _, x := range p.effects.Effects {
		if x.Arm != arm || x.Metric != "throughput" {
			continue
		}
		if !slower(x) {
			p.t.Errorf("%s is %v: %s", arm, x.Verdict, x.Reason)
		}
		if x.Typical == nil {
			continue
		}
		rate := p.rate(x.Baseline)
		longer := func(ratio float64) time.Duration { return p.seconds((1/ratio - 1) / rate) }
		return longer(x.Typical.High), longer(x.Typical.Low)
	}
	p.t.Fatalf("no effect of %s: %+v", arm, p.effects.Effects)
	return 0, 0
}

// seconds ends the test if there is no number: every comparison with a missing one would hold, or
// none.
func (p planted) seconds(s float64) time.Duration {
	p.t.Helper()
	if math.IsNaN(s) || math.IsInf(s, 0) {
		p.t.Fatalf("a figure is missing: arms %+v, kernel %+v", p.effects.Arms, p.effects.Kernel)
	}
	return time.Duration(s * float64(time.Second))
}

// rate returns the throughput of an arm; NaN: there is none.
func (p planted) rate(arm string) float64 {
	for _, a := range p.effects.Arms {
		if x, ok := a.Values["throughput"].Get(); a.Arm == arm && ok {
			return x
		}
	}
	return math.NaN()
}

// per returns a row of the kernel in an arm; NaN: there is none.
func (p planted) per(metric, arm string) float64 {
	for _, k := range p.effects.Kernel {
		if k.Metric == metric {
			if x, ok := k.Values[arm].Get(); ok {
				return x
			}
		}
	}
	return math.NaN()
}

// setting returns what was read back in an arm.
func (p planted) setting(arm, name string) string {
	for _, s := range p.manifest.Settings["commit/"+arm] {
		if s.Name == name {
			return s.Got
		}
	}
	return ""
}

// TestUMLNFS: a directory of this machine, an NFS server beside it, and a server whose answers take
// 2 ms more. The run finds the loss, and says that it is the wire: requests wait longer for their
// answers by the delay, as a handshake does, in which the server's disks have no part, and they do
// not wait longer before they are sent.
func TestUMLNFS(t *testing.T) {
	const delay = 2 * time.Millisecond
	near, far := nfstest.StartAway(t, 256), nfstest.StartAway(t, 256)
	far.Delay(delay)
	p := plant(t, nfsExperiment, "dir:"+t.TempDir(), near.Volume(""), far.Volume(",nconnect=2"))
	close, away := p.arm(strings.ReplaceAll(near.Address, ".", "-")), p.arm(strings.ReplaceAll(far.Address, ".", "-"))
	_, most := p.longer(close)
	least, longest := p.longer(away)
	t.Logf("a commit takes up to %v longer beside it, and %v to %v longer behind the delay of %v", most, least, longest, delay)
	waited := checkWire(t, p, close, away, delay)
	if longest < delay || least > waited+most {
		t.Errorf("a commit takes %v to %v longer: by the kernel's count a WRITE waited %v longer for its answer (%v was planted), and a server without the delay costs up to %v", least, longest, waited, delay, most)
	}
	if got := p.setting(away, "volume.options"); !strings.Contains(got, "nconnect=2") || !strings.Contains(got, "vers=4.2") {
		t.Errorf("volume.options is %q", got)
	}
	for _, server := range []*nfstest.Away{near, far} {
		if names := server.Names(); len(names) > 0 {
			t.Errorf("%s has %v", server.Address, names)
		}
	}
	if b, _ := os.ReadFile("/proc/self/mountinfo"); strings.Contains(string(b), "10.77.") {
		t.Errorf("left mounted: %s", b)
	}
}

// TestUMLOneConnection: the kernel has one connection to a server of version 4, so two ways to it are
// refused before the run, and directories on it are said to share it.
func TestUMLOneConnection(t *testing.T) {
	server := nfstest.StartAway(t, 64)
	v := newOnV2(t, "uml")
	file := v.experiment(nfsExperiment)
	asked := func(code int, says string, volumes ...string) {
		t.Helper()
		args := []string{"plan", file}
		for _, volume := range volumes {
			args = append(args, "--volume", volume)
		}
		cmd := v.tool(args...)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != code || !strings.Contains(strings.Join(strings.Fields(string(out)), " "), says) {
			t.Errorf("%q: code %d, want %d with %q: %s", volumes, cmd.ProcessState.ExitCode(), code, says, out)
		}
	}
	asked(2, "nconnect=1 and nconnect=4", server.Volume(""), server.Volume(",nconnect=4"))
	asked(2, "proto=tcp and proto=rdma", server.Volume(",proto=tcp"), server.Volume(",proto=rdma,port=20049"))
	asked(2, "in two runs", server.Volume(",proto=rdma"), server.Volume(",proto=tcp"))
	point := t.TempDir()
	if out, err := exec.Command("mount.nfs", server.Address+":"+server.Dir, point, "-o", "vers=4.2,nconnect=2").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	defer exec.Command("umount", point).Run()
	asked(2, "umount "+point, server.Volume(""))
	asked(0, "one NFS server ("+server.Address+")", "dir:"+point, server.Volume(",nconnect=2"))
	other := t.TempDir()
	if out, err := exec.Command("mount.nfs", server.Address+":"+server.Dir, other, "-o", "vers=4.2,nconnect=2,nosharecache").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	defer exec.Command("umount", other).Run()
	asked(0, "one NFS server ("+server.Address+")", "dir:"+point, "dir:"+other)
}

// checkWire checks that the delay is in the handshake and in the round trip of a WRITE, and not in
// the queue before it. Both take longer than the delay: the machine has one CPU, which sleeps until
// the answer comes. checkWire returns how much longer a WRITE waited for its answer by the kernel's
// own count, or the delay if that is more.
func checkWire(t *testing.T, p planted, near, far string, delay time.Duration) time.Duration {
	t.Helper()
	var wires [2]time.Duration
	for i, arm := range []string{near, far} {
		wires[i], _ = time.ParseDuration(p.setting(arm, "volume.wire"))
	}
	rtt := [2]float64{p.per("nfs.write.rtt", near), p.per("nfs.write.rtt", far)}
	queue := [2]float64{p.per("nfs.write.queue", near), p.per("nfs.write.queue", far)}
	t.Logf("wires %v; WRITE: rtt %v, queue %v", wires, rtt, queue)
	if d := wires[1] - wires[0]; wires[0] == 0 || d < delay*9/10 || d > 5*delay {
		t.Errorf("the wires are %v, %v was planted", wires, delay)
	}
	if d := rtt[1] - rtt[0]; !(d > 0.9*delay.Seconds() && d < 5*delay.Seconds()) {
		t.Errorf("WRITE waits %v for its answer, %v was planted", rtt, delay)
	}
	if !(queue[1] < delay.Seconds()/2) {
		t.Errorf("WRITE waits %v before it is sent", queue)
	}
	return max(delay, p.seconds(rtt[1]-rtt[0]))
}
