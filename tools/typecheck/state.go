package main

import (
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

// stateless prints the variables of packages that change while the program runs: those that a
// function assigns to, and those with a lock or an atomic type. Test packages may have some.
func stateless(all []*packages.Package) error {
	found := 0
	for _, p := range all {
		if p.Imports["testing"] != nil || strings.Contains(p.ID, "[") || strings.HasSuffix(p.ID, ".test") {
			continue
		}
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				for _, v := range changed(p.TypesInfo, n) {
					fmt.Fprintf(os.Stderr, "%s: the package's variable %s changes while the program runs: make it a field of what it belongs to\n", p.Fset.Position(n.Pos()), v)
					found++
				}
				return true
			})
		}
	}
	if found > 0 {
		return fmt.Errorf("%d changes of state of packages", found)
	}
	return nil
}

// changed are the names of the package's variables that a node assigns to.
func changed(info *types.Info, n ast.Node) (names []string) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, to := range n.Lhs {
			names = append(names, global(info, to)...)
		}
	case *ast.IncDecStmt:
		names = global(info, n.X)
	case *ast.ValueSpec:
		for _, name := range n.Names {
			if v := info.Defs[name]; isGlobal(v) && changes(v.Type()) {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// global is the name of the package's variable in an expression, "" if there is none.
func global(info *types.Info, e ast.Expr) []string {
	for {
		switch x := e.(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SelectorExpr:
			if isGlobal(info.Uses[x.Sel]) {
				return []string{x.Sel.Name}
			}
			e = x.X
		case *ast.Ident:
			if isGlobal(info.Uses[x]) {
				return []string{x.Name}
			}
			return nil
		default:
			return nil
		}
	}
}

func isGlobal(o types.Object) bool {
	v, ok := o.(*types.Var)
	return ok && !v.IsField() && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
}

// changes is true if a type has a lock or is atomic.
func changes(t types.Type) bool {
	if named, ok := types.Unalias(t).(*types.Named); ok {
		if p := named.Obj().Pkg(); p != nil && (p.Path() == "sync" || p.Path() == "sync/atomic") {
			return true
		}
	}
	s, ok := t.Underlying().(*types.Struct)
	for i := 0; ok && i < s.NumFields(); i++ {
		if changes(s.Field(i).Type()) {
			return true
		}
	}
	return false
}
