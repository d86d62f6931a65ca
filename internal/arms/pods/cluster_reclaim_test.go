package pods

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/testing/kubetest"
	"github.com/tarelab/tare/internal/undo/journal"
)

// TestClusterReclaim tests volumes that a provisioner makes for claims and removes with them.
func TestClusterReclaim(t *testing.T) {
	admin := warm(t)
	p := admin.Provisioner(t)
	t.Run("provided", func(t *testing.T) { tryProvided(t, admin, p) })
	if left, err := os.ReadDir(p.Dir); err != nil || len(left) > 0 {
		t.Errorf("left of the volumes: %v %v", left, err)
	}
}

// tryProvided tests a provisioner that makes a volume, one that refuses, and one that removes it late; the
// arm waits.
func tryProvided(t *testing.T, admin *kubetest.Admin, p kubetest.Provisioner) {
	t.Run("stays", func(t *testing.T) {
		t.Parallel()
		tryUnreclaimed(t, admin, p.Class(t, admin, "stays", map[string]string{"keep": "the array does not answer"}))
	})
	t.Run("goes", func(t *testing.T) {
		t.Parallel()
		tryReclaim(t, admin, p, p.Class(t, admin, "goes", nil))
	})
	t.Run("none is provided", func(t *testing.T) {
		t.Parallel()
		class := p.Class(t, admin, "refused", map[string]string{"refuse": "the pool is full"})
		_, err := opened(t, with(t, BestEffort, "image=none,volume=pvc:"+class), runID("refused"))
		if err == nil || !strings.Contains(err.Error(), "ProvisioningFailed") || !strings.Contains(err.Error(), "the pool is full") || !strings.Contains(hint.Of(err), "volume-size") {
			t.Fatalf("%v; %s", err, hint.Of(err))
		}
		t.Log(err, "\n", hint.Of(err))
	})
}

func tryReclaim(t *testing.T, admin *kubetest.Admin, p kubetest.Provisioner, class string) {
	arm, err := opened(t, with(t, BestEffort, "image=none,volume=pvc:"+class), runID("reclaim"))
	if err != nil {
		t.Fatal(err)
	}
	s := settingsOf(t, arm)
	t.Log(s["pod.volume"], s["pod.volume.persistent"], s["pod.volume.reclaim"], arm.Place().HostVolume)
	if s["pod.volume.reclaim"] != "Delete" || !strings.HasPrefix(arm.Place().HostVolume, p.Dir+"/") || len(admin.Volumes(t, class)) != 1 {
		t.Errorf("%v at %s", s, arm.Place().HostVolume)
	}
	if _, err := started(t, arm); err != nil {
		t.Error(err)
	}
	if err := arm.Close(); err != nil {
		t.Error(err)
	}
	// At once: Close has waited for it.
	if left := admin.Volumes(t, class); len(left) > 0 {
		t.Errorf("volumes %v outlive their arm", left)
	}
}

// tryUnreclaimed checks that tare waits for a volume that is not removed, for a limited time, and that the
// run and each cleanup report it until it is gone.
func tryUnreclaimed(t *testing.T, admin *kubetest.Admin, class string) {
	state, run := t.TempDir(), runID("stays")
	out, err := exec.Command("/proc/self/exe", unreclaimedCommand, state, t.TempDir(), run, class).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	volumes := admin.Volumes(t, class)
	if len(volumes) != 1 {
		t.Fatalf("volumes %v; %s", volumes, out)
	}
	says := func(by, text string) {
		t.Helper()
		for _, want := range []string{volumes[0], class, "after its claim (Released)", "VolumeFailedDelete", "the array does not answer"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q does not say %q", by, text, want)
			}
		}
	}
	says("the run", string(out))
	t.Log(string(out))
	report, err := journal.Undo(state, run, kinds())
	if err != nil || len(report.Failed) != 1 {
		t.Fatalf("%v %+v", err, report)
	}
	says("cleanup", report.Failed[0].Err.Error())
	if !strings.Contains(hint.Of(report.Failed[0].Err), "kubectl describe pv "+volumes[0]) {
		t.Errorf("%s", hint.Of(report.Failed[0].Err))
	}
	admin.LetGo(t, volumes[0])
	if report, err := journal.Undo(state, run, kinds()); err != nil || len(report.Failed) > 0 {
		t.Errorf("when it can be removed: %v %+v", err, report)
	}
	left, err := filepath.Glob(filepath.Join(state, "journal", "*"))
	if err != nil || len(left) > 0 || len(admin.Volumes(t, class)) > 0 {
		t.Errorf("left: %v %v %v", left, err, admin.Volumes(t, class))
	}
}

const unreclaimedCommand = "__unreclaimed"

// unreclaimed is a process that opens and closes an arm with a claim and prints the error of Close.
func unreclaimed(args []string) int {
	state, scratch, run, class := args[0], args[1], args[2], args[3]
	target.VolumeBound = 3 * time.Second
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	j, err := journal.Open(state, run)
	if err != nil {
		return fail(err)
	}
	env, err := Pod{QoS: BestEffort, On: target}.with("image=none,volume=pvc:" + class)
	if err != nil {
		return fail(err)
	}
	arm, err := env.Open(context.Background(), environment.Spec{Run: run, Arm: "arm", Scratch: scratch, Journal: j})
	if err != nil {
		return fail(err)
	}
	if err = arm.Close(); err == nil {
		return fail(errors.New("the volume is gone"))
	}
	fmt.Println(err)
	if err := j.Close(); err != nil {
		return fail(err)
	}
	return 0
}
