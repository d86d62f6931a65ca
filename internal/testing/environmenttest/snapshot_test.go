package environmenttest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/testing/environmenttest"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// TestSnapshotSees leaves something of each kind behind and expects it named.
func TestSnapshotSees(t *testing.T) {
	testneed.Root(t)
	run := "leak" + filepath.Base(t.TempDir())
	for _, c := range []struct {
		what string // part of what is reported
		leak func(t *testing.T) (undo func())
	}{
		{"process", leakProcess},
		{"not waited for", leakZombie},
		{"descriptor", leakDescriptor},
		{"namespace", leakThread},
		{"link bridge tare-leak", leakLink},
		{"rule table", leakTable},
		{"setting", leakSysctl},
		{"mount", leakMount},
		{"group", func(t *testing.T) func() { return leakGroup(t, run) }},
	} {
		before := environmenttest.TakeSnapshot(t)
		undo := c.leak(t)
		left := before.Left(t, run, 100*time.Millisecond)
		undo()
		if !strings.Contains(strings.Join(left, "\n"), c.what) {
			t.Errorf("a leak of kind %s was reported as %q", c.what, left)
		}
		before.MustEqual(t, run)
	}
}

func leakProcess(t *testing.T) func() {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() { cmd.Process.Kill(); cmd.Wait() }
}

func leakZombie(t *testing.T) func() {
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() { cmd.Wait() }
}

func leakDescriptor(t *testing.T) func() {
	f, err := os.Open("/sys/fs/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	return func() { f.Close() }
}

func leakThread(t *testing.T) func() {
	in, out := make(chan error), make(chan struct{})
	go inOwnNetNS(in, out)
	if err := <-in; err != nil {
		t.Fatal(err)
	}
	return func() { close(out) }
}

// inOwnNetNS holds a thread in a network namespace of its own; the thread ends
// with the goroutine. The first thread of a process never ends, so that it is
// held here while another is taken.
func inOwnNetNS(in chan<- error, out <-chan struct{}) {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		defer runtime.UnlockOSThread()
		go inOwnNetNS(in, out)
		<-out
		return
	}
	in <- unix.Unshare(unix.CLONE_NEWNET)
	<-out
}

func leakLink(t *testing.T) func() {
	link := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "tare-leak"}}
	if err := netlink.LinkAdd(link); err != nil {
		t.Fatal(err)
	}
	return func() { netlink.LinkDel(link) }
}

func leakTable(t *testing.T) func() {
	c, err := nftables.New()
	if err != nil {
		t.Fatal(err)
	}
	table := c.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "tare-leak"})
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	return func() {
		c.DelTable(table)
		if err := c.Flush(); err != nil {
			t.Error(err)
		}
	}
}

func leakSysctl(t *testing.T) func() {
	const file = "/proc/sys/net/ipv4/ip_forward" // of this network namespace
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other := "1"
	if strings.TrimSpace(string(old)) == "1" {
		other = "0"
	}
	if err := os.WriteFile(file, []byte(other), 0o644); err != nil {
		t.Fatal(err)
	}
	return func() { os.WriteFile(file, old, 0o644) }
}

func leakMount(t *testing.T) func() {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	return func() { unix.Unmount(dir, 0) }
}

func leakGroup(t *testing.T, run string) func() {
	points, err := filepath.Glob("/sys/fs/cgroup/*/cgroup.procs")
	if err != nil || len(points) == 0 {
		points = []string{"/sys/fs/cgroup/cgroup.procs"}
	}
	dir := filepath.Join(filepath.Dir(points[0]), "tare-"+run)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return func() { unix.Rmdir(dir) }
}
