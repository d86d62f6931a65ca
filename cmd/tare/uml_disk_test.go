package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/testneed"
)

const diskExperiment = `title: how late a disk is
budget: 40s
margin: 5%
window: 400ms
generations: 2
workloads:
  commit: {kind: commit, params: {log: 1MiB}}
`

// lateDisk mounts a fresh ext4 on a device that answers later by a delay than a file of this
// machine. The kernel counts the delay in its ticks.
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
	const size = 2 << 30 // a run leaves 1 GiB free; the image has holes
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
	// Nothing of the file system is left to be written later, beside the commits.
	run("mkfs.ext4", "-q", "-N", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0", "/dev/mapper/"+name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run("mount", "/dev/mapper/"+name, dir)
	t.Cleanup(func() { run("umount", dir) })
	return dir
}

// tick is that of the machine's kernel, in which dm-delay counts.
const tick = 10 * time.Millisecond

// lateness is what a run says of commits on a disk whose requests end a tick later, beside a disk
// without delay.
type lateness struct {
	own          time.Duration // a commit on the prompt disk
	least, most  time.Duration // that a commit takes longer on the late one
	prompt, late time.Duration // of a commit's requests at either device
}

// wrong says what is not as it was planted. Requests that came 2, 4 or 6 ms after a tick took 7.6,
// 5.8 and 4.2 ms when measured, and a write with its flush 17.7, 15.7 and 14.0 ms. So a commit,
// which is both, takes two ticks in all, less the time between a tick and the commit's begin. That
// time is what a commit takes on the disk without delay, and less than a tick. On a crowded host
// ticks come late; the kernel counts that in the time of the device's requests.
func (l lateness) wrong() (all []string) {
	if l.most < 2*tick-min(l.own, tick) || l.least > max(l.late, 2*tick) {
		all = append(all, fmt.Sprintf("a commit takes %v to %v longer: two ticks are %v, of which up to %v are its own, and its device took %v", l.least, l.most, 2*tick, min(l.own, tick), l.late))
	}
	if l.late < l.prompt+tick {
		all = append(all, fmt.Sprintf("the device of the late disk took %v for a commit, that of the prompt one %v", l.late, l.prompt))
	}
	return all
}

// The intervals that runs of TestUMLDisk had are accepted (the time of a commit without delay is
// made up). Intervals of a delay that is not there are refused, however long a commit takes.
func TestLateness(t *testing.T) {
	ms := func(x float64) time.Duration { return time.Duration(x * float64(time.Millisecond)) }
	for _, l := range []lateness{
		{ms(0.8), ms(17.3), ms(22.5), ms(0.1), ms(21)}, {ms(5), ms(10.6), ms(42.3), ms(0.1), ms(22.9)}, {ms(9), ms(3.7), ms(48), ms(0.2), ms(24.6)},
	} {
		if all := l.wrong(); len(all) > 0 {
			t.Errorf("%+v: %q", l, all)
		}
	}
	for _, l := range []lateness{
		{ms(1), ms(-1), ms(1), ms(0.1), ms(21)}, {ms(40), ms(-1), ms(1), ms(0.1), ms(21)}, // not longer
		{ms(1), ms(30), ms(40), ms(0.1), ms(21)}, // much longer than its device took
		{ms(1), ms(17), ms(22), ms(14), ms(21)},  // the devices alike
	} {
		if all := l.wrong(); len(all) != 1 {
			t.Errorf("%+v: %q", l, all)
		}
	}
}

// TestUMLDisk: a disk whose every request ends a tick of that kernel later, beside one without
// delay.
func TestUMLDisk(t *testing.T) {
	testneed.Long(t, "uml")
	testneed.Tool(t, "dmsetup")
	if out, err := exec.Command("modprobe", "-a", "loop", "dm-delay").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := plant(t, diskExperiment, "dir:"+lateDisk(t, "prompt", 0), "dir:"+lateDisk(t, "late", tick))
	prompt, late := p.arm("prompt"), p.arm("late")
	onDevice := func(arm string) time.Duration {
		return p.seconds(p.per("device.writes", arm) * p.per("device.write.time", arm))
	}
	l := lateness{own: p.seconds(1 / p.rate(prompt)), prompt: onDevice(prompt), late: onDevice(late)}
	l.least, l.most = p.longer(late)
	t.Logf("of a commit, with %.2f requests: %+v", p.per("device.writes", late), l)
	for _, wrong := range l.wrong() {
		t.Error(wrong)
	}
}
