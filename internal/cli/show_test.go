package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shown is what a run prints at its end, of a real result.
func shown(t *testing.T, dir string) (string, error) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	r := runCommand{Format: "text"}
	_, _, err = r.show(&console{stdout: out, stderr: out, getenv: func(string) string { return "" }}, dir)
	b, rerr := os.ReadFile(out.Name())
	if rerr != nil {
		t.Fatal(rerr)
	}
	return string(b), err
}

// A result is printed also if it cannot be written, as on a full disk.
func TestShow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	if err := os.CopyFS(dir, os.DirFS("../report/testdata/nodes/a")); err != nil {
		t.Fatal(err)
	}
	text, err := shown(t, dir)
	if err != nil || !strings.HasSuffix(text, "results in "+dir+", with charts in "+dir+"/report.html\n") {
		t.Errorf("%v\n%s", err, text)
	}
	page := filepath.Join(dir, "report.html")
	if err := os.Remove(page); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(page, "in-the-way"), 0o755); err != nil {
		t.Fatal(err)
	}
	again, err := shown(t, dir)
	if exitCode(err) != exitError || !strings.Contains(err.Error(), "report.html") {
		t.Errorf("the page was not written: %v", err)
	}
	report, _, _ := strings.Cut(text, "results in ")
	if again != report+"results in "+dir+"\n" {
		t.Errorf("without a page:\n%s", again)
	}
}
