package pods

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/testing/environmenttest"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/wire/counter"
)

// TestClusterKept checks that the pods of a remote arm live through its launches, each with new processes and
// the data as it was sent, that an arm with other data gets new pods, and that Release removes all.
func TestClusterKept(t *testing.T) {
	admin := warm(t)
	shellImage(t)
	access := target.Access
	access.PodNode, access.Image = admin.Here(t), ledImage
	use(t, access)
	run, pod := runID("kept"), Pod{QoS: BestEffort, On: target}
	j, err := journal.Open(t.TempDir(), run)
	if err != nil {
		t.Fatal(err)
	}
	spec := environment.Spec{
		Run: run, Arm: "arm", Scratch: t.TempDir(), Journal: j, Port: 34567, Keep: true,
		Data: dataSet(t, "first"), Carried: []string{"table"}, Beside: []environment.Environment{pod},
	}
	var pods []string
	for _, text := range []string{"first", "first", "second"} {
		if text == "second" {
			spec.Data = dataSet(t, text)
		}
		spec.Port++
		pods = append(pods, keptLaunch(t, pod, spec, text))
	}
	if pods[0] != pods[1] || pods[1] == pods[2] {
		t.Errorf("the pods of the launches: %v", pods)
	}
	if left := j.Left(); left == 0 {
		t.Error("the journal has nothing of the kept pods")
	}
	if err := errors.Join(pod.Release(run), pod.Release(run), j.Close()); err != nil {
		t.Error(err)
	}
	if left := j.Left(); left > 0 {
		t.Errorf("%d steps are left", left)
	}
	admin.AwaitNone(t)
}

func dataSet(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	err := errors.Join(os.WriteFile(filepath.Join(dir, "table"), []byte(text), 0o600), os.Mkdir(filepath.Join(dir, "dir"), 0o700),
		os.WriteFile(filepath.Join(dir, "dir", "old"), nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// keptLaunch is one launch of an arm: it changes its data, and its client asks its server. It returns the
// identity of the pods.
func keptLaunch(t *testing.T, pod Pod, spec environment.Spec, text string) string {
	t.Helper()
	opened, err := pod.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	arm := opened.(*remoteArm)
	for _, p := range arm.all() {
		if got := contents(t, p, "table"); got != text {
			t.Errorf("pod %s has %q, want %q", p.pod.Name, got, text)
		}
	}
	place := arm.Place()
	changed, _ := ledProcess(t, arm, false, "change", place.Volume)
	ended(t, changed)
	if got := contents(t, arm.server, "table"); got != "changed" || changed.Exit() != (environment.Exit{}) {
		t.Errorf("%q, %+v", got, changed.Exit())
	}
	server, memory := ledProcess(t, arm, false, "serve", place.Listen)
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if state, _ := memory.State(); state == counter.Ready {
			break
		}
		if environment.Ended(server) || time.Now().After(end) {
			t.Fatalf("the server is not ready: %+v", server.Exit())
		}
	}
	client, _ := ledProcess(t, arm, true, "dial", place.Dial)
	ended(t, client)
	if client.Exit() != (environment.Exit{}) {
		t.Errorf("the client: %+v", client.Exit())
	}
	if err := errors.Join(arm.Close(), arm.Close()); err != nil {
		t.Error(err)
	}
	if !environment.Ended(server) {
		t.Error("the server runs on in a closed arm")
	}
	return string(arm.server.pod.UID) + " " + string(arm.client.pod.UID)
}

// contents is a file of the data in a pod.
func contents(t *testing.T, p *remotePod, name string) string {
	t.Helper()
	var out kube.Said
	err := p.cluster.Exec(t.Context(), p.pod.Namespace, p.pod.Name, kube.Streams{Out: &out}, "/bin/sh", "-c", "head -c 100 "+filepath.Join(p.Dir, name))
	if err != nil {
		t.Error(err)
	}
	return out.String()
}

// ledProcess starts a process in a remote arm.
func ledProcess(t *testing.T, arm environment.OpenArm, outside bool, args ...string) (environment.Running, *counter.Memory) {
	t.Helper()
	m, err := counter.Create(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	p, err := arm.Start(t.Context(), environment.Process{
		Args: slices.Concat([]string{environmenttest.Command, "token"}, args), Files: []*os.File{m.File()}, Outside: outside,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, m
}
