package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/packages"
)

// A module with a package a below internal, and a package b that uses some of a.
func TestExported(t *testing.T) {
	for name, c := range map[string]struct {
		a, b, test string
		found      int
	}{
		"all are used":                    {a: "func F() {}", b: "var _ = a.F"},
		"one is not":                      {a: "func F() {}\nfunc G() {}", b: "var _ = a.F", found: 1},
		"its own package is no other one": {a: "func F() {}\nvar _ = F", b: "var _ a.T", found: 1},
		"a test outside of the package":   {a: "func F() {}", b: "var _ a.T", test: "package a_test\nimport \"x/internal/a\"\nvar _ = a.F"},
		"a test inside of it":             {a: "func F() {}", b: "var _ a.T", test: "package a\nvar _ = F", found: 1},
		"a type that a result has":        {a: "type R struct{ In []*S }\ntype S struct{}\nfunc F() R { return R{} }", b: "var _ = a.F"},
		"a type behind a private field":   {a: "type R struct{ in S }\ntype S struct{}\nfunc F() R { return R{} }", b: "var _ = a.F", found: 1},
		"a constant beside one":           {a: "const (\n\tA = 1\n\tB = 2\n)", b: "const _ = a.A"},
		"a constant of its type":          {a: "type K int\nconst A K = 1\nconst B K = 2", b: "const _ = a.A"},
		"constants of no user":            {a: "const (\n\tA = 1\n\tB = 2\n)", b: "var _ a.T", found: 2},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{
				"go.mod": "module x\n\ngo 1.26\n", "internal/a/a.go": "package a\n\ntype T int\n\n" + c.a + "\n",
				"b/b.go": "package b\n\nimport \"x/internal/a\"\n\nvar _ a.T\n\n" + c.b + "\n", "internal/a/a_test.go": c.test,
			} {
				if text == "" {
					continue
				}
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			all, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Tests: true, Dir: dir, Env: append(os.Environ(), "GOFLAGS=", "GOWORK=off")}, "./...")
			if err != nil || packages.PrintErrors(all) > 0 {
				t.Fatal(err)
			}
			said, want := "", ""
			if err := checkExported(all); err != nil {
				said = err.Error()
			}
			if c.found > 0 {
				want = fmt.Sprintf("%d exported names that no other package uses", c.found)
			}
			if said != want {
				t.Errorf("%q, want %q", said, want)
			}
		})
	}
}
