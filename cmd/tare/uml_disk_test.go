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

// TestUMLDisk: a disk whose every request ends a tick of that kernel, 10 ms, later, beside
// one without. dm-delay counts in ticks: a request that comes 2, 4 or 6 ms after a tick
// was measured to take 7.6, 5.8 and 4.2 ms, and a write with its flush 17.7, 15.7 and 14.0.
// So a commit, which is both, takes two ticks in all, and longer than on the prompt disk
// by these 20 ms without what it takes there. What ticks on a crowded host come late
// is in the time that the device's requests took, as the kernel counts it.
func TestUMLDisk(t *testing.T) {
	testneed.Long(t, "uml")
	testneed.Tool(t, "dmsetup")
	if out, err := exec.Command("modprobe", "-a", "loop", "dm-delay").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const tick = 10 * time.Millisecond
	p := plant(t, diskExperiment, "dir:"+lateDisk(t, "prompt", 0), "dir:"+lateDisk(t, "late", tick))
	prompt, late := p.arm("prompt"), p.arm("late")
	least, most := p.longer(late)
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	own := seconds(1 / p.rate(prompt))
	onDevice := func(arm string) time.Duration {
		return seconds(p.per("device.writes", arm) * p.per("device.write.time", arm))
	}
	there, here := onDevice(late), onDevice(prompt)
	t.Logf("a commit takes %v on the prompt disk, and %v to %v longer on the late one; its %.2f requests take %v there, and %v on the prompt disk",
		own, least, most, p.per("device.writes", late), there, here)
	if most < 2*tick-own || least > max(there, 2*tick) {
		t.Errorf("a commit takes %v to %v longer: two ticks are %v, of which up to %v are its own, and its device took %v", least, most, 2*tick, own, there)
	}
	if there < here+tick {
		t.Errorf("the device of the late disk took %v for a commit, that of the prompt one %v", there, here)
	}
}
