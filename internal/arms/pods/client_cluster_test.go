package pods

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/testing/environmenttest"
	"github.com/tarelab/tare/internal/undo/journal"
)

// TestClusterClient checks that with client=pod the client has a pod on the node, reaches the server and
// is frozen with it.
func TestClusterClient(t *testing.T) {
	warm(t)
	run := runID("client")
	j, err := journal.Open(t.TempDir(), run)
	if err != nil {
		t.Fatal(err)
	}
	pod := with(t, BestEffort, "image=none,client=pod")
	spec := environment.Spec{Run: run, Arm: "arm", Scratch: t.TempDir(), Journal: j, Port: 34567, Beside: []environment.Environment{pod}}
	arm, err := pod.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := arm.Close(); err != nil {
			t.Error(err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}()
	server := process(t, arm, false, "serve", arm.Place().Listen)
	awaitListening(t, arm.Place().Dial)
	for range 2 {
		p := process(t, arm, true, "dial", arm.Place().Dial)
		ended(t, p)
		if p.Exit() != (environment.Exit{}) {
			t.Errorf("the client: %+v", p.Exit())
		}
	}
	client := process(t, arm, true, "count")
	if _, err := arm.Start(t.Context(), environment.Process{Args: []string{environmenttest.Command, "token", "count"}, Outside: true}); err == nil {
		t.Error("two clients in one pod")
	}
	apart(t, server, client)
	described(t, arm)
	for _, p := range []environment.Running{client, server} {
		_ = p.Kill()
		ended(t, p)
	}
	if _, err := opened(t, with(t, BestEffort, "image=none,client=pod"), runID("none")); err == nil || !strings.Contains(hint.Of(err), "client") {
		t.Errorf("without a server: %v; %s", err, hint.Of(err))
	}
}

// described checks the arm's settings of its client, and that the client is frozen with the server.
func described(t *testing.T, arm environment.OpenArm) {
	t.Helper()
	place := arm.Place()
	if err := place.Pause.Freeze(10 * time.Second); err != nil {
		t.Error(err)
	}
	if err := place.Pause.Thaw(); err != nil {
		t.Error(err)
	}
	if s := settingsOf(t, arm); !strings.HasPrefix(s["client"], "in pod arm.client on node ") {
		t.Errorf("the client is %q", s["client"])
	}
	if cpu, err := os.ReadFile(filepath.Join(place.OutsideGroup.Dirs["cpuacct"], "cpuacct.usage")); place.OutsideGroup.Tree.V1["cpuacct"] != "" && (err != nil || strings.TrimSpace(string(cpu)) == "0") {
		t.Errorf("CPU time of the client: %s (%v)", cpu, err)
	}
	_, text := arm.Reproduction()
	if n := strings.Count(string(text), "kind: Pod"); n != 2 || !strings.Contains(string(text), "name: arm.client") {
		t.Errorf("%d pods in %s", n, text)
	}
}

// apart checks that server and client have different network namespaces and groups.
func apart(t *testing.T, a, b environment.Running) {
	t.Helper()
	seen := func(p environment.Running) (net, group string) {
		net, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", p.Pid()))
		if err != nil {
			t.Fatal(err)
		}
		groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", p.Pid()))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(groups)) {
			if strings.Contains(line, "kubepods") {
				return net, strings.TrimSpace(line)
			}
		}
		return net, ""
	}
	netA, groupA := seen(a)
	netB, groupB := seen(b)
	host, _ := os.Readlink("/proc/self/ns/net")
	if netA == netB || netA == host || netB == host {
		t.Errorf("networks %s and %s, the host's %s", netA, netB, host)
	}
	if groupA == "" || groupB == "" || groupA == groupB {
		t.Errorf("groups %q and %q", groupA, groupB)
	}
	if !strings.Contains(groupB, "burstable") {
		t.Errorf("the client is in %q", groupB)
	}
}

func awaitListening(t *testing.T, address string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}
