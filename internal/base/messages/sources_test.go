package messages

import (
	"go/ast"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// ofOthers are texts of the kernel, which no source has.
var ofOthers = []string{"write back"}

// makesErrors matches functions and types whose texts are those of an error or of its remedy.
var makesErrors = regexp.MustCompile(`^(fmt\.Errorf|errors\.New|hint\.\w+|panic|(\w+\.)*(wrong|useless|addProblem|refuse|explain)|(\w+\.)?\w*(Error|Problem))$`)

// program is the texts of the program, cut at the values in them.
type program struct {
	collector
	dir     string
	errors  map[string]bool // constants and functions, by directory and name: whether only errors have them
	whole   map[string]bool // texts with marks for their values: whether only errors have them
	said    parts           // of what is no error
	allSaid parts
}

// parts are texts without values.
type parts struct {
	whole map[string]bool
	list  *strings.Builder
}

func newParts() parts { return parts{map[string]bool{}, &strings.Builder{}} }

func (p parts) add(text string) {
	for _, part := range strings.Split(text, "\x00") {
		if part = plain(part); !p.whole[part] {
			p.whole[part] = true
			p.list.WriteString(part + "\x00")
		}
	}
}

// plain is a text on one line without punctuation around it.
func plain(text string) string {
	return strings.Trim(strings.Join(strings.Fields(text), " "), " ,;:.()[]{}")
}

// has says whether a text is in a part, or is made of a number of parts.
func (p parts) has(text string, most int) bool {
	text = plain(text)
	if text == "" || strings.Contains(p.list.String(), text) {
		return true
	}
	for at := range len(text) {
		if most > 1 && (text[at] == ' ' || text[at] == '_') && p.whole[plain(text[:at])] && p.has(text[at+1:], most-1) {
			return true
		}
	}
	return false
}

// hasAll says whether all texts between the placeholders of a pattern are there.
func (p parts) hasAll(literals []string, most int) bool {
	return !slices.ContainsFunc(literals, func(l string) bool { return !p.has(l, most) })
}

// value is what a text of a file has for a value: {name} in english.txt.
var value = regexp.MustCompile(`\{[^}]*\}|<\w+\||>|\n`)

func readProgram(t *testing.T) *program {
	t.Helper()
	c, files := parsed(t)
	x := &program{*c, "", map[string]bool{}, map[string]bool{}, newParts(), newParts()}
	for _, visit := range []func(ast.Expr, string, bool){x.use, x.take} {
		for path, file := range files {
			x.dir, x.pkg = filepath.Dir(path), file.Name.Name
			walk(file, "", false, visit)
		}
	}
	presets, err := filepath.Glob(root + "internal/planning/experiment/presets/*.yaml")
	if err != nil || len(presets) == 0 {
		t.Fatal(len(presets), err)
	}
	all := []string{englishText, strings.Join(ofOthers, "\n")}
	for _, path := range presets {
		all = append(all, read(t, path))
	}
	for e := range syscall.Errno(200) {
		all = append(all, e.Error())
	}
	for _, text := range all {
		x.add(value.ReplaceAllString(text, "\x00"), false)
	}
	return x
}

// add adds a text.
func (x *program) add(text string, ofError bool) {
	x.allSaid.add(text)
	was, seen := x.whole[whole(text)]
	x.whole[whole(text)] = ofError && (was || !seen)
	if !ofError {
		x.said.add(text)
	}
}

// walk visits the expressions below a node, each with the constant or function that it is in, and whether it is of
// an error: an argument of what makes one, or below a comment that begins with Errors.
func walk(n ast.Node, within string, ofError bool, visit func(e ast.Expr, within string, ofError bool)) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch y := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.GenDecl:
			if !ofError && strings.HasPrefix(y.Doc.Text(), "Errors") {
				walk(y, within, true, visit)
				return false
			}
		case *ast.FuncDecl:
			if y.Body != nil {
				ofError := ofError || strings.HasPrefix(y.Doc.Text(), "Errors")
				walk(y.Type, y.Name.Name, ofError, visit)
				walk(y.Body, y.Name.Name, ofError, visit)
			}
			return false
		case *ast.ValueSpec:
			for i, v := range y.Values {
				walk(v, y.Names[min(i, len(y.Names)-1)].Name, ofError, visit)
			}
			return false
		case *ast.CallExpr:
			if !ofError && makesErrors.MatchString(nameOf(y.Fun)) {
				walk(y, within, true, visit)
				return false
			}
		case *ast.CompositeLit:
			if !ofError && makesErrors.MatchString(nameOf(y.Type)) {
				walk(y, within, true, visit)
				return false
			}
		}
		if e, ok := n.(ast.Expr); ok {
			visit(e, within, ofError)
		}
		return true
	})
}

// use notes where a constant or function is used.
func (x *program) use(e ast.Expr, within string, ofError bool) {
	if name, ok := e.(*ast.Ident); ok && name.Name != within {
		key := x.dir + "." + name.Name
		was, seen := x.errors[key]
		x.errors[key] = ofError && (was || !seen)
	}
}

// take adds the text of an expression.
func (x *program) take(e ast.Expr, within string, ofError bool) {
	text := ""
	switch y := e.(type) {
	case *ast.BasicLit, *ast.BinaryExpr:
		text = x.text(e)
	case *ast.CallExpr:
		if nameOf(y.Fun) == "quantity.Count" {
			text = x.text(y.Args[1]) + "s"
		}
	}
	if help := reflect.StructTag(text).Get("help"); help != "" {
		text = help
	}
	x.add(withoutValues(text), ofError || x.errors[x.dir+"."+within])
}

// withoutValues cuts a format at its verbs, and a text of help at its variables.
func withoutValues(format string) string {
	return inserted.ReplaceAllString(verb.ReplaceAllStringFunc(format, func(v string) string {
		if v == "%%" {
			return "%"
		}
		return "\x00"
	}), "\x00")
}

// sayer is who has a text.
type sayer int

const (
	nobody sayer = iota
	onlyErrors
	others
)

// saidBy says who has all texts between the placeholders of a pattern. Two words are hardly a text of an error.
func (x *program) saidBy(literals []string) sayer {
	words := len(strings.Fields(strings.Join(literals, " ")))
	switch {
	case x.said.hasAll(literals, 1), words < 3 && x.said.hasAll(literals, 3):
		return others
	case x.allSaid.hasAll(literals, 1):
		return onlyErrors
	case x.said.hasAll(literals, 3):
		return others
	case x.allSaid.hasAll(literals, 3):
		return onlyErrors
	}
	return nobody
}

// ofErrors says that only errors have a text, in which value stands for values.
func (x *program) ofErrors(text, value string) bool {
	ofError, known := x.whole[whole(regexp.MustCompile(`\b`+value+`\b`).ReplaceAllString(text, "\x00"))]
	return known && ofError
}

// whole is a text with a mark for each value.
func whole(text string) string { return plain(strings.ReplaceAll(text, "\"\x00\"", "\x00")) }

// TestPatternsAreSaid: the program says the English of every pattern, and not only in errors, which are in English.
func TestPatternsAreSaid(t *testing.T) {
	x := readProgram(t)
	for text, want := range map[string]sayer{"memory limit of this shell": others, "no preset and no file {name}": onlyErrors, "nothing was altered so far": nobody} {
		if literals, _ := opened(text); x.saidBy(literals) != want {
			t.Errorf("%q is said by %d, want %d", text, x.saidBy(literals), want)
		}
	}
	all, err := parsePatterns(chineseSentences)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		switch x.saidBy(p.literals) {
		case nobody:
			t.Errorf("nothing says %q", p.literals)
		case onlyErrors:
			t.Errorf("only errors say %q", p.literals)
		}
	}
}

// TestErrorsAreWhole: an error that a report quotes is in English.
func TestErrorsAreWhole(t *testing.T) {
	zh, n := chinese(), 0
	for text, ofError := range readProgram(t).whole {
		english := strings.ReplaceAll(text, "\x00", "X")
		if !ofError || !phrase.MatchString(english) || strings.Count(english, "(") != strings.Count(english, ")") {
			continue
		}
		n++
		for _, said := range []string{english, "X: " + english, english + ": X"} {
			if got := zh.Sentence(said); got != said && phrase.MatchString(command.ReplaceAllString(got, " ")) {
				t.Errorf("%q is %q", said, got)
			}
		}
	}
	if n < 1000 {
		t.Errorf("only %d errors were found", n)
	}
}
