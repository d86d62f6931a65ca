// Package testneed is how a test asks for what it needs from the machine. A
// need that is not met skips the test by name; where TARETEST_REQUIRE promises it,
// the test fails instead, so that a promised test that skips cannot pass.
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

// Ordinary needs a user that is not root to run something as, and returns
// its user and group id (nobody's).
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

// Feature needs something that was tried: err says why it is not there.
func Feature(t testing.TB, name string, err error) {
	t.Helper()
	if err != nil {
		missing(t, name, err.Error())
	}
}

// Long needs a tier of tests that takes minutes: TARETEST_TIER names it.
func Long(t testing.TB, tier string) {
	t.Helper()
	if !Tier(tier) {
		t.Skipf("tier %s: set TARETEST_TIER=%s to run it", tier, tier)
	}
}

// Tier says whether TARETEST_TIER names a tier: a test that does more there than elsewhere
// asks for it.
func Tier(name string) bool {
	return slices.Contains(strings.Split(os.Getenv("TARETEST_TIER"), ","), name)
}

// missing skips, or fails where the need was promised: TARETEST_REQUIRE is "all"
// or a list of names.
func missing(t testing.TB, name, why string) {
	t.Helper()
	promised := strings.Split(os.Getenv("TARETEST_REQUIRE"), ",")
	if slices.Contains(promised, "all") || slices.Contains(promised, name) {
		t.Fatalf("promised %s is missing: %s", name, why)
	}
	t.Skipf("needs %s: %s", name, why)
}
