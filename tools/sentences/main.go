// Command sentences finds sentences for users in the middle of code: string literals of
// three words or more, alone or joined by +, below the given directories. Such texts stand in
// words.go of their package, one file for a translator. Errors may stay where they are made, and texts
// with which input is compared.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// catalogue matches the files of a package that may have sentences.
var catalogue = regexp.MustCompile(`^words(_\w+)?\.go$`)

// errorMakers are the functions whose arguments are texts of errors.
var errorMakers = regexp.MustCompile(`^(fmt\.Errorf|errors\.New|hint\.\w+|wrong|panic)$`)

var (
	// verb is a formatting verb of package fmt, which is no word.
	verb = regexp.MustCompile(`%[-+# 0]*[\d.*]*(\[\d+\])?[a-zA-Z%]`)
	// word is a field between spaces that counts as a word.
	word = regexp.MustCompile(`^\pP*(a|\p{L}{2}.*)$`)
	// data is the beginning of a text for programs: YAML.
	data = regexp.MustCompile(`^(\{|\w+: .*\n)`)
)

// fewest is the number of words from which a text counts as a sentence.
const fewest = 3

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: sentences DIR...")
		os.Exit(2)
	}
	found := 0
	for _, dir := range os.Args[1:] {
		all, err := below(dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, "sentences:", err)
			os.Exit(2)
		}
		for _, s := range all {
			fmt.Println(s)
		}
		found += len(all)
	}
	if found > 0 {
		fmt.Printf("%d sentences outside of words.go\n", found)
		os.Exit(1)
	}
}

// below returns "file:line:column: text" for each sentence in the packages below a directory. A
// directory without Go files is an error: somebody has moved the package.
func below(dir string) (all []string, err error) {
	set := token.NewFileSet()
	var files []parsed
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name := filepath.Base(path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name == "testdata":
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, 0)
		files = append(files, parsed{filepath.Dir(path), file})
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case len(files) == 0:
		return nil, fmt.Errorf("%s: no Go files", dir)
	}
	p := patternsIn(files)
	for _, f := range files {
		if catalogue.MatchString(filepath.Base(set.Position(f.file.Pos()).Filename)) {
			continue
		}
		for _, s := range sentences(f.file, p) {
			all = append(all, fmt.Sprintf("%s: %s", set.Position(s.at), s.text))
		}
	}
	return all, nil
}

// sentence is a text and where it begins.
type sentence struct {
	at   token.Pos
	text string
}

// sentences returns the texts of a file that are compared with nothing.
func sentences(file *ast.File, p *patterns) (all []sentence) {
	ast.Inspect(file, func(n ast.Node) bool {
		if p.exprs[n] {
			return false
		}
		switch x := n.(type) {
		case *ast.ImportSpec, *ast.Field: // a path, a tag
			return false
		case *ast.CallExpr:
			return !errorMakers.MatchString(called(x.Fun))
		case *ast.BinaryExpr, *ast.BasicLit:
			text := joined(x.(ast.Expr))
			if words(text) >= fewest {
				all = append(all, sentence{n.Pos(), text})
				return false
			}
		}
		return true
	})
	return all
}

// words counts the words of a text for people; 0 for data.
func words(text string) (n int) {
	if data.MatchString(text) {
		return 0
	}
	for _, field := range strings.Fields(verb.ReplaceAllString(text, " ")) {
		if word.MatchString(field) {
			n++
		}
	}
	return n
}

// joined is the text of all string literals in an expression that joins them by +.
func joined(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(x.Value); err == nil && x.Kind == token.STRING {
			return s
		}
	case *ast.BinaryExpr:
		if x.Op == token.ADD {
			return joined(x.X) + " " + joined(x.Y)
		}
	case *ast.ParenExpr:
		return joined(x.X)
	}
	return ""
}

// called is the name of the function in a call: f, or package.f.
func called(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return called(x.X) + "." + x.Sel.Name
	}
	return ""
}
