package inspect

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/internal/wire/hidden"
)

func TestMain(m *testing.M) {
	if code, ok := hidden.Run(launch.Roles(), os.Args[1:]); ok {
		os.Exit(code)
	}
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case launch.GuardCommand:
			os.Exit(launch.GuardMain(steps.Kinds()))
		case "killed":
			dieInTrial(os.Args[2], len(os.Args) > 3)
		case "as-user":
			h := HostAt("/", os.Args[2])
			json.NewEncoder(os.Stdout).Encode(struct {
				Root     bool
				Features map[string]facts.Support
			}{h.Root, h.Features})
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

func TestHost(t *testing.T) {
	testneed.Root(t)
	dir := t.TempDir()
	began := time.Now()
	h := HostAt("/", dir)
	t.Logf("%v", time.Since(began))
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("left in scratch: %v, %v", names, err)
	}
	if h.Groups == nil || h.Freezer == "" {
		t.Errorf("groups %v %s, freezer %q %s", h.Groups, h.NoGroups.Reason, h.Freezer, h.NoFreezer)
	}
	for _, f := range facts.Features() {
		s := h.Has(f)
		t.Logf("%s: %+v", f, s)
		if s.Answer != facts.Yes {
			t.Errorf("%s: %+v", f, s)
		}
	}
	t.Log(h.Tools)
	if left, _ := h.Groups.Find(fmt.Sprintf("tare-inspect%dx", os.Getpid())); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// dieInTrial kills itself while its group and its directory exist, which it prints; alone: without its guard.
func dieInTrial(scratch string, alone bool) {
	back, dir := newUndoing(), ""
	tree, err := cgroup.Detect("/")
	if err == nil {
		dir = filepath.Join(scratch, journal.Prefix+back.run+"-overlay")
		err = back.with(steps.Directory{Path: dir}, func() error {
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
			return back.group(tree, "empty", nil, func(cgroup.Group) error {
				if alone {
					back.guard.Dismiss()
				}
				groups, _ := tree.Find("tare-" + back.run)
				fmt.Println(len(groups), "group", dir)
				return syscall.Kill(os.Getpid(), syscall.SIGKILL)
			})
		})
	}
	panic(err)
}

// The guard takes back what killed trials leave, and without it the journal.
func TestKilledTrials(t *testing.T) {
	testneed.Root(t)
	for _, alone := range []bool{false, true} {
		state, scratch := t.TempDir(), t.TempDir()
		cmd := exec.Command("/proc/self/exe", "killed", scratch)
		if alone {
			cmd.Args = append(cmd.Args, "alone")
		}
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
		cmd.Stderr = os.Stderr
		said, err := cmd.Output()
		if cmd.ProcessState == nil || cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatal(err)
		}
		if !strings.Contains(string(said), "1 group "+scratch+"/tare-inspect") {
			t.Fatalf("killed at the wrong moment: %s", said)
		}
		left := func() []string { return leftOf(t, cmd.Process.Pid, scratch, state) }
		if alone {
			undoTrials(t, filepath.Join(state, "tare"))
		}
		for end := time.Now().Add(time.Minute); len(left()) > 0; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("without its guard: %v: left behind: %v", alone, left())
			}
		}
	}
}

// leftOf are the groups, the directories and the journals of killed trials.
func leftOf(t *testing.T, pid int, scratch, state string) []string {
	t.Helper()
	tree, err := cgroup.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	groups, _ := tree.Find(fmt.Sprintf("tare-inspect%dx", pid))
	dirs, _ := filepath.Glob(filepath.Join(scratch, "*"))
	journals, _ := filepath.Glob(filepath.Join(state, "tare/journal/*"))
	return slices.Concat(groups, dirs, journals)
}

// undoTrials undoes the journal of killed trials, which has two steps.
func undoTrials(t *testing.T, state string) {
	t.Helper()
	left, err := journal.Leftovers(state, steps.Kinds())
	if err != nil || len(left) != 1 || len(left[0].Steps) != 2 {
		t.Fatalf("%+v, %v", left, err)
	}
	if r, err := journal.Undo(state, left[0].Header.Run, steps.Kinds()); err != nil || len(r.Failed) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// On a scratch directory that is read-only nothing is made, and no journal stays.
func TestReadOnlyScratch(t *testing.T) {
	testneed.Root(t)
	state, scratch := t.TempDir(), t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	if err := unix.Mount("tmpfs", scratch, "tmpfs", unix.MS_RDONLY, ""); err != nil {
		testneed.Feature(t, "tmpfs", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(scratch, 0); err != nil {
			t.Error(err)
		}
	})
	if h := HostAt("/", scratch); h.Features[facts.FeatureOverlay].Answer == facts.Yes {
		t.Errorf("%+v", h.Features[facts.FeatureOverlay])
	}
	if left := leftOf(t, os.Getpid(), scratch, state); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestOrdinaryUser(t *testing.T) {
	uid, gid := testneed.Ordinary(t)
	dir := t.TempDir()
	// /tmp/TestOrdinaryUser1/001: no other user may write there, because it has the journal.
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chown(dir, int(uid), int(gid))); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "as-user", dir)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var h facts.Host
	if err := json.Unmarshal(out, &h); err != nil {
		t.Fatal(err)
	}
	for _, f := range facts.Features() {
		s := h.Has(f)
		t.Logf("%s: %+v", f, s)
		if s.Answer == facts.Unknown || s.Answer == facts.No && (s.Reason.IsZero() || s.Remedy.IsZero()) {
			t.Errorf("%s: %+v: want yes, or no with reason and remedy", f, s)
		}
	}
	for _, f := range []string{facts.FeatureNetwork, facts.FeatureNAT, facts.FeatureContainer} {
		if h.Has(f).Answer != facts.No {
			t.Errorf("%s: %+v: want no", f, h.Has(f))
		}
	}
}

// TestUntrustedJournal checks that nothing is changed where other users could write the journal.
func TestUntrustedJournal(t *testing.T) {
	testneed.Root(t)
	state, scratch := t.TempDir(), t.TempDir()
	if err := os.Chmod(state, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", state)
	h := HostAt("/", scratch)
	if h.Groups == nil || h.Freezer != "" || !strings.Contains(said.English(h.NoFreezer), "no way back") {
		t.Errorf("freezer %q: %q", h.Freezer, h.NoFreezer)
	}
	if s := h.Features[facts.FeatureOverlay]; s.Answer != facts.Unknown || !strings.Contains(said.English(s.Reason), "no way back") || !strings.Contains(said.English(s.Remedy), "chmod") {
		t.Errorf("overlay: %+v", s)
	}
}

// Where a host restricts user namespaces, the remedy is an exception for tare alone.
func TestNamespacesRemedy(t *testing.T) {
	if r := namespacesRemedy(true); !strings.Contains(r, "AppArmor") || !strings.Contains(r, "a profile with userns for this binary") {
		t.Errorf("no profile is offered: %s", r)
	}
	for _, user := range []bool{true, false} {
		for _, word := range []string{"sysctl", "apparmor_restrict", "unprivileged_userns", "unconfined", "aa-", "disable", "switch", "systemctl", "=0", "/proc/sys"} {
			if r := namespacesRemedy(user); strings.Contains(r, word) {
				t.Errorf("%s is in: %s", word, r)
			}
		}
	}
}

// A neighbour's program does not count as a container runtime.
func TestContainerNeedsARuntime(t *testing.T) {
	fio, runc := facts.Tool{Path: "/usr/bin/fio"}, facts.Tool{Path: "/usr/bin/runc"}
	for name, c := range map[string]struct {
		tools map[string]facts.Tool
		want  facts.Answer
	}{
		"nothing":      {nil, facts.No},
		"fio alone":    {map[string]facts.Tool{"fio": fio}, facts.No},
		"fio and runc": {map[string]facts.Tool{"fio": fio, "runc": runc}, facts.Yes},
		"crun alone":   {map[string]facts.Tool{"crun": runc}, facts.Yes},
	} {
		if got := container(c.tools, false); got.Answer != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
