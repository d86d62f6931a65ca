package messages

import (
	"os"
	"strings"
	"testing"
)

func TestDevShadow(t *testing.T) {
	b, _ := os.ReadFile("chinese-commands.txt")
	all, err := parsePatterns(string(b))
	if err != nil {
		t.Fatal(err)
	}
	c := In(Chinese)
	for _, p := range all {
		if len(p.names) > 0 {
			continue
		}
		en := p.literals[0]
		if strings.ContainsAny(en[len(en)-1:], ".:?") {
			continue
		}
		if got := c.Sentence(en); got != p.to {
			t.Logf("OTHER %q: %q, here %q", en, got, p.to)
		}
		if got := c.Sentence(en + ": XX"); got != p.to+"：XX" {
			t.Logf("SHADOW %q: %q", en, got)
		}
	}
}
