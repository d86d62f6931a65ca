package cgroup

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// While another process locks the directory the controllers stay enabled, and StillEnabled
// names the process.
func TestKeptByALock(t *testing.T) {
	testneed.Root(t) // for the extended attributes of the directory
	f := machineV2(t)
	tree := f.detect()
	g, err := tree.Make("tare-one", []string{"cpuset"})
	if err != nil {
		t.Fatal(err)
	}
	if kept := tree.StillEnabled(); kept != nil {
		t.Errorf("while the run itself uses them: %v", kept)
	}
	cmd := exec.Command(testneed.Tool(t, "flock"), "-s", f.path(cg), "sh", "-c", "echo held; read end")
	in, err := cmd.StdinPipe()
	out, oerr := cmd.StdoutPipe()
	if err != nil || oerr != nil || cmd.Start() != nil {
		t.Fatal(err, oerr)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatal(line, err)
	}
	if err := g.Remove(); err != nil {
		t.Fatal(err)
	}
	if got := f.read(cg + "/cgroup.subtree_control"); !strings.Contains(got, "cpuset") {
		t.Fatalf("disabled: %q", got)
	}
	kept := tree.StillEnabled()
	if kept == nil || !strings.Contains(kept.Said().String(), "cpuset") || len(kept.By) == 0 {
		t.Fatalf("%+v", kept)
	}
	if again := f.detect().StillEnabled(); again == nil {
		t.Error("another tare, as the doctor asks, says nothing")
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Log(err)
	}
	if kept := f.detect().StillEnabled(); kept != nil {
		t.Errorf("after the lock: %v", kept)
	}
	next, err := f.detect().Make("tare-two", []string{"memory"})
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Remove(); err != nil {
		t.Fatal(err)
	}
	if got := f.read(cg + "/cgroup.subtree_control"); strings.Contains(got, "cpuset") {
		t.Errorf("the next run left it enabled: %q", got)
	}
}
