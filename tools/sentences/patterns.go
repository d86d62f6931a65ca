package main

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
)

// A text with which input is compared is no sentence: what is searched for, a regular expression, the
// key of a map, a case of a switch, an operand of == and !=. So are the texts that reach such a place
// through a constant, a variable, a table, a field or a parameter of a function.

// searches are the functions that compare a text with input, and the index of its argument.
var searches = []struct {
	name *regexp.Regexp
	at   int
}{
	{regexp.MustCompile(`^(strings|bytes)\.(Contains|HasPrefix|HasSuffix|Cut|Index|LastIndex|Trim|Split|Count|EqualFold|Replace)\w*$`), 1},
	{regexp.MustCompile(`^regexp\.(Must)?Compile$`), 0},
	{regexp.MustCompile(`^slices\.(Contains|Index)$`), 0},
}

// counted matches functions of a literal that is a list of words, or whose length is that of input.
var counted = regexp.MustCompile(`^(strings\.Fields|allow\.Words|len)$`)

// parsed is a file and the directory of its package.
type parsed struct {
	dir  string
	file *ast.File
}

// patterns has what is compared with input: expressions, and the names through which they get there. The
// key of a name is its object inside of a function, else its name, with the directory if it is not
// exported.
type patterns struct {
	exprs  map[ast.Node]bool
	names  map[any]bool // constants and variables
	fields map[string]bool
	params map[param]bool
	types  map[string]*ast.StructType
}

// param is a parameter of a function or method; functions of one name and number of parameters are one.
type param struct {
	function  string
	of, index int
}

func patternsIn(all []parsed) *patterns {
	p := &patterns{exprs: map[ast.Node]bool{}, names: map[any]bool{}, fields: map[string]bool{}, params: map[param]bool{},
		types: map[string]*ast.StructType{}}
	for last := -1; p.size() > last; { // a name may be used before it is known to be a pattern
		last = p.size()
		for _, s := range all {
			ast.Inspect(s.file, func(n ast.Node) bool { p.visit(s, n); return true })
		}
	}
	return p
}

func (p *patterns) size() int {
	return len(p.exprs) + len(p.names) + len(p.fields) + len(p.params) + len(p.types)
}

// visit marks what one node compares with input.
func (p *patterns) visit(s parsed, n ast.Node) {
	switch x := n.(type) {
	case *ast.CallExpr:
		p.call(s, x)
	case *ast.CaseClause:
		for _, e := range x.List {
			p.literal(e)
		}
	case *ast.BinaryExpr:
		if x.Op == token.EQL || x.Op == token.NEQ {
			p.operand(s, x.X, x.Y)
			p.operand(s, x.Y, x.X)
		}
	case *ast.IndexExpr:
		p.literal(x.Index)
	case *ast.KeyValueExpr:
		p.literal(x.Key)
		if field, ok := x.Key.(*ast.Ident); ok && p.fields[s.key(field.Name)] {
			p.mark(s, x.Value)
		}
	case *ast.TypeSpec:
		if t, ok := x.Type.(*ast.StructType); ok {
			p.types[s.key(x.Name.Name)] = t
		}
	case *ast.CompositeLit:
		p.rows(s, x)
	case *ast.FuncDecl:
		p.function(s, x)
	default:
		p.assigned(s, n)
	}
}

// call marks the arguments that a function compares with input.
func (p *patterns) call(s parsed, x *ast.CallExpr) {
	name := called(x.Fun)
	for _, f := range searches {
		if f.name.MatchString(name) && f.at < len(x.Args) {
			p.mark(s, x.Args[f.at])
		}
	}
	if counted.MatchString(name) {
		p.literal(x.Args[0])
	}
	for i, arg := range x.Args {
		if p.params[param{s.key(lastOf(x.Fun)), len(x.Args), i}] {
			p.mark(s, arg)
		}
	}
}

// operand marks what stands on one side of == and !=: a literal, and a name if the other side is input
// converted to a string.
func (p *patterns) operand(s parsed, e, other ast.Expr) {
	p.literal(e)
	if call, ok := other.(*ast.CallExpr); ok && called(call.Fun) == "string" {
		p.mark(s, e)
	}
}

// function marks the parameters that the body of a function compares with input.
func (p *patterns) function(s parsed, x *ast.FuncDecl) {
	i := 0
	for _, list := range x.Type.Params.List {
		for _, name := range list.Names {
			if p.names[s.name(name)] {
				p.params[param{s.key(x.Name.Name), x.Type.Params.NumFields(), i}] = true
			}
			i++
		}
	}
}

// assigned marks the values of names that are compared with input.
func (p *patterns) assigned(s parsed, n ast.Node) {
	switch x := n.(type) {
	case *ast.ValueSpec:
		for i, name := range x.Names {
			if p.names[s.name(name)] && i < len(x.Values) {
				p.mark(s, x.Values[i])
			}
		}
	case *ast.AssignStmt:
		for i, to := range x.Lhs {
			if p.compared(s, to) && len(x.Rhs) == len(x.Lhs) {
				p.mark(s, x.Rhs[i])
			}
		}
	case *ast.RangeStmt:
		if x.Value != nil && p.compared(s, x.Value) {
			p.mark(s, x.X)
		}
	}
}

// compared reports that a name is compared with input.
func (p *patterns) compared(s parsed, e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.Ident:
		return p.names[s.name(x)]
	case *ast.SelectorExpr:
		return p.fields[s.key(x.Sel.Name)]
	}
	return false
}

// rows marks the fields of structs that are written without their names: of one, or of each in a slice.
func (p *patterns) rows(s parsed, x *ast.CompositeLit) {
	kind, list := x.Type, []ast.Expr{x}
	if array, ok := x.Type.(*ast.ArrayType); ok {
		kind, list = array.Elt, x.Elts
	}
	fields, ok := kind.(*ast.StructType)
	if name, named := kind.(*ast.Ident); named {
		fields, ok = p.types[s.key(name.Name)]
	}
	if !ok {
		return
	}
	for _, e := range list {
		row, is := e.(*ast.CompositeLit)
		i := 0
		for _, f := range fields.Fields.List {
			for _, name := range f.Names {
				if is && i < len(row.Elts) && p.fields[s.key(name.Name)] {
					p.mark(s, row.Elts[i])
				}
				i++
			}
		}
	}
}

// mark marks an expression whose value is compared with input.
func (p *patterns) mark(s parsed, e ast.Expr) {
	switch x := e.(type) {
	case *ast.BasicLit:
		p.exprs[x] = true
	case *ast.Ident:
		p.names[s.name(x)] = true
	case *ast.SelectorExpr:
		p.fields[s.key(x.Sel.Name)] = true
	case *ast.ParenExpr:
		p.mark(s, x.X)
	case *ast.IndexExpr:
		p.mark(s, x.X)
	case *ast.BinaryExpr:
		if x.Op == token.ADD {
			p.exprs[x] = true
			p.mark(s, x.X)
			p.mark(s, x.Y)
		}
	case *ast.CallExpr: // a conversion
		if _, bytes := x.Fun.(*ast.ArrayType); bytes || called(x.Fun) == "string" {
			p.mark(s, x.Args[0])
		}
	case *ast.CompositeLit:
		for _, e := range x.Elts {
			if _, named := e.(*ast.KeyValueExpr); !named {
				p.mark(s, e)
			}
		}
	}
}

// literal marks an expression if it is a literal.
func (p *patterns) literal(e ast.Expr) {
	if x, ok := e.(*ast.BasicLit); ok {
		p.exprs[x] = true
	}
}

// key is the name of a field or of something declared in a package.
func (s parsed) key(name string) string {
	if ast.IsExported(name) {
		return name
	}
	return filepath.Join(s.dir, name)
}

// name is the key of a constant or variable.
func (s parsed) name(x *ast.Ident) any {
	if x.Obj != nil && s.file.Scope.Lookup(x.Name) != x.Obj {
		return x.Obj
	}
	return s.key(x.Name)
}

// lastOf is the name of a function or method without its package or receiver.
func lastOf(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}
