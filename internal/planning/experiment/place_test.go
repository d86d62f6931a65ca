package experiment

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// podWords are words with environments for neighbours, one of which has levels.
func podWords() Words {
	w := testWords()
	w.Places = []string{"besteffort", "burstable"}
	w.Levels = func(_, text string) error {
		if !strings.HasPrefix(text, "cpu=") {
			return errors.New("no such level")
		}
		return nil
	}
	return w
}

func beside(environment, isolation string) string {
	return `name: x
neighbours:
  hogs: {kind: spin, environment: "` + environment + `"}
arms:
  alone: {environment: host}
  busy: {environment: host, neighbour: hogs` + isolation + `}
baseline: alone
workloads:
  a: {kind: oltp}
`
}

// The environment of a neighbour is read, written and read again; the host is not written.
func TestNeighbourPlace(t *testing.T) {
	for text, want := range map[string]string{"host": "", "besteffort": "besteffort", "burstable:cpu=1": "burstable:cpu=1"} {
		got, err := Parse("f.yaml", []byte(beside(text, "")), podWords())
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if h := got.Neighbour("hogs"); h.Environment != want {
			t.Errorf("%s: %q", text, h.Environment)
		}
		back, err := Parse("f.yaml", got.YAML(), podWords())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(got, back); d != "" {
			t.Errorf("%s, written and read again: %s", text, d)
		}
	}
	for _, c := range []struct{ environment, isolation, says string }{
		{"cgroup", "", `environment "cgroup"`},
		{"besteffort:memory=1", "", "no such level"},
		{"besteffort", ", isolation: cpu.idle", "isolation is set on a neighbour of the host"},
	} {
		_, err := Parse("f.yaml", []byte(beside(c.environment, c.isolation)), podWords())
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s%s: %v, want %q", c.environment, c.isolation, err, c.says)
		}
	}
	if _, err := Parse("f.yaml", []byte(beside("besteffort", ", isolation: none")), podWords()); err != nil {
		t.Error(err)
	}
}
