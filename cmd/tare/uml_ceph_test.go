package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/cephtest"
)

const cephExperiment = `title: how far away the cluster is
budget: %s
margin: 5%%
window: 400ms
generations: 1
unequal: mark
workloads:
  commit: {kind: commit, params: {log: 1MiB}}
`

// TestUMLCeph: an RBD image and a CephFS by the kernel's clients against a directory of this
// machine, without and with a delay between the machine and the cluster. A commit takes longer by
// the delay twice: there and back. The cluster's own share may double beside that: its processes and the machine
// share CPUs with whatever else runs.
func TestUMLCeph(t *testing.T) {
	c := cephtest.Reach(t)
	volumes := []string{"bind", "rbd:" + cephtest.Pool + "/tare", "cephfs:data:/"}
	const delay = 10 * time.Millisecond
	most := map[string]time.Duration{}
	for _, by := range []time.Duration{0, delay} {
		c.Delay(by)
		budget := 30 * time.Second
		if by > 0 {
			budget = time.Minute // a launch alone takes a quarter of it
		}
		p := plant(t, fmt.Sprintf(cephExperiment, budget), volumes...)
		for _, kind := range []string{"rbd", "cephfs"} {
			arm := p.arm(kind)
			least, longest := p.longer(arm)
			t.Logf("%s: a commit takes %v to %v longer with a delay of %v in each direction", arm, least, longest, by)
			if by == 0 {
				most[kind] = longest
			} else if longest < 2*delay || least > 2*delay+2*most[kind] {
				t.Errorf("%s: a commit takes %v to %v longer, %v were planted, and up to %v are its own", arm, least, longest, 2*delay, most[kind])
			}
			if kind == "rbd" && !strings.Contains(p.setting(arm, "volume.mapping"), "osd_request_timeout") {
				t.Errorf("volume.mapping is %q", p.setting(arm, "volume.mapping"))
			}
		}
	}
	c.Delay(0)
	cleanCeph(t)
}

// stores are the two fates of the one store of a cluster, which is killed: it comes back when the
// first requests have ended with errors, or not while the run goes on.
var stores = []struct {
	fault
	options string // of the image
}{
	{fault{name: "back", within: 30 * time.Second}, ",osd_request_timeout=20"},
	{fault{name: "never", fails: true}, ""},
}

// TestUMLCephStore: the store is killed in the middle of a run. The run ends and says so, its
// record can be read, and when the store is back nothing is left.
func TestUMLCephStore(t *testing.T) {
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			c := cephtest.Reach(t)
			s.says = []string{"input/output error", "does not answer", ") d "}
			befall(t, newOnV2(t, "uml"), s.fault, happening{
				volumes: []string{"bind", "rbd:" + cephtest.Pool + "/tare" + s.options, "cephfs:data:/"},
				strike:  c.KillStore, mend: c.StartStore, clean: func() { cleanCeph(t) },
			})
		})
	}
}

// TestUMLCephKilled: a run that is killed while its arms work on images leaves mounts, devices and
// images; cleanup removes them. Ctrl-C removes them without a cleanup.
func TestUMLCephKilled(t *testing.T) {
	cephtest.Reach(t)
	before := imagesInPool(t)
	for _, s := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
		v := startOn(t, "rbd:"+cephtest.Pool+"/image")
		if got := imagesInPool(t); len(got) != len(before)+3 {
			t.Errorf("the pool has %v, want %v and one for each arm", got, before)
		}
		v.end(s)
		if s == syscall.SIGKILL {
			v.cleanup()
		}
		if code := v.cmd.ProcessState.ExitCode(); s == syscall.SIGINT && code != 130 {
			t.Errorf("after Ctrl-C it ended with %d", code)
		}
		v.gone()
		cleanCeph(t)
		if got := imagesInPool(t); !slices.Equal(got, before) {
			t.Errorf("after %v the pool has %v, want %v", s, got, before)
		}
	}
}

func imagesInPool(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("rbd", "ls", cephtest.Pool).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// cleanCeph fails if anything is mounted or mapped.
func cleanCeph(t *testing.T) {
	t.Helper()
	if b, _ := os.ReadFile("/proc/self/mountinfo"); strings.Contains(string(b), " ceph ") {
		t.Errorf("left mounted: %s", b)
	}
	if all, _ := os.ReadDir("/sys/bus/rbd/devices"); len(all) > 0 {
		t.Errorf("left mapped: %v", all)
	}
}
