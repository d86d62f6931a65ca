package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// checkExported reports exported names of packages below internal that no other package uses, in tests or otherwise. A
// type stays exported where a name in use has it in its type, a constant where another one of its block or of its type is
// in use.
func checkExported(all []*packages.Package) error {
	x := exported{fset: all[0].Fset, names: map[token.Position]*name{}, blocks: map[string]bool{}}
	for _, p := range all {
		x.declare(p)
	}
	for _, p := range all {
		x.use(p)
	}
	for _, n := range x.names {
		if n.used {
			x.see(n.obj.Type(), n.obj.Pkg(), map[types.Type]bool{})
		}
	}
	found := 0
	for _, at := range slices.SortedFunc(maps.Keys(x.names), func(a, b token.Position) int { return cmp.Compare(a.String(), b.String()) }) {
		if n := x.names[at]; !n.used && !n.seen && !x.blocks[n.block] && !x.blocks[n.kind()] {
			fmt.Fprintf(os.Stderr, "%s: no other package uses %s: begin it with a small letter\n", at, n.obj.Name())
			found++
		}
	}
	if found > 0 {
		return fmt.Errorf("%d exported names that no other package uses", found)
	}
	return nil
}

// exported has the exported names of all packages by the place of their declaration: a package is loaded once by itself and
// once with its tests.
type exported struct {
	fset   *token.FileSet
	names  map[token.Position]*name
	blocks map[string]bool // blocks and types of constants of which one is used
}

type name struct {
	obj        types.Object
	path       string // of its package
	block      string // where its block of constants begins; empty: none
	used, seen bool
}

// kind is the type of a constant, if it is one of the package; empty: another name.
func (n *name) kind() string {
	if _, ok := n.obj.(*types.Const); ok {
		if t, ok := n.obj.Type().(*types.Named); ok {
			return n.path + "." + t.Obj().Name()
		}
	}
	return ""
}

// pathOf is the path of a package without what says that it is loaded with its tests.
func pathOf(p *packages.Package) string { return strings.TrimSuffix(p.PkgPath, "_test") }

func (x exported) declare(p *packages.Package) {
	if !strings.Contains(p.PkgPath, "/internal/") || strings.HasSuffix(p.ID, ".test") {
		return
	}
	for _, file := range p.Syntax {
		if strings.HasSuffix(p.Fset.Position(file.Pos()).Filename, "_test.go") {
			continue
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					x.add(p, d.Name, "")
				}
			case *ast.GenDecl:
				block := ""
				if d.Tok == token.CONST && d.Lparen.IsValid() {
					block = p.Fset.Position(d.Pos()).String()
				}
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						x.add(p, s.Name, "")
					case *ast.ValueSpec:
						for _, id := range s.Names {
							x.add(p, id, block)
						}
					}
				}
			}
		}
	}
}

func (x exported) add(p *packages.Package, id *ast.Ident, block string) {
	if at := p.Fset.Position(id.Pos()); id.IsExported() && x.names[at] == nil {
		x.names[at] = &name{obj: p.TypesInfo.Defs[id], path: pathOf(p), block: block}
	}
}

// use marks the names that a package or its tests outside of it use.
func (x exported) use(p *packages.Package) {
	for _, obj := range p.TypesInfo.Uses {
		n := x.names[x.place(obj)]
		if n == nil || n.path == p.PkgPath {
			continue
		}
		n.used = true
		if n.block != "" {
			x.blocks[n.block] = true
		}
		if kind := n.kind(); kind != "" {
			x.blocks[kind] = true
		}
	}
}

func (x exported) place(o types.Object) token.Position { return x.fset.Position(o.Pos()) }

// see marks the types of a package that a type has in sight: its elements, parameters, results, and the exported fields and
// methods of the package's types.
func (x exported) see(t types.Type, of *types.Package, before map[types.Type]bool) {
	if before[t] {
		return
	}
	before[t] = true
	see := func(t types.Type) { x.see(t, of, before) }
	switch t := t.(type) {
	case *types.Named:
		for i := range t.TypeArgs().Len() {
			see(t.TypeArgs().At(i))
		}
		if t.Obj().Pkg() != of {
			return
		}
		if n := x.names[x.place(t.Obj())]; n != nil {
			n.seen = true
		}
		see(t.Underlying())
		for i := range t.NumMethods() {
			if t.Method(i).Exported() {
				see(t.Method(i).Type())
			}
		}
	case interface{ Elem() types.Type }: // pointer, slice, array, channel, map
		see(t.Elem())
		if m, ok := t.(*types.Map); ok {
			see(m.Key())
		}
	case *types.Signature:
		for _, list := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range list.Variables() {
				see(v.Type())
			}
		}
	case *types.Struct:
		for v := range t.Fields() {
			if v.Exported() {
				see(v.Type())
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			see(m.Type())
		}
	}
}
