package messages

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// inChinese are the folders with sentences of records that commands print in Chinese. Errors and their remedies are English.
var inChinese = []string{"internal/cli", "internal/planning", "internal/arms", "internal/outside", "internal/undo", "internal/databases", "internal/loads",
	"internal/host", "internal/measure", "internal/logs", "internal/analysis", "internal/base/allow", "internal/base/units", "internal/linux", "record"}

// alsoWords are the files, and the folders with words.go files, that have such sentences. Those of the others are in reports.
var alsoWords = []string{"internal/planning/experiment", "internal/arms", "internal/outside", "internal/undo", "internal/databases",
	"internal/loads", "internal/host/volume"}

// command matches a command that somebody types, a quoted name, and a path: they are the same in every language.
var command = regexp.MustCompile(`"[^"]*"|'[^']*'|[^\s，；：（）]*[/=.*][^\s，；：（）]*|--?[a-z]\S*|` +
	`\btare (run|plan|doctor|presets|advise|report|check|compare|import|calibrate|cache|image|cleanup|config|completion|list|version|help)( [a-z]+-[a-z-]+| show| load| prune| list| ab\b)*|` +
	`\b(apt|apt-get|dnf) install( [a-z0-9.+-]+)*|\bchmod \S+|\b(modprobe|systemctl|sysctl|docker|podman|kubectl|mount|ceph|rbd|make|echo|cpupower)( [a-z-]+)+|` +
	`sh, head, (sleep, chmod and )?wc|image inspect|service account|cpu (group|cgroup)|page cache|bounding set|ambient capabilities`)

// names are texts that are the same in every language.
var names = []string{`X; did you mean "X"?`, "imported", "error", "end other processes, or raise the limit that is named: ps -eLf lists every thread",
	"quick layers docker-run", "kubernetes pod-network", "volumes storage disk",
	"colocation", "limit", "container", "cgroup", "besteffort", "docker", "podman", "gvisor", "namespaces", "tare manual", "tare list DIR", "tare config",
	// The manual pages, which are in English.
	"taken", "measure what a database or a disk loses in a container",
	"The user's configuration file.", "That of all users of the host.",
	"X sets the option --name of every command: X=10m is --budget=10m. An option on the command line comes first, " +
		"then the environment, then the user's configuration file, then the system's. tare config shows what is set where.",
	// The help of the keys of an experiment file, which is English.
	"what is compared; all: every arm that applies", "X; isolation: none, or one or a list of X", "one of X",
	"point select: X", "range select: X", "ordered range: X", "distinct range: X", "index update: X", "X X is in X", "X: X: it is X", "X: X needs tare on the node",
	"read back X: X"}

// englishProse matches two words in a row that are not Chinese.
var englishProse = regexp.MustCompile(`\b[a-z]{2,}('s)?,? [a-z]{2,}\b|^[a-z]{3,}$`)

// englishIn is the first part of a text that is English prose; "": there is none.
func englishIn(text string) string {
	return englishProse.FindString(command.ReplaceAllString(text, " ⟨⟩ "))
}

// saying are the functions that make a sentence of a record, with the indexes of the texts for people.
var saying = map[string][]int{"Unsupported": {0, 1}, "Unusable": {0, 1}}

// said is a sentence in the code, with sample values, and its place.
type said struct{ place, text string }

// collector reads the sentences of Go files.
type collector struct {
	set    *token.FileSet
	consts map[string]ast.Expr // by package.Name
	pkg    string              // of the file that is read
	all    []said
}

// TestCommandsAreInChinese translates what commands print of records, but errors and hints, and looks for English in the
// result. Other text of commands has a key, or is help, which the tests of package cli read.
func TestCommandsAreInChinese(t *testing.T) {
	missing, found := 0, 0
	program := readProgram(t)
	for _, s := range collect(t, inChinese...) {
		if englishIn(s.text) == "" || slices.Contains(names, s.text) || program.ofErrors(s.text, "X") {
			continue
		}
		found++
		if out := In(Chinese).Sentence(s.text); englishIn(out) != "" {
			missing++
			t.Errorf("%s: %s -> %s", s.place, s.text, out)
		}
	}
	t.Logf("%d of %d sentences are in Chinese", found-missing, found)
	if found < 100 {
		t.Errorf("only %d sentences were found", found)
	}
}

// collect returns the sentences of all packages below folders.
func collect(t *testing.T, folders ...string) []said {
	t.Helper()
	c, files := parsed(t)
	for path, file := range files {
		if within(path, folders) {
			c.pkg = file.Name.Name
			c.read(path, file)
		}
	}
	slices.SortFunc(c.all, func(a, b said) int { return strings.Compare(a.place, b.place) })
	return c.all
}

// parsed returns the files of the program by their paths, and a collector that knows their constants.
func parsed(t *testing.T) (*collector, map[string]*ast.File) {
	t.Helper()
	c := &collector{set: token.NewFileSet(), consts: map[string]ast.Expr{}}
	files := map[string]*ast.File{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && slices.Contains([]string{".git", "tools", "testing"}, d.Name()) {
			return fs.SkipDir
		}
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(c.set, path, nil, parser.ParseComments)
		files[strings.TrimPrefix(path, root)] = file
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		c.addConsts(file)
	}
	return c, files
}

// within reports that a file is in one of folders or below it.
func within(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(dir string) bool { return strings.HasPrefix(path, dir+"/") })
}

// addConsts remembers the constants and variables of a file that are texts.
func (c *collector) addConsts(file *ast.File) {
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range g.Specs {
			v, ok := s.(*ast.ValueSpec)
			for i := 0; ok && i < len(v.Values); i++ {
				c.consts[file.Name.Name+"."+v.Names[i].Name] = v.Values[i]
			}
		}
	}
}

// read collects the sentences of a file.
func (c *collector) read(path string, file *ast.File) {
	words := strings.HasPrefix(filepath.Base(path), "words") && (within(path, alsoWords) || slices.Contains(alsoWords, path))
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ImportSpec, *ast.Field:
			return false
		case *ast.CallExpr:
			c.arguments(nameOf(x.Fun), x.Args)
		case *ast.CompositeLit:
			if x.Type != nil {
				c.arguments(nameOf(x.Type), x.Elts)
			}
		case *ast.KeyValueExpr:
			if key := nameOf(x.Key); slices.Contains([]string{"Reason", "Remedy"}, key) { // a facts.Support
				c.add(x.Value)
			}
		case *ast.BasicLit, *ast.BinaryExpr:
			if words {
				c.add(x.(ast.Expr))
				return false
			}
		}
		return true
	})
}

// arguments collects the texts among the arguments of a function, or the fields of a type.
func (c *collector) arguments(name string, args []ast.Expr) {
	at, ok := saying[name]
	if !ok {
		_, short, _ := strings.Cut(name, ".")
		at = saying[short]
	}
	for _, i := range at {
		if i < len(args) {
			c.add(args[i])
		}
	}
}

var inserted = regexp.MustCompile(`\$\{\w+\}`)

func (c *collector) placeOf(n ast.Node) string {
	return strings.TrimPrefix(c.set.Position(n.Pos()).String(), root)
}

// add collects the texts that an expression may have.
func (c *collector) add(e ast.Expr) {
	if call, ok := e.(*ast.CallExpr); ok && nameOf(call.Fun) == "cmp.Or" {
		for _, a := range call.Args {
			c.add(a)
		}
		return
	}
	text := sample(c.text(e))
	if strings.HasPrefix(text, ", ") || strings.HasPrefix(text, "; ") {
		text = "X" + text // the end of a sentence
	}
	if strings.Trim(text, "X :;,.()") != "" && !strings.Contains(text, "\n\n") {
		c.all = append(c.all, said{c.placeOf(e), strings.TrimSpace(text)})
	}
}

// text is the format of an expression: values that are not in the code are %s.
func (c *collector) text(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(x.Value); err == nil && x.Kind == token.STRING {
			return s
		}
	case *ast.ParenExpr:
		return c.text(x.X)
	case *ast.BinaryExpr:
		if x.Op == token.ADD {
			return c.text(x.X) + c.text(x.Y)
		}
	case *ast.Ident:
		return c.constant(c.pkg + "." + x.Name)
	case *ast.SelectorExpr:
		return c.constant(nameOf(x))
	case *ast.CallExpr:
		if nameOf(x.Fun) == "fmt.Sprintf" {
			return c.text(x.Args[0])
		}
	}
	return "%s"
}

// constant is the text of a constant by package.Name; %s if there is none.
func (c *collector) constant(name string) string {
	switch x := c.consts[name].(type) {
	case *ast.BasicLit, *ast.BinaryExpr:
		pkg := c.pkg
		c.pkg, _, _ = strings.Cut(name, ".")
		defer func() { c.pkg = pkg }()
		return c.text(x)
	}
	return "%s"
}

var verb = regexp.MustCompile(`%[-+#0]*[\d.*]*(\[\d+\])?[a-zA-Z%]`)

// meant is a verb for a text of hint.DidYouMean, which may be empty.
var meant = regexp.MustCompile(`([\w"])%s$`)

// sample puts values in the place of the verbs of a format.
func sample(format string) string {
	format = meant.ReplaceAllString(format, "$1")
	return verb.ReplaceAllStringFunc(format, func(v string) string {
		switch v[len(v)-1] {
		case '%':
			return "%"
		case 'd', 'f', 'g':
			return "7"
		case 'q':
			return `"X"`
		}
		return "X"
	})
}

// nameOf is the name of a function or type: f, or package.f.
func nameOf(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return fmt.Sprintf("%s.%s", nameOf(x.X), x.Sel.Name)
	}
	return ""
}
