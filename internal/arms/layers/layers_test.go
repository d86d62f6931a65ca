package layers

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/testing/launchtest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

func TestArms(t *testing.T) {
	testneed.Root(t)
	for _, r := range ladder() {
		t.Run(r.Name(), func(t *testing.T) { launchtest.Arm(t, r, false) })
	}
	t.Run("bind", func(t *testing.T) { launchtest.Arm(t, Security, true) })
}

// TestOrdinaryUser checks the ladder without root, in a user namespace, and the reasons of rungs that it
// cannot have.
func TestOrdinaryUser(t *testing.T) {
	launchtest.AsOrdinary(t, func(t *testing.T) {
		for _, r := range []Rung{Host, Namespaces, RootFS, Security} {
			t.Run(r.Name(), func(t *testing.T) { launchtest.Arm(t, r, r == RootFS) })
		}
		for _, r := range []Rung{Cgroup, CPULimit, Network, NAT} {
			if _, err := r.Open(t.Context(), environment.Spec{}); !errors.Is(err, facts.ErrUnsupported) {
				t.Errorf("%s: %v, want ErrUnsupported", r.Name(), err)
			}
		}
	})
}

func TestKilled(t *testing.T) {
	testneed.Root(t)
	for _, r := range ladder() {
		t.Run(r.Name(), func(t *testing.T) { launchtest.Killed(t, r) })
	}
}

// TestTogether opens all rungs at once, with and without a common tree.
func TestTogether(t *testing.T) {
	testneed.Root(t)
	tree, err := cgroup.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	for _, common := range []*cgroup.Tree{tree, nil} {
		launchtest.Together(t, ladder(), common)
	}
}

// TestOutOfMemory checks that the exit of a load that the kernel killed says so.
func TestOutOfMemory(t *testing.T) {
	testneed.Root(t)
	for _, r := range []Rung{Cgroup, NAT} {
		t.Run(r.Name(), func(t *testing.T) { launchtest.OutOfMemory(t, r) })
	}
}

// TestOddPaths uses separators of overlay options in paths.
func TestOddPaths(t *testing.T) {
	testneed.Root(t)
	a := launchtest.Open(t, Security, func(s *environment.Spec) {
		s.Scratch = filepath.Join(s.Scratch, `a,b:c\d e=ö`)
		if err := os.Mkdir(s.Scratch, 0o755); err != nil {
			t.Fatal(err)
		}
	})
	if _, v := launchtest.Start(t, a, environment.Process{}); !slices.Equal(v.Volume, []string{"table"}) {
		t.Errorf("volume %v, want the data set", v.Volume)
	}
	if _, err := a.Settings(); err != nil {
		t.Error(err)
	}
}

// TestMountedInside checks that Close does not remove files below a mount in the arm's directory.
func TestMountedInside(t *testing.T) {
	testneed.Root(t)
	a := launchtest.Open(t, Host, nil)
	dir := filepath.Join(a.Place().HostVolume, "disk")
	file := filepath.Join(dir, "precious")
	if err := errors.Join(os.Mkdir(dir, 0o700), unix.Mount("tmpfs", dir, "tmpfs", 0, ""), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	if err := a.Close(); err == nil || !strings.Contains(err.Error(), dir+" is mounted in it") {
		t.Errorf("closed: %v", err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

// TestSecurity checks that dropped capabilities are gone and kept ones work.
func TestSecurity(t *testing.T) {
	testneed.Root(t)
	a := launchtest.Open(t, Security, nil)
	_, v := launchtest.Start(t, a, environment.Process{})
	want := map[string]string{
		"timer_list": "false", "proc/sys": "read-only file system", "sys": "read-only file system",
		"dev/mem": "no such file or directory", "dev/null": "opened",
		"unshare": "operation not permitted", "bpf": "operation not permitted",
	}
	if d := cmp.Diff(want, v.Try); d != "" {
		t.Error(d)
	}
	a = launchtest.Open(t, RootFS, nil)
	if _, v = launchtest.Start(t, a, environment.Process{}); v.Try["unshare"] != "errno 0" {
		t.Errorf("the rung below refuses too: %v", v.Try)
	}
}

func TestSupportFollowsFeatures(t *testing.T) {
	no := facts.Unsupported(record.InProse("because"), record.InProse("do this"))
	for _, r := range []Rung{Host, Cgroup, Namespaces, RootFS, Security, Network, NAT, CPULimit} {
		host := facts.Host{NoGroups: no, Features: map[string]facts.Support{}}
		for _, f := range facts.Features() {
			host.Features[f] = no
		}
		want := no
		if r == Host {
			want = facts.Supported()
		}
		if got := r.Support(host); got != want {
			t.Errorf("%s: %+v, want %+v", r.Name(), got, want)
		}
		host.Features = nil
		if got := r.Support(host); r.has(Namespaces) && got.Answer != facts.Unknown {
			t.Errorf("%s: %+v, want that nobody tried", r.Name(), got)
		}
	}
}
