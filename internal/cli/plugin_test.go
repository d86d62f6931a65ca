package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Started as kubectl-tare, help, usage and errors name "kubectl tare" in every command line.
func TestPlugin(t *testing.T) {
	for file, want := range map[string]string{"/usr/bin/tare": "tare", "/root/.krew/bin/kubectl-tare": "kubectl tare", "kubectl-tare.test": "tare"} {
		if got := nameOf(file); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	for _, args := range [][]string{{"--help"}, {"run", "--help"}, {"kubernetes", "--help"}, {"runn"}, {"check"}, {"report", "--nope"}, {"calibrate", "5m"}} {
		out := asPlugin(t, args...)
		for line := range strings.Lines(out) {
			if rest := strings.ReplaceAll(line, "kubectl tare", ""); strings.Contains(rest, " tare run") || strings.HasPrefix(rest, "tare") || strings.Contains(rest, "tare --") {
				t.Errorf("%v: %q", args, line)
			}
		}
		if !strings.Contains(out, "kubectl tare") {
			t.Errorf("%v: no kubectl tare in\n%s", args, out)
		}
	}
	if out := asPlugin(t, "run", "--help"); !strings.Contains(out, "Usage: kubectl tare run") {
		t.Errorf("usage:\n%s", out)
	}
}

// Text that is no command line stays: paths, and the name of the program in a sentence.
func TestRenamingLeavesSentences(t *testing.T) {
	var g grammar
	parser, err := newParser(&g, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	r := renaming(pluginName, parser.Model.Children)
	for text, want := range map[string]string{
		"tare runs in a container":            "tare runs in a container",
		"tare run; tare report":               "kubectl tare run; kubectl tare report",
		"/usr/bin/tare run":                   "/usr/bin/tare run",
		`"tare plan --rbac" prints what`:      `"kubectl tare plan --rbac" prints what`,
		"tare measures what a database loses": "tare measures what a database loses",
		"try\n  tare help kubernetes":         "try\n  kubectl tare help kubernetes",
	} {
		if got := r.text(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	var b bytes.Buffer
	if n, err := renaming(ownName, nil).writer(&b).Write([]byte("tare run")); n != 8 || err != nil || b.String() != "tare run" {
		t.Errorf("%q, %d, %v", b.String(), n, err)
	}
}

// asPlugin is what the plugin prints, on both outputs.
func asPlugin(t *testing.T, args ...string) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	mainAs(pluginName, args, file, file)
	out, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
