package schemas

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// source has the comments of the packages of a module, read when a type of theirs is first asked for.
type source struct {
	top, module string
	packages    map[string]*folder // by import path
}

// folder has the comments of one package.
type folder struct {
	types     map[string]string            // doc of a type
	fields    map[string]map[string]string // comment of a field, by type and Go name
	json      map[string]map[string]string // name in JSON, by type and Go name
	constants []constant
}

type constant struct{ name, kind, value, comment string } // value: empty for numbers

func newSource(top, module string) *source {
	return &source{top, module, map[string]*folder{}}
}

func (s *source) of(t reflect.Type) *folder {
	path := t.PkgPath()
	if f, ok := s.packages[path]; ok {
		return f
	}
	f := &folder{types: map[string]string{}, fields: map[string]map[string]string{}, json: map[string]map[string]string{}}
	s.packages[path] = f
	if rest, ok := strings.CutPrefix(path, s.module+"/"); ok {
		f.read(filepath.Join(s.top, rest))
	}
	return f
}

// read reads the Go files of a directory, but not its tests. The package of a type was compiled: its files parse.
func (f *folder) read(dir string) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		panic(fmt.Sprintf("schemas: no Go files in %s: %v", dir, err))
	}
	set := token.NewFileSet()
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			panic("schemas: " + err.Error())
		}
		file, err := parser.ParseFile(set, name, text, parser.ParseComments)
		if err != nil {
			panic("schemas: " + err.Error())
		}
		for _, d := range file.Decls {
			if d, ok := d.(*ast.GenDecl); ok {
				f.declared(d, set)
			}
		}
	}
}

func (f *folder) declared(d *ast.GenDecl, set *token.FileSet) {
	kind := ""
	for _, spec := range d.Specs {
		switch x := spec.(type) {
		case *ast.TypeSpec:
			f.types[x.Name.Name] = comment(firstOf(x.Doc, d.Doc), x.Comment)
			if body, ok := x.Type.(*ast.StructType); ok {
				f.structure(x.Name.Name, body, set)
			}
		case *ast.ValueSpec:
			if d.Tok != token.CONST {
				continue
			}
			if x.Type != nil || len(x.Values) > 0 {
				kind = typeName(x.Type)
			}
			for i, name := range x.Names {
				c := constant{name: name.Name, kind: kind, comment: comment(x.Doc, x.Comment)}
				if i < len(x.Values) {
					if l, ok := x.Values[i].(*ast.BasicLit); ok && l.Kind == token.STRING {
						c.value, _ = strconv.Unquote(l.Value)
					}
				}
				f.constants = append(f.constants, c)
			}
		}
	}
}

func typeName(x ast.Expr) string {
	if id, ok := x.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

func firstOf(a, b *ast.CommentGroup) *ast.CommentGroup {
	if a != nil {
		return a
	}
	return b
}

// comment is the text of comments on one line.
func comment(groups ...*ast.CommentGroup) string {
	var all []string
	for _, g := range groups {
		all = append(all, strings.Fields(g.Text())...)
	}
	return strings.Join(all, " ")
}

// structure reads the comments of a struct. A comment above a field is also that of the fields on the next lines that it
// names.
func (f *folder) structure(name string, body *ast.StructType, set *token.FileSet) {
	fields, names := map[string]string{}, map[string]string{}
	above, last := "", 0
	for _, x := range body.Fields.List {
		line := set.Position(x.Pos()).Line
		doc, beside := comment(x.Doc), comment(x.Comment)
		if doc != "" || line != last+1 {
			above = doc
		}
		last = set.Position(x.End()).Line
		for _, id := range x.Names {
			text := doc
			if text == "" && named(above, id.Name) {
				text = above
			}
			if beside != "" {
				text = strings.TrimPrefix(text+"; "+beside, "; ")
			}
			fields[id.Name] = text
			if x.Tag != nil {
				tag, _ := strconv.Unquote(x.Tag.Value)
				names[id.Name], _, _ = strings.Cut(reflect.StructTag(tag).Get("json"), ",")
			}
		}
	}
	f.fields[name], f.json[name] = fields, names
}

// named says whether a text has a word.
func named(text, word string) bool {
	return regexp.MustCompile(`\b` + word + `\b`).MatchString(text)
}

// describe is the comment of a field, or of a type if field is empty, in the words of JSON.
func (s *source) describe(t reflect.Type, field string, optional bool) string {
	f := s.of(t)
	if field == "" {
		// A type may be called like a field of its own: Ratio.
		if rest, ok := strings.CutPrefix(f.types[t.Name()], t.Name()+" "); ok {
			return t.Name() + " " + f.translate(t.Name(), rest, false)
		}
		return f.translate(t.Name(), f.types[t.Name()], false)
	}
	return f.translate(t.Name(), f.fields[t.Name()][field], optional)
}

var (
	identifier = regexp.MustCompile(`\b([A-Z]\w*)(\.([A-Z]\w*))?\b`)
	nothing    = regexp.MustCompile(`\bnil\b`)
)

// translate replaces the Go names of fields and constants in a comment on a type by those in JSON.
func (f *folder) translate(kind, text string, optional bool) string {
	text = identifier.ReplaceAllStringFunc(text, func(word string) string {
		if word == "CPU" { // also the name of a field
			return word
		}
		of, field, qualified := strings.Cut(word, ".")
		if name := f.json[of][field]; qualified && name != "" && name != "-" {
			return "`" + of + "." + name + "`"
		}
		if name := f.json[kind][word]; name != "" && name != "-" {
			return "`" + name + "`"
		}
		for _, c := range f.constants {
			if c.name == word && c.value != "" {
				return "`" + c.value + "`"
			}
		}
		return word
	})
	is := "null"
	if optional {
		is = "absent"
	}
	return nothing.ReplaceAllString(text, is)
}
