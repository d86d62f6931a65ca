package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/testing/nfstest"
	"github.com/tarelab/tare/record"
)

const armsExperiment = `title: one export under a host, a container and pods
budget: 30s
margin: 5%%
window: 250ms
generations: 1
arms:
  host: {environment: host, volume: "nfs:%[1]s,vers=3,proto=tcp,wsize=65536"}
  runc: {environment: runc, volume: "nfs:%[1]s,vers=3,proto=tcp,wsize=65536"}
  pod: {environment: besteffort, volume: "nfs:%[1]s,vers=3"}
  inline: {environment: "besteffort:volume=nfs:%[1]s"}
  claim: {environment: "besteffort:volume=pvc:nfs"}
baseline: host
workloads:
  commit: {kind: commit, params: {log: 1MiB}}
`

// TestUMLArms: host and container have their data on the same export, of NFS version 3 with its
// locks, in one run. Each has a mount of its own with the options of the experiment, and the kernel
// counts the requests of each. Without a cluster pods are left out by name.
func TestUMLArms(t *testing.T) {
	v := newOnV2(t, "uml")
	server := nfstest.Start(t)
	t.Cleanup(func() { endStatd(t) }) // mount.nfs starts it for the locks of version 3
	export := "127.0.0.1:" + server.Dir
	v.must("run", v.experiment(fmt.Sprintf(armsExperiment, export)), "-q", "-o", v.dir)
	t.Log(v.must("report", v.dir, "--verbose"))
	r, err := record.Read(v.dir)
	if err != nil {
		t.Fatal(err)
	}
	p := planted{onV2: v, effects: v.effects(), manifest: r.Manifest}
	for _, arm := range []string{"host", "runc"} {
		for name, want := range map[string]string{
			"volume.fs": "nfs", "volume.options": "vers=3,", "volume.source": export, "volume.wire": "s",
		} {
			if got := p.setting(arm, name); !strings.Contains(got, want) {
				t.Errorf("%s of %s is %q, want %q in it", name, arm, got, want)
			}
		}
		if got := p.setting(arm, "volume.options"); !strings.Contains(got, "wsize=65536") || strings.Contains(got, "nolock") || !strings.Contains(got, "nosharecache") {
			t.Errorf("volume.options of %s is %q", arm, got)
		}
		// A commit is a WRITE, and a COMMIT unless the WRITE asked for stable storage.
		if requests, rtt := p.per("nfs.write.requests", arm), p.per("nfs.write.rtt", arm); !(requests >= 0.5 && rtt > 0) {
			t.Errorf("%s: %v WRITE for each commit, %v s each", arm, requests, rtt)
		}
	}
	var left []string
	for _, l := range r.Manifest.Left {
		if left = append(left, l.Arm); !strings.Contains(said.English(l.Reason), "cluster") {
			t.Errorf("left out: %+v", l)
		}
	}
	if slices.Sort(left); !slices.Equal(left, []string{"claim", "inline", "pod"}) {
		t.Errorf("left out: %v", left)
	}
	if out := v.must("cleanup"); !strings.Contains(out, "nothing to clean up") {
		t.Errorf("cleanup: %s", out)
	}
	if names := server.Names(); len(names) > 0 {
		t.Errorf("the server has %v", names)
	}
	sameGroups(t, v.groups)
}

// endStatd ends rpc.statd, the daemon of locks, which tare leaves running.
func endStatd(t *testing.T) {
	t.Helper()
	b, err := os.ReadFile("/run/rpc.statd.pid")
	if err != nil {
		t.Errorf("version 3 was mounted without its locks: %v", err)
		return
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGTERM)
	}
	if err != nil {
		t.Error(err)
	}
}
