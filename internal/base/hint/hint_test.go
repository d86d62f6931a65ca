package hint

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestOf(t *testing.T) {
	plain := errors.New("no overlay")
	inner := New(plain, "modprobe overlay")
	outer := New(fmt.Errorf("open: %w", inner), "try --arms host")
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{plain, ""},
		{New(nil, "nothing is wrong"), ""},
		{inner, "modprobe overlay"},
		{fmt.Errorf("run: %w", inner), "modprobe overlay"},
		{errors.Join(plain, inner), "modprobe overlay"},
		{outer, "try --arms host"},
		{New(plain, ""), ""},
	} {
		if got := Of(c.err); got != c.want {
			t.Errorf("Of(%v) = %q, want %q", c.err, got, c.want)
		}
	}
	if !errors.Is(outer, plain) || outer.Error() != "open: no overlay" {
		t.Errorf("the error itself changed: %v", outer)
	}
}

func TestNearest(t *testing.T) {
	arms := []string{"host", "cgroup", "namespaces", "rootfs", "security", "network", "nat", "container", "cpu-limit"}
	for word, want := range map[string]string{
		"cgruop":     "cgroup",
		"cgroups":    "cgroup",
		"Host":       "host",
		"cpulimit":   "cpu-limit",
		"name-space": "namespaces",
		"cont":       "container",
		"na":         "nat",
		"n":          "",
		"":           "",
		"kubernetes": "",
		"ne":         "network",
		"xxxxx":      "",
	} {
		if got := Nearest(word, arms); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	words := []string{"layer", "bind"}
	for word, want := range map[string]string{
		"bidn":   `; did you mean "bind"?`,
		"tmpfs":  "; valid: layer, bind",
		"layers": `; did you mean "layer"?`,
	} {
		if got := DidYouMean(word, words); got != want {
			t.Errorf("DidYouMean(%q) = %q, want %q", word, got, want)
		}
	}
	if got := DidYouMean("x", nil); got != "" {
		t.Errorf("without words: %q", got)
	}
}

// The distance is 0 for equal words only, symmetric, and one edit away is 1.
func TestEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-d]{0,8}`)
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if (edits(a, b) == 0) != (a == b) {
			t.Fatalf("edits(%q, %q) = %d", a, b, edits(a, b))
		}
		if edits(a, b) != edits(b, a) {
			t.Fatalf("not symmetric for %q, %q", a, b)
		}
		at := rapid.IntRange(0, len(a)).Draw(t, "at")
		if got := edits(a, a[:at]+"x"+a[at:]); got != 1 {
			t.Fatalf("one insertion into %q costs %d", a, got)
		}
		if got, bound := edits(a, b), max(len(a), len(b)); got > bound {
			t.Fatalf("edits(%q, %q) = %d > %d", a, b, got, bound)
		}
	})
}
