package messages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allowed are literals with a word in them that are for no person, or are a name
// that is the same in every language, by file.
var allowed = map[string][]string{
	"screen.go":   {"DIR", "%.0fm"},
	"row.go":      {"pressure.cpu.some", "pressure.cpu.full"},
	"junit.go":    {"tare", "tare check", "experiment", "seed", "kernel", "cpu"},
	"footer.go":   {"tare", "2006-01-02 15:04 UTC"},
	"quantity.go": {"min", "ns", "ms", "µs", "KiB", "MiB", "GiB", "TiB"},
	"page.go": {"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src 'sha256-", "trust", "warnings", "left", "how", "words",
		"span", "brief ", "faint", "-effects", "-steps", "-latency"},
	"page_document.go": {" class=\"", "faint", "dt", "span", " scope=\"col\"", "th", " scope=\"row\"", "td", " data-head=\""},
	"page_effects.go":  {"overview"},
	"page_how.go":      {"tare"},
}

// word is what may be one for people: two letters in a row.
var word = regexp.MustCompile(`\p{L}{2,}`)

// quiet are functions whose arguments nobody reads but a program or, of an error,
// somebody in a terminal; those of the catalogue are keys and names.
var quiet = regexp.MustCompile(`^((\w+\.)*(msg|text|word|labelled|number|joined|joinAll|mark)|record\.Say|inWords|fileName|slug|hashed|fmt\.Errorf|errors\.New|regexp\.MustCompile|strings\..*|messages\..*|\.Text|template\.New|.*\.New|b\.row|.*\.Lookup|byName\[.*)$`)

// keyed are variables and fields whose values are names of classes and tones, keys of
// the catalogue or parts of them, and pairs of name and value for it.
var keyed = []string{"toneClass", "toneNames", "form", "key", "kind", "groups", "pairs", "Tone", "class", "ID", "name"}

// literals are the string literals of a file that a person may read.
func literals(t *testing.T, path string) (found []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := reader{}
	ast.Inspect(file, r.look)
	return r.found
}

// reader collects literals.
type reader struct{ found []string }

// look is of ast.Inspect.
func (r *reader) look(n ast.Node) bool {
	switch x := n.(type) {
	case *ast.ImportSpec, *ast.Field:
		return false
	case *ast.ValueSpec:
		return !slices.ContainsFunc(x.Names, func(i *ast.Ident) bool { return slices.Contains(keyed, i.Name) })
	case *ast.AssignStmt:
		for i, value := range x.Rhs {
			r.value(value, len(x.Lhs) == len(x.Rhs) && slices.Contains(keyed, last(x.Lhs[i])))
		}
		return false
	case *ast.KeyValueExpr: // a key is for the program
		r.value(x.Value, slices.Contains(keyed, last(x.Key)))
		return false
	case *ast.IndexExpr:
		r.walk(x.X, x.Index)
		return false
	case *ast.CaseClause:
		r.walk(x.List...)
		for _, s := range x.Body {
			ast.Inspect(s, r.look)
		}
		return false
	case *ast.BinaryExpr:
		if x.Op != token.ADD {
			r.walk(x.X, x.Y)
			return false
		}
	case *ast.CallExpr:
		if quiet.MatchString(name(x.Fun)) {
			for _, a := range x.Args {
				if b, is := a.(*ast.BinaryExpr); !is || b.Op != token.ADD { // a key of two parts
					r.walk(a)
				}
			}
			return false
		}
	case *ast.BasicLit:
		if s, err := strconv.Unquote(x.Value); x.Kind == token.STRING && err == nil && word.MatchString(s) && !strings.Contains(s, "<") {
			r.found = append(r.found, s)
		}
	}
	return true
}

// value looks at what a name gets.
func (r *reader) value(e ast.Expr, keyed bool) {
	if keyed {
		r.walk(pairs(e)...)
	} else {
		ast.Inspect(e, r.look)
	}
}

// walk looks at expressions, but not at those that are a literal.
func (r *reader) walk(nodes ...ast.Expr) {
	for _, n := range nodes {
		if _, literal := n.(*ast.BasicLit); n != nil && !literal {
			ast.Inspect(n, r.look)
		}
	}
}

// pairs are what is behind names in a list of them, or the expression itself.
func pairs(e ast.Expr) []ast.Expr {
	switch x := e.(type) {
	case *ast.CompositeLit:
		return x.Elts
	case *ast.CallExpr:
		if name(x.Fun) == "append" {
			return x.Args
		}
	case *ast.BinaryExpr:
		return []ast.Expr{x.X, x.Y}
	}
	return []ast.Expr{e}
}

// last is the last part of a name: kind of g.kind.
func last(e ast.Expr) string {
	n := name(e)
	return n[strings.LastIndexByte(n, '.')+1:]
}

func name(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return name(x.X) + "." + x.Sel.Name
	}
	return ""
}

// TestWordsAreInTheCatalogue: whatever people read in a report is in the catalogue,
// so that a language is one file. What is not for people is in the short list above.
func TestWordsAreInTheCatalogue(t *testing.T) {
	used := map[string]bool{}
	seen := 0
	for _, pattern := range []string{"../../report/*.go", "../../analysis/answer/*.go", "../quantity/*.go"} {
		paths, _ := filepath.Glob(pattern)
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			seen++
			base := filepath.Base(path)
			for _, s := range literals(t, path) {
				used[base+" "+s] = true
				if _, key := english().texts[Key(s)]; !key && !slices.Contains(allowed[base], s) {
					t.Errorf("%s: %q is not in the catalogue", path, s)
				}
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d files were looked at", seen)
	}
	for file, all := range allowed {
		for _, s := range all {
			if !used[file+" "+s] {
				t.Errorf("%s: %q is allowed and is not there", file, s)
			}
		}
	}
}

// TestTemplatesHaveNoWords: nor has a template of a page.
func TestTemplatesHaveNoWords(t *testing.T) {
	paths, _ := filepath.Glob("../../report/*.tmpl")
	if len(paths) == 0 {
		t.Fatalf("%d templates", len(paths))
	}
	action, tag := regexp.MustCompile(`(?s){{.*?}}`), regexp.MustCompile(`(?s)<[^>]*>`)
	labels := regexp.MustCompile(`aria-label="[^"{]*\p{L}{2}`)
	for _, path := range paths {
		text := action.ReplaceAllString(read(t, path), "")
		if found := word.FindAllString(strings.NewReplacer("BibTeX", "", "tare", "").Replace(tag.ReplaceAllString(text, " ")), -1); len(found) > 0 {
			t.Errorf("%s has words: %q", path, found)
		}
		if found := labels.FindAllString(text, -1); len(found) > 0 {
			t.Errorf("%s: %q", path, found)
		}
	}
}

// TestLiteralsAreFound: the test above is not blind.
func TestLiteralsAreFound(t *testing.T) {
	got := literals(t, "testdata/words.go.txt")
	want := []string{"a cell", "printed", "in a list", "joined "}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
