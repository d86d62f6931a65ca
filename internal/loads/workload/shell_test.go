package workload

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/wire"
)

// splitWords splits every text that it accepts like a real shell.
func TestWordsAsAShellHasThem(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	part := rapid.SampledFrom([]string{"a", "b c", " ", "'x y'", `"x y"`, `"a\"b"`, `\ `, `\'`, `''`, `""`, "=", "-o", `"\\"`, `"\a"`, "\t", "é"})
	rapid.Check(t, func(rt *rapid.T) {
		s := strings.Join(rapid.SliceOfN(part, 1, 8).Draw(rt, "parts"), "")
		got, err := splitWords(s)
		if err != nil {
			rt.Skip("refused")
		}
		out, err := exec.Command(sh, "-f", "-c", `for w in "$@"; do :; done; set -- `+s+`; for w in "$@"; do printf '%s\0' "$w"; done`).Output()
		if err != nil {
			rt.Fatalf("%q: %v", s, err)
		}
		var want []string
		if len(out) > 0 {
			want = strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("%q: %s", s, diff)
		}
	})
}

func TestWordsThatNeedAShell(t *testing.T) {
	for _, s := range []string{"a | b", "a > f", "a; b", "a && b", "echo $HOME", "`a`", `"$x"`, "(a)", "a &", "'open", `"open`, `end\`} {
		if got, err := splitWords(s); err == nil {
			t.Errorf("%s: accepted as %q", s, got)
		}
	}
}

func TestBaseUnit(t *testing.T) {
	for unit, want := range map[string]struct {
		base  string
		scale float64
	}{
		"ms": {"s", 1e-3}, "MiB/s": {"B/s", 1 << 20}, "KB/s": {"B/s", 1e3}, "tps": {"1/s", 1}, "%": {"ratio", 0.01},
		"1": {"1", 1}, "points": {"points", 1}, "GiB": {"B", 1 << 30}, "furlongs/s": {"furlongs/s", 1},
	} {
		if base, scale := baseUnit(unit); base != want.base || scale != want.scale {
			t.Errorf("%s: %s × %v", unit, base, scale)
		}
	}
}

// The record, which everybody may read, has only the names of a command's variables; the load gets the values
// in its environment.
func TestVariables(t *testing.T) {
	c, v := Command{}, map[string]string{"env": "TARETEST_A TARETEST_B"}
	t.Setenv("TARETEST_A", "secret a")
	values, err := Complete(c, v)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Stages(values); err == nil || !strings.Contains(err.Error(), "TARETEST_B") || !strings.Contains(hint.Of(err), "--preserve-env=TARETEST_B") {
		t.Errorf("a variable that is not there: %v (%s)", err, hint.Of(err))
	}
	t.Setenv("TARETEST_B", "")
	s, err := c.Stages(values)
	if err != nil {
		t.Fatal(err)
	}
	task := s.Load(wire.Place{Volume: "/data"})
	if want := []string{load.CommandEnv + "TARETEST_A=secret a", load.CommandEnv + "TARETEST_B="}; !slices.Equal(task.Env, want) {
		t.Errorf("the environment has %q, want %q", task.Env, want)
	}
	if strings.Contains(strings.Join(task.Args, " "), "secret") {
		t.Errorf("arguments %q", task.Args)
	}
	_, err = Complete(c, map[string]string{"env": "PASSWORD=hunter2"})
	if err == nil || !strings.Contains(err.Error(), "PASSWORD=...") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a value in the experiment: %v", err)
	}
}
