package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testneed"
)

const diskExperiment = `title: how late a disk is
budget: 40s
margin: 5%
window: 400ms
generations: 2
workloads:
  commit: {kind: commit, params: {log: 1MiB}}
`

// lateDisk mounts a fresh ext4 on a device that answers so much later than a file of
// this machine. The kernel counts the delay in its ticks.
func lateDisk(t *testing.T, name string, by time.Duration) string {
	t.Helper()
	run := func(name string, args ...string) string {
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	image, dir := filepath.Join(t.TempDir(), "image"), filepath.Join(t.TempDir(), name)
	const size = 128 << 20
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, size); err != nil {
		t.Fatal(err)
	}
	loop := run("losetup", "--show", "-f", image)
	t.Cleanup(func() { run("losetup", "-d", loop) })
	// No udev runs here that would make the device's file.
	run("dmsetup", "create", name, "--noudevsync", "--table", fmt.Sprintf("0 %d delay %s 0 %d", size/512, loop, by.Milliseconds()))
	t.Cleanup(func() { run("dmsetup", "remove", "--noudevsync", name) })
	run("dmsetup", "mknodes", name)
	run("mkfs.ext4", "-q", "/dev/mapper/"+name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run("mount", "/dev/mapper/"+name, dir)
	t.Cleanup(func() { run("umount", dir) })
	return dir
}

// TestUMLDisk: a disk whose every request takes 10 ms longer (a tick of that kernel: its
// dm-delay knows nothing shorter) beside one without. A commit is one write and one
// flush: the run finds these 20 ms within its interval, or the tick less that requests
// save which come between two ticks.
func TestUMLDisk(t *testing.T) {
	testneed.Long(t, "uml")
	testneed.Tool(t, "dmsetup")
	if out, err := exec.Command("modprobe", "-a", "loop", "dm-delay").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const delay = 10 * time.Millisecond
	p := plant(t, diskExperiment, "dir:"+lateDisk(t, "prompt", 0), "dir:"+lateDisk(t, "late", delay))
	late := p.arm("late")
	least, most := p.longer(late)
	requests := p.per("disk.writes", late) + p.per("disk.flushes", late)
	want := 2 * delay
	t.Logf("a commit takes %v to %v longer, %v were planted; %.2f requests", least, most, want, requests)
	// Two of three runs ended just below what was planted: a request that comes late in
	// a tick should wait for less than a whole one, which was not measured.
	if least > want || most < want-delay {
		t.Errorf("a commit takes %v to %v longer, %v were planted, or up to a tick less", least, most, want)
	}
}
