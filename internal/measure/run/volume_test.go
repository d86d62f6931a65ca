package run_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/arms/layers"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// volumes is an experiment that measures commits on volumes; the first arm is the baseline.
func volumes(arms ...experiment.ArmSpec) (*experiment.Experiment, plan.Catalog) {
	for i := range arms {
		arms[i].Environment = "host"
	}
	e := &experiment.Experiment{
		Name: "volumes", Budget: 4 * time.Second, Precision: 0.001, Margin: 0.01, Seed: 1, Generations: 1,
		Volume: experiment.Volume, Unequal: experiment.Refuse, Named: arms,
		Workloads: []experiment.Workload{{
			Name: "commit", Kind: "commit", Share: 1, Baseline: arms[0].Name, Params: map[string]string{"log": "1MiB"},
		}},
	}
	return e, plan.Catalog{
		Rungs:    []plan.Rung{{Environment: layers.Host}},
		Workload: func(string) (workload.Workload, bool) { return workload.Commit{}, true },
	}
}

// nothingLeft fails if a mount, device or directory of the run exists.
func nothingLeft(t *testing.T) {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	id := strings.ToLower(t.Name())
	if strings.Contains(string(mounts), "tare-"+id) {
		t.Error("a mount is left")
	}
	for _, pattern := range []string{"/var/tmp/tare-" + id + "*", "/run/tare/tare-" + id + "*", "/sys/block/loop*/loop/backing_file"} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			if b, _ := os.ReadFile(f); !strings.HasPrefix(f, "/sys") || strings.Contains(string(b), "tare-"+id) {
				t.Errorf("left behind: %s %s", f, b)
			}
		}
	}
}

// An arm without barriers and an arm in memory are less durable than the baseline: they are left
// out with the difference, and equal arms are compared.
func TestUnequalRefused(t *testing.T) {
	testneed.Root(t)
	e, c := volumes(experiment.ArmSpec{Name: "ext4", Options: record.Options{Volume: "loop:ext4"}}, experiment.ArmSpec{Name: "open", Options: record.Options{Volume: "loop:ext4:nobarrier"}},
		experiment.ArmSpec{Name: "memory", Options: record.Options{Volume: "tmpfs"}}, experiment.ArmSpec{Name: "disk", Options: record.Options{Volume: "bind"}})
	r, _, err := execute(context.Background(), t, e, c)
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for _, l := range r.Manifest.Left {
		reasons[l.Arm] = said.English(l.Reason) + " / " + said.English(l.Remedy)
	}
	for arm, says := range map[string]string{"open": "device's cache", "memory": "in memory"} {
		if !strings.Contains(reasons[arm], says) || !strings.Contains(reasons[arm], "--set unequal=mark") {
			t.Errorf("%s was left out for %q", arm, reasons[arm])
		}
	}
	if len(reasons) != 2 || len(r.Manifest.Unequal) > 0 {
		t.Errorf("left out: %v; unequal: %v", reasons, r.Manifest.Unequal)
	}
	found := map[string]string{}
	for _, s := range r.Manifest.Settings["commit/ext4"] {
		found[s.Name] = s.Got
	}
	if found["volume"] != "loop:ext4" || found["volume.fs"] != "ext4" || found["volume.cache"] == "" || found["durability"] != "on the device" {
		t.Errorf("the manifest says %v", found)
	}
	nothingLeft(t)
}

// With unequal=mark such arms are compared, and every result of theirs is marked.
func TestUnequalMarked(t *testing.T) {
	testneed.Root(t)
	e, c := volumes(experiment.ArmSpec{Name: "ext4", Options: record.Options{Volume: "loop:ext4"}}, experiment.ArmSpec{Name: "memory", Options: record.Options{Volume: "tmpfs"}},
		experiment.ArmSpec{Name: "disk", Options: record.Options{Volume: "bind"}})
	e.Unequal = experiment.Mark
	r, _, err := execute(context.Background(), t, e, c)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Manifest.Unequal) != 1 || r.Manifest.Unequal[0].Arm != "memory" || len(r.Manifest.Left) > 0 {
		t.Fatalf("unequal: %+v; left out: %+v", r.Manifest.Unequal, r.Manifest.Left)
	}
	effects, err := analysis.Analyse(r)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, x := range append(effects.Effects, effects.Twin...) {
		if seen++; (!x.Unequal.IsZero()) != (x.Arm == "memory") {
			t.Errorf("%s of %s is marked %q", x.Metric, x.Arm, x.Unequal)
		}
	}
	if seen == 0 {
		t.Error("no effects")
	}
	nothingLeft(t)
}

// If no arm is left to compare, the run says why.
func TestNothingEqual(t *testing.T) {
	testneed.Root(t)
	e, c := volumes(experiment.ArmSpec{Name: "memory", Options: record.Options{Volume: "tmpfs"}}, experiment.ArmSpec{Name: "disk", Options: record.Options{Volume: "bind"}})
	_, _, err := execute(context.Background(), t, e, c)
	if !errors.Is(err, run.ErrUnequal) || !strings.Contains(err.Error(), "synced data of disk is on the device") {
		t.Errorf("%v", err)
	}
	nothingLeft(t)
}

// An arm whose disk is too small is left out before anything is written to that disk.
func TestDiskTooSmall(t *testing.T) {
	testneed.Root(t)
	small := t.TempDir()
	if err := unix.Mount("tmpfs", small, "tmpfs", 0, "size=3m"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Unmount(small, 0); err != nil {
			t.Error(err)
		}
	}()
	e, c := volumes(experiment.ArmSpec{Name: "disk", Options: record.Options{Volume: "bind"}}, experiment.ArmSpec{Name: "small", Options: record.Options{Volume: "dir:" + small}},
		experiment.ArmSpec{Name: "other", Options: record.Options{Volume: "bind"}}) // without it there is nothing to compare
	e.Workloads[0].Params["log"] = "16MiB"
	e.Unequal = experiment.Mark
	r, _, err := execute(context.Background(), t, e, c)
	if err != nil {
		t.Fatal(err)
	}
	want := record.Left{Workload: "commit", Arm: "small"}
	if len(r.Manifest.Left) != 1 || r.Manifest.Left[0].Arm != want.Arm || !strings.Contains(said.English(r.Manifest.Left[0].Reason), "no space left") || r.Manifest.Left[0].Remedy.IsZero() {
		t.Errorf("left out: %+v", r.Manifest.Left)
	}
	if rest, _ := os.ReadDir(small); len(rest) > 0 {
		t.Errorf("left behind: %v", rest)
	}
	nothingLeft(t)
	e, c = volumes(experiment.ArmSpec{Name: "small", Options: record.Options{Volume: "dir:" + small}}, experiment.ArmSpec{Name: "disk", Options: record.Options{Volume: "bind"}})
	e.Workloads[0].Params["log"] = "16MiB"
	if _, _, err := execute(context.Background(), t, e, c); !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "MiB are free") {
		t.Errorf("%v", err)
	}
}

// The disk under test is a directory of a database's user: root measures on it, and nothing is
// left.
func TestOnAnothersDisk(t *testing.T) {
	testneed.Root(t)
	theirs := filepath.Join(t.TempDir(), "theirs")
	if err := errors.Join(os.Mkdir(theirs, 0o700), os.Chown(theirs, 12345, 12345)); err != nil {
		t.Fatal(err)
	}
	e, c := volumes(experiment.ArmSpec{Name: "layer"}, experiment.ArmSpec{Name: "rootfs"}, experiment.ArmSpec{Name: "dir", Options: record.Options{Volume: "dir:" + theirs}})
	e.Named[1].Environment, e.Scratch = "rootfs", theirs
	c.Rungs = append(c.Rungs, plan.Rung{Environment: layers.RootFS})
	r, out, err := execute(context.Background(), t, e, c)
	if err != nil {
		t.Fatalf("%s: %v", out.Reason, err)
	}
	if len(r.Manifest.Left) > 0 {
		t.Errorf("left out: %+v", r.Manifest.Left)
	}
	for _, arm := range []string{"layer", "rootfs", "dir"} {
		if got := len(r.Manifest.Settings["commit/"+arm]); got == 0 {
			t.Errorf("%s was not measured", arm)
		}
	}
	if entries, err := os.ReadDir(theirs); err != nil || len(entries) > 0 {
		t.Errorf("left: %v %v", entries, err)
	}
	nothingLeft(t)
}

// The owner of the directory that --scratch names sees the run's own directory in it. During the
// launch he puts a link in its place: the run goes on in its own directory.
func TestMovedScratch(t *testing.T) {
	testneed.Root(t)
	theirs := filepath.Join(t.TempDir(), "theirs")
	if err := errors.Join(os.Mkdir(theirs, 0o755), os.Chown(theirs, 12345, 12345)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	e, path, moved := spinExperiment(time.Minute), filepath.Join(theirs, "tare-"+idOf(t)), false
	e.Scratch = theirs
	_, out, err := executeShowing(ctx, t, e, catalog(plan.Rung{Environment: layers.Host}), func(ev run.Event) {
		switch {
		case !moved && ev.Phase == "launch":
			moved = true
			if err := errors.Join(os.Rename(path, path+"-moved"), os.Symlink("/no/such/place", path)); err != nil {
				t.Error(err)
			}
		case moved && ev.Phase != "launch":
			stop()
		}
	})
	if !moved || out.Reason != "interrupted" {
		t.Errorf("moved: %v; ended by %q, %v", moved, out.Reason, err)
	}
	// The owner of a directory removes what he has renamed.
	for dir, want := range map[string]int{theirs: 1, path + "-moved": 0} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != want {
			t.Errorf("in %s: %v %v", dir, entries, err)
		}
	}
	nothingLeft(t)
}

// A run's id is random, so that nobody knows the name of its directory before. A link of that name
// is not followed all the same.
func TestPlantedScratch(t *testing.T) {
	testneed.Root(t)
	theirs, target := filepath.Join(t.TempDir(), "theirs"), t.TempDir()
	if err := errors.Join(os.Mkdir(theirs, 0o755), os.Chown(theirs, 12345, 12345), os.Symlink(target, filepath.Join(theirs, "tare-"+idOf(t)))); err != nil {
		t.Fatal(err)
	}
	e := spinExperiment(time.Second)
	e.Scratch = theirs
	r, _, err := execute(context.Background(), t, e, catalog(plan.Rung{Environment: layers.Host}))
	if !errors.Is(err, os.ErrExist) {
		t.Errorf("it ran, %v", err)
	}
	if end := r.Lines[len(r.Lines)-1].End; end == nil || end.Reason != "error" || !strings.Contains(end.Detail, theirs) {
		t.Errorf("the record ends with %+v", end)
	}
	nothingLeft(t)
}
