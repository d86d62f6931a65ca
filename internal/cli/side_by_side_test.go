package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/record"
)

// nodesResult is the result directory of several nodes, from the real records in
// internal/report/testdata/nodes.
func nodesResult(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "r")
	n := record.Nodes{Schema: record.NodesSchema, Left: []record.Left{{Arm: "w-9", Reason: record.InProse("node w-9 is not ready")}}}
	for name, from := range map[string]string{"w-1": "a", "w-2": "b", "w-3": "d"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join("..", "report", "testdata", "nodes", from))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"w-1", "w-2", "w-3"} {
		n.Nodes = append(n.Nodes, record.NodeResult{Name: name, Dir: name})
	}
	if err := record.WriteJSON(dir, record.NodesFile, n); err != nil {
		t.Fatal(err)
	}
	return dir
}

// reportOf runs a report and returns what it printed.
func reportOf(t *testing.T, r reportCommand) (string, error) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	runErr := r.Run(&console{stdout: out, stderr: out, getenv: func(string) string { return "" }})
	b, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(b), runErr
}

func wantText(t *testing.T, what, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%s does not have %q", what, w)
		}
	}
}

// A report of several nodes is text, Markdown or JSON. The error about another form names the
// report of one node.
func TestReportOfNodes(t *testing.T) {
	dir := nodesResult(t)
	for form, want := range map[string]string{"text": "differs in ", "markdown": "**differs** in ", "json": record.NodesSchema} {
		out, err := reportOf(t, reportCommand{Dir: dir, Format: format(form)})
		if err != nil {
			t.Errorf("%s: %v", form, err)
		}
		wantText(t, form, out, want)
	}
	for what, r := range map[string]reportCommand{
		"--format csv": {Dir: dir, Format: "csv"}, "--format html": {Dir: dir, Format: "html"}, "--open": {Dir: dir, Format: "text", Open: true}, "--verbose": {Dir: dir, Format: "text", Verbose: true},
	} {
		_, err := reportOf(t, r)
		if exitCode(err) != exitUsage {
			t.Errorf("%s: %v", what, err)
		}
		wantText(t, "the hint", hint.Of(err), filepath.Join(dir, "w-1")+" "+what)
	}
}
