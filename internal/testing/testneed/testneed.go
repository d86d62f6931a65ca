// Package testneed states what a test needs from the machine. If a need is not met the test is
// skipped and the need is named. If TARETEST_REQUIRE promises the need, the test fails, so that
// a promised test cannot pass by skipping.
package testneed

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Root needs effective user id 0.
func Root(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		missing(t, "root", "the test must run as root")
	}
}

// Ordinary needs a user other than root to run something as: nobody, whose user and group id it
// returns.
func Ordinary(t testing.TB) (uid, gid uint32) {
	t.Helper()
	Root(t)
	return 65534, 65534
}

// Tool needs a program in PATH and returns its path.
func Tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, name, err.Error())
	}
	return path
}

// Python needs a Python 3 that has all these modules, in PATH or Debian's own, and returns its path. name is the package.
func Python(t testing.TB, name string, modules ...string) string {
	t.Helper()
	last := ""
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		out, err := exec.Command(python, "-c", "import "+strings.Join(modules, ", ")).CombinedOutput()
		if err == nil {
			return python
		}
		last = strings.TrimSpace(string(out) + " " + err.Error())
	}
	missing(t, name, last)
	return ""
}

// Feature needs something that was tried: err is why it is missing.
func Feature(t testing.TB, name string, err error) {
	t.Helper()
	if err != nil {
		missing(t, name, err.Error())
	}
}

// Long needs a tier of tests that takes minutes; TARETEST_TIER names it.
func Long(t testing.TB, tier string) {
	t.Helper()
	if !Tier(tier) {
		t.Skipf("tier %s: set TARETEST_TIER=%s to run it", tier, tier)
	}
}

// Tier says whether TARETEST_TIER names a tier, for a test that does more there.
func Tier(name string) bool {
	return slices.Contains(strings.Split(os.Getenv("TARETEST_TIER"), ","), name)
}

// missing skips the test, or fails it if the need was promised: TARETEST_REQUIRE is "all" or a
// list of names.
func missing(t testing.TB, name, why string) {
	t.Helper()
	promised := strings.Split(os.Getenv("TARETEST_REQUIRE"), ",")
	if slices.Contains(promised, "all") || slices.Contains(promised, name) {
		t.Fatalf("promised %s is missing: %s", name, why)
	}
	t.Skipf("needs %s: %s", name, why)
}
