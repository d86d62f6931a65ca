package apply

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

// userGroup makes a control group that stands for a user's, with a process that uses CPU time. It returns its path.
func userGroup(t *testing.T) string {
	t.Helper()
	testneed.Root(t)
	tree, err := cgroup.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("%sapplied%d-%s", cgroup.Prefix, os.Getpid(), strings.ToLower(t.Name()))
	g, err := tree.Make(name, []string{"cpu", "memory"})
	if err != nil {
		testneed.Feature(t, "cgroup", err)
	}
	cmd := exec.Command("/proc/self/exe", "__busy")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err = cmd.Start(); err == nil {
		err = g.Add(cmd.Process.Pid)
	}
	if err != nil {
		t.Fatal(errors.Join(err, g.Remove()))
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if err := g.Remove(); err != nil {
			t.Error(err)
		}
	})
	return "/" + name
}

// files are the texts of a group's files that tare may write.
func files(t *testing.T, path string) string {
	t.Helper()
	g, err := openGroup(path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, key := range record.SettingKeys() {
		if f, ok := fileOf(g.dirs, key); ok {
			text, err := g.dirs.Read(f.in, f.name)
			fmt.Fprintln(&b, key, f.name, text, err)
		}
	}
	return b.String()
}

// Every setting that this kernel gives a group is set, seen in the kernel, and taken back without a trace.
func TestGroup(t *testing.T) {
	path := userGroup(t)
	before := files(t, path)
	tried := 0
	for _, c := range []struct {
		key   record.SettingKey
		value string
	}{
		{record.KeyCPUIdle, "1"}, {record.KeyCPUWeight, "50"}, {record.KeyCPUMax, "0.5"}, {record.KeyMemoryMax, "536870912"},
		{record.KeyMemoryHigh, "268435456"}, {record.KeyCPUSet, "0"},
	} {
		g, err := openGroup(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := fileOf(g.dirs, c.key); !ok {
			refused(t, "cgroup:"+path, setting(c.key, c.value), "no such file")
			continue
		}
		tried++
		p := planned(t, "cgroup:"+path, setting(c.key, c.value))
		j := made(t, p)
		if after := files(t, path); after == before || stateOf(t, p.step(0)) != InForce {
			t.Errorf("%s: %s\n%s", c.key, stateOf(t, p.step(0)), after)
		}
		if err := p.Unmake(); err != nil || j.Left() != 0 {
			t.Errorf("%s: %v, %d steps left", c.key, err, j.Left())
		}
		if after := files(t, path); after != before && c.key != record.KeyCPUSet {
			t.Errorf("%s: before\n%safter\n%s", c.key, before, after)
		}
	}
	if tried < 3 {
		t.Errorf("only %d settings were tried", tried)
	}
}

// Quota and burst are set together, and taken back in the other order.
func TestGroupBurst(t *testing.T) {
	path := userGroup(t)
	g, err := openGroup(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := fileOf(g.dirs, record.KeyCPUBurst); !ok {
		testneed.Feature(t, "cpu.max.burst", errors.New("Linux 5.14"))
	}
	before := files(t, path)
	p := planned(t, "cgroup:"+path, append(setting(record.KeyCPUMax, "0.5"), setting(record.KeyCPUBurst, "0.25")...))
	made(t, p)
	if a, b := stateOf(t, p.step(0)), stateOf(t, p.step(1)); a != InForce || b != InForce {
		t.Errorf("%s, %s", a, b)
	}
	if err := p.Unmake(); err != nil || files(t, path) != before {
		t.Errorf("%v: before\n%safter\n%s", err, before, files(t, path))
	}
}

// The target's own counters show a quota.
func TestWatch(t *testing.T) {
	path := userGroup(t)
	p := planned(t, "cgroup:"+path, setting(record.KeyCPUMax, "0.05"))
	made(t, p)
	all, err := p.Watch(t.Context(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		switch {
		case math.IsNaN(c.Value) == (c.Why == ""):
			t.Errorf("%+v", c)
		case c.Title == titleThrottled && c.Value <= 0, c.Title == titleUsed && !(c.Value > 0 && c.Value < 0.5):
			t.Errorf("%+v under a quota of 0.05", c)
		}
	}
	if err := p.Unmake(); err != nil {
		t.Error(err)
	}
}

// Targets and values that cannot be set or taken back are refused, with a remedy; nothing changes.
func TestGroupRefuses(t *testing.T) {
	path := userGroup(t)
	before := files(t, path)
	max := setting(record.KeyCPUMax, "0.5")
	refused(t, "cgroup:/", max, "is the root")
	refused(t, "cgroup:/applied-none", max, "no control group")
	refused(t, "cgroup:/system.slice/db.service", max, "has an owner")
	refused(t, "cgroup:/docker/"+strings.Repeat("0f", 32), max, "has an owner")
	refused(t, "cgroup:/kubepods/besteffort", max, "has an owner")
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if p, err := plan(t, "cgroup:"+path, setting(record.KeyMemoryMax, "4096")); err != nil || p == nil {
			break // the process has memory now
		}
	}
	refused(t, "cgroup:"+path, setting(record.KeyMemoryMax, "4096"), "the kernel would kill processes")
	refused(t, "cgroup:"+path, setting(record.KeyCPUMax, ""), "has these settings already")
	refused(t, "cgroup:"+path, setting(record.KeyCPUMax, "half"), "half")
	for key, want := range map[record.SettingKey]string{
		record.KeySched: noSched, record.KeyQoSLevel: noQoSBack, record.KeyIOBytes: noDevice, record.KeyPodClass: noClass,
		record.KeyStorageClass: noStorage, record.KeyCPUManager: noKubelet, record.KeyConnect: noConnect, record.KeySharedBuffers: noServer,
		record.KeyPodCPULimit: "no such file",
	} {
		refused(t, "cgroup:"+path, setting(key, "1"), want)
	}
	if after := files(t, path); after != before {
		t.Errorf("before\n%safter\n%s", before, after)
	}
	for _, word := range []string{"", "x", "unit:", "unit:-x", "pod:x", "pod:a/b/c/d", "cgroup:a b", "cgroup:a\nb", "vm:x"} {
		if _, err := Parse(word); err == nil || hint.Of(err) == "" {
			t.Errorf("%q: %v", word, err)
		}
	}
}

// A group of another user is refused before anything changes.
func TestGroupOfAnother(t *testing.T) {
	path := userGroup(t)
	uid, _ := testneed.Ordinary(t)
	g, err := openGroup(path)
	if err != nil {
		t.Fatal(err)
	}
	f, _ := fileOf(g.dirs, record.KeyCPUMax)
	child := exec.Command("/proc/self/exe", "-test.run", "TestMainAsOther", "-test.v")
	child.Env = append(os.Environ(), "TARETEST_APPLY_TO="+path)
	child.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	child.Dir = "/"
	out, err := child.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "permission denied") {
		t.Errorf("%v: %s", err, out)
	}
	if text, err := g.dirs.Read(f.in, f.name); err != nil || strings.HasPrefix(text, "50000") {
		t.Errorf("%q, %v", text, err)
	}
}

// TestMainAsOther is the process of another user in TestGroupOfAnother.
func TestMainAsOther(t *testing.T) {
	path := os.Getenv("TARETEST_APPLY_TO")
	if path == "" {
		t.Skip("it is a process of TestGroupOfAnother")
	}
	_, err := plan(t, "cgroup:"+path, setting(record.KeyCPUMax, "0.5"))
	if !errors.Is(err, unix.EACCES) || hint.Of(err) != asOwner {
		t.Errorf("%v (%s)", err, hint.Of(err))
	}
	t.Log(err)
}

// What somebody else set stays; a group that was made anew is another one; the same target is refused twice.
func TestGroupChanges(t *testing.T) {
	path := userGroup(t)
	p := planned(t, "cgroup:"+path, setting(record.KeyCPUMax, "0.5"))
	made(t, p)
	left := []journal.Leftover{{Header: journal.Header{Run: "r1"}, Held: []journal.Held{p.step(0)}}}
	if _, err := Plan(t.Context(), p.Target, kube.Access{}, setting(record.KeyCPUWeight, "5"), left); err == nil || hint.Of(err) != "tare advise --undo r1" {
		t.Errorf("a second setting: %v (%s)", err, hint.Of(err))
	}
	g, err := openGroup(path)
	if err != nil {
		t.Fatal(err)
	}
	s := p.step(0)
	other := strings.Replace(s.To, "50000", "70000", 1)
	if err := g.dirs.Write(s.In, s.Name, other); err != nil {
		t.Fatal(err)
	}
	if err := s.Undo(nil); err == nil || !strings.Contains(err.Error(), "somebody else changed it") || !strings.Contains(hint.Of(err), "--forget") {
		t.Errorf("%v (%s)", err, hint.Of(err))
	}
	if now, err := g.dirs.Read(s.In, s.Name); err != nil || now != other || stateOf(t, s) != Changed {
		t.Errorf("%q, %v, %s", now, err, stateOf(t, s))
	}
	s.Same = "inode 1 of " + path
	if state := stateOf(t, s); state != Gone || s.Undo(nil) != nil {
		t.Errorf("a group made anew is %s", state)
	}
	s.Target = "cgroup:/applied-none"
	if state := stateOf(t, s); state != Gone || s.Undo(nil) != nil {
		t.Errorf("no group is %s", state)
	}
	if state, _, err := s.State(t.Context(), true); state != Ended || err != nil {
		t.Errorf("after a restart: %s, %v", state, err)
	}
}
