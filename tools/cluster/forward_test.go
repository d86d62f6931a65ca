package main

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// As root, in a network namespace of its own: a host that drops what it forwards gets rules, and gets its chain
// back; a host without the table keeps none.
func TestForward(t *testing.T) {
	runtime.LockOSThread() // the thread ends with the test, and the namespace with it
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Fatal(err)
	}
	if err := openForward(); err != nil {
		t.Fatal(err)
	}
	if all, err := tables(); err != nil || len(all) > 0 {
		t.Fatalf("made tables %v (%v)", all, err)
	}
	if _, err := output("", "iptables", "-P", "FORWARD", "DROP"); err != nil {
		t.Fatal(err)
	}
	before, err := forwardRules()
	if err != nil {
		t.Fatal(err)
	}
	if err := openForward(); err != nil {
		t.Fatal(err)
	}
	with, err := forwardRules()
	if text := strings.Join(with, "\n"); err != nil || strings.Count(text, "-j ACCEPT") != 4 || strings.Count(text, bridge) != 2 {
		t.Errorf("%s (%v)", text, err)
	}
	if err := closeForward(); err != nil {
		t.Fatal(err)
	}
	if after, err := forwardRules(); err != nil || !slices.Equal(after, before) {
		t.Errorf("%q, before %q (%v)", after, before, err)
	}
}
