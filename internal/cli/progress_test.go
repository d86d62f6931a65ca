package cli

import (
	"math"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tarelab/tare/internal/measure/run"
)

func measuring() run.Event {
	return run.Event{
		Workload: "oltp-read-only", Number: 1, Of: 4, Phase: "measure", Generation: 2, Block: 4, Blocks: 12, Dropped: 1,
		Arms: []run.Running{
			{Arm: "twin", Ratio: 1.0004, Half: 0.006},
			{Arm: "cgroup", Ratio: 0.996, Half: 0.008},
			{Arm: "namespaces", Ratio: 1, Half: math.Inf(1)},
			{Arm: "rootfs", Ratio: 0.951, Half: 0.8},
		},
	}
}

func testScreen(color colorMode) *screen {
	return &screen{console: &console{stderr: os.Stderr, color: color, getenv: func(string) string { return "" }}}
}

func TestScreenBlock(t *testing.T) {
	got := testScreen("never").status(measuring(), 72, 180, 80, 30)
	want := []string{
		"oltp-read-only (1 of 4): launch 3, block 5 of 12, 1 dropped",
		"  twin           0.0 % ±0.6 %",
		"  cgroup        -0.4 % ±0.8 %",
		"  namespaces         …",
		"  rootfs        -4.9 % ±…",
		"[==============          ] 72 s left of 3 min",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	colored := testScreen("always").status(measuring(), 72, 180, 80, 30)
	if !strings.HasPrefix(colored[0], "\x1b[1m") {
		t.Errorf("no colour: %q", colored[0])
	}
}

// What stays on the terminal is broken between words.
func TestFolded(t *testing.T) {
	for width, want := range map[int]string{
		0:  "too short: fewer arms need less\nless noise\n",
		16: "too short:\n  fewer arms\n  need less\nless noise\n",
		99: "too short: fewer arms need less\nless noise\n",
	} {
		if got := folded("too short: fewer arms need less\nless noise", width); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}

// On a terminal of any size no line wraps, and the block is less high than the terminal.
func TestScreenFits(t *testing.T) {
	for width := 1; width < 100; width += 7 {
		for height := 4; height < 12; height++ {
			lines := testScreen("never").status(measuring(), 72, 180, width, height)
			if len(lines) >= height {
				t.Errorf("%d lines on %d", len(lines), height)
			}
			for _, l := range lines {
				if n := utf8.RuneCountInString(l); n >= max(2, width) {
					t.Errorf("%d columns on %d: %q", n, width, l)
				}
			}
		}
	}
}
