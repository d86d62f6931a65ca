// Package formattest has helpers for tests of readers: golden files, and properties that hold for every reader
// and input.
package formattest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Golden compares got, read from a file of testdata, with the JSON in FILE.golden. With UPDATE=1 in the
// environment it writes that file.
func Golden(t *testing.T, file string, got any) {
	t.Helper()
	b, err := json.MarshalIndent(got, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, '\n')
	golden := file + ".golden"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatalf("%v (write it with UPDATE=1 go test)", err)
	}
	if d := cmp.Diff(string(want), string(b)); d != "" {
		t.Errorf("%s (-want +got; UPDATE=1 accepts)\n%s", golden, d)
	}
}

// Files lists the matching inputs in testdata, without golden files, scripts and notes.
func Files(t testing.TB, patterns ...string) []string {
	t.Helper()
	var out []string
	for _, p := range patterns {
		names, err := filepath.Glob(filepath.Join("testdata", p))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			if i, err := os.Stat(n); err == nil && i.Mode().IsRegular() && !strings.HasSuffix(n, ".golden") &&
				!strings.HasSuffix(n, ".md") && !strings.HasSuffix(n, ".sh") {
				out = append(out, n)
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("no test data in %v", patterns)
	}
	return out
}

// Read reads a file of testdata.
func Read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Truncated truncates the input after every step bytes, and fails if the reader finds more in a part than in
// the whole. count returns how much was read.
func Truncated(t *testing.T, in []byte, step int, count func([]byte) int) {
	t.Helper()
	whole := count(in)
	for i := 0; i < len(in); i += step {
		if n := count(in[:i]); n > whole {
			t.Fatalf("the first %d bytes give %d, all %d bytes give %d; they end with\n%q", i, n, len(in), whole, in[max(0, i-200):i])
		}
	}
}

// CutLines is Truncated, but truncates only between lines.
func CutLines(t *testing.T, in []byte, count func([]byte) int) {
	t.Helper()
	whole := count(in)
	for i := len(in) - 1; i >= 0; i -= 1 + len(in)/8 {
		at := bytes.LastIndexByte(in[:i], '\n') + 1
		if n := count(in[:at]); n > whole {
			t.Fatalf("the first %d bytes give %d, all %d bytes give %d", at, n, len(in), whole)
		}
	}
}

// Same fails if reading the input twice gives different results, or if a result cannot be written as JSON, as
// with NaN.
func Same(t *testing.T, read func() any) {
	t.Helper()
	var out [2]string
	for i := range out {
		b, err := json.Marshal(read())
		if err != nil {
			t.Fatal(err)
		}
		out[i] = string(b)
	}
	if out[0] != out[1] {
		t.Fatalf("read twice, two results\n%s\n%s", out[0], out[1])
	}
}
