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

// spoken are the packages whose sentences a report may have. Of the others than words.go only the named functions
// speak.
var spoken = map[string][]string{
	"analysis": nil, "analysis/compare": nil, "analysis/gate": nil,
	"host/doctor": nil, "host/isolation": nil, "host/probe": nil, "planning/plan": nil, "measure/run": nil, "measure/session": nil,
	"logs/clickhouse": nil, "logs/csv": nil, "logs/fio": nil, "logs/format": nil, "logs/hyperfine": nil, "logs/importer": nil, "logs/kubefio": nil,
	"logs/observed": nil, "logs/pgbench": nil, "logs/redis": nil, "logs/sysbench": nil, "report/handover": nil,
	"linux/storage": {"Warnings", "nfs", "ceph"}, "planning/remedy": {"Does", "Gives", "Needs"},
	"host/durability": {"Class", "classOf", "Compare", "Facts"},
}

// unsaid are texts of these packages that no report says: parts of sentences, and names.
var unsaid = map[string][]string{
	"analysis":         {" and ", "7 and 7", "steal"},
	"analysis/compare": {"parameter ", "neighbour ", "version of ", "setting "}, // a name follows
	"analysis/gate":    {" in the arms 7"},                                      // of an error
	"host/doctor":      {"7 on 7"},                                              // a file system on a device
	"host/durability":  {"durability", "durability.because", "durability.sync_median", "durability.7"},
	"linux/storage":    {"rsize", "wsize", "7 on 7: 7"},
	"logs/fio":         {"are", "is", "text", "terse", "JSON"},
	"logs/format":      {"7 and 7"},
	"measure/run":      {"7 errors7"}, // the end of a log follows
	"planning/remedy":  {"Linux 5.14", "Linux 5.15"},
}

// filler stands in samples for what is put into a sentence: it may be a number or a name.
const filler = "7"

var formatVerb = regexp.MustCompile(`%[-+#0]*[\d.*]*(\[\d+\])?([a-zA-Z%])`)

// speaker finds the sentences of a package.
type speaker struct {
	consts map[string]ast.Expr
	funcs  map[string]ast.Expr // what functions of one statement return
	found  []string
}

// sample is a text with a filler in the place of each value.
func (s *speaker) sample(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(x.Value); err == nil && x.Kind == token.STRING {
			return text
		}
	case *ast.ParenExpr:
		return s.sample(x.X)
	case *ast.BinaryExpr:
		if x.Op == token.ADD {
			return s.sample(x.X) + s.sample(x.Y)
		}
	case *ast.Ident:
		if c, ok := s.consts[x.Name]; ok {
			return s.sample(c)
		}
	case *ast.CallExpr:
		if name(x.Fun) == "fmt.Sprintf" && len(x.Args) > 0 {
			var args []string
			for _, a := range x.Args[1:] {
				args = append(args, s.sample(a))
			}
			return filled(s.sample(x.Args[0]), args...)
		}
		if of, ok := s.funcs[last(x.Fun)]; ok {
			return s.sample(of)
		}
	}
	return filler
}

// filled is a format with its arguments, or fillers, for its verbs.
func filled(format string, args ...string) string {
	next := -1
	return formatVerb.ReplaceAllStringFunc(format, func(verb string) string {
		if verb == "%%" {
			return "%"
		}
		value := filler
		if next++; next < len(args) {
			value = args[next]
		}
		if strings.HasSuffix(verb, "q") {
			return strconv.Quote(value)
		}
		return value
	})
}

// declare notes what a constant or a function of one statement stands for.
func (s *speaker) declare(n ast.Node) {
	switch x := n.(type) {
	case *ast.ValueSpec:
		for i, n := range x.Names {
			if len(x.Names) == len(x.Values) {
				s.consts[n.Name] = x.Values[i]
			}
		}
	case *ast.FuncDecl:
		if len(x.Body.List) == 1 {
			if r, ok := x.Body.List[0].(*ast.ReturnStmt); ok && len(r.Results) == 1 {
				s.funcs[x.Name.Name] = r.Results[0]
			}
		}
	}
}

// texts takes the texts of a node that are no parts of others.
func (s *speaker) texts(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ImportSpec, *ast.Field:
			return false
		case *ast.CallExpr:
			if name(x.Fun) == "fmt.Sprintf" {
				s.take(x)
				return false
			}
			return !quietCall.MatchString(name(x.Fun))
		case *ast.IndexExpr:
			s.texts(x.X)
			return false
		case *ast.CaseClause:
			for _, stmt := range x.Body {
				s.texts(stmt)
			}
			return false
		case *ast.KeyValueExpr:
			s.texts(x.Value)
			return false
		case *ast.BinaryExpr:
			if x.Op == token.ADD {
				s.take(x)
			}
			return x.Op != token.ADD && x.Op != token.EQL && x.Op != token.NEQ
		case *ast.BasicLit:
			s.take(x)
		}
		return true
	})
}

// quietCall are calls whose arguments are no sentences.
var quietCall = regexp.MustCompile(`^(strings\..*|slices\..*|regexp\..*|fmt\.Errorf|errors\.New|hint\.New|record\.Say|f\.Has|f\.Option|cmp\.Or)$`)

func (s *speaker) take(e ast.Expr) {
	text := s.sample(e)
	if _, literal := e.(*ast.BasicLit); literal { // perhaps a format
		text = filled(text)
	}
	if word.MatchString(text) {
		s.found = append(s.found, text)
	}
}

// sentencesOf are the sentences of a package: those of its words.go, or of these functions and fields.
func sentencesOf(t *testing.T, dir string, from []string) []string {
	t.Helper()
	paths, _ := filepath.Glob("../../" + dir + "/*.go")
	s := &speaker{consts: map[string]ast.Expr{}, funcs: map[string]ast.Expr{}}
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || from == nil && !strings.HasPrefix(filepath.Base(path), "words") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
		ast.Inspect(file, func(n ast.Node) bool {
			s.declare(n)
			return true
		})
	}
	for _, file := range files {
		if from == nil {
			s.texts(file)
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.FuncDecl:
				if slices.Contains(from, x.Name.Name) {
					s.texts(x.Body)
				}
			case *ast.KeyValueExpr:
				if field, ok := x.Key.(*ast.Ident); ok && slices.Contains(from, field.Name) {
					s.texts(x.Value)
				}
			}
			return true
		})
	}
	return s.found
}

// TestEverySentenceHasAPattern: each sentence of a package that speaks in a report has a translation.
func TestEverySentenceHasAPattern(t *testing.T) {
	zh, program := chinese(), readProgram(t)
	count := 0
	for dir, from := range spoken {
		all := sentencesOf(t, dir, from)
		if len(all) == 0 {
			t.Errorf("%s has no sentence", dir)
		}
		count += len(all)
		for _, english := range all {
			if slices.Contains(unsaid[dir], english) {
				continue
			}
			if to, ok := zh.translate(english, 0); !ok && !program.ofErrors(english, filler) {
				t.Errorf("%s: no pattern for %q (%s)", dir, english, to)
			}
		}
	}
	if count < 700 {
		t.Errorf("only %d sentences were found", count)
	}
}
