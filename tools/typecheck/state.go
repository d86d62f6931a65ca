package main

import (
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

// checkStateless prints the package-level variables that change while the program runs: those that a
// function assigns to, and those with a lock or of an atomic type. It returns an error if there are
// any. Packages for tests may have such variables.
func checkStateless(all []*packages.Package) error {
	found := 0
	for _, p := range all {
		if p.Imports["testing"] != nil || strings.Contains(p.ID, "[") || strings.HasSuffix(p.ID, ".test") {
			continue
		}
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				for _, v := range mutated(p.TypesInfo, n) {
					fmt.Fprintf(os.Stderr, "%s: the package-level variable %s changes while the program runs: make it a field of a type\n", p.Fset.Position(n.Pos()), v)
					found++
				}
				return true
			})
		}
	}
	if found > 0 {
		return fmt.Errorf("%d package-level variables change at run time", found)
	}
	return nil
}

// mutated are the names of the package-level variables that a node assigns to, or declares with a type
// that changes.
func mutated(info *types.Info, n ast.Node) (names []string) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, to := range n.Lhs {
			names = append(names, global(info, to)...)
		}
	case *ast.IncDecStmt:
		names = global(info, n.X)
	case *ast.ValueSpec:
		for _, name := range n.Names {
			if v := info.Defs[name]; isGlobal(v) && isMutable(v.Type()) {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// global returns the name of the package-level variable at the root of an expression (x of x.f[i]); nil:
// there is none.
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

// isMutable reports whether a type is, or has a field that is, a lock or atomic: any type of package sync
// or sync/atomic.
func isMutable(t types.Type) bool {
	if named, ok := types.Unalias(t).(*types.Named); ok {
		if p := named.Obj().Pkg(); p != nil && (p.Path() == "sync" || p.Path() == "sync/atomic") {
			return true
		}
	}
	s, ok := t.Underlying().(*types.Struct)
	for i := 0; ok && i < s.NumFields(); i++ {
		if isMutable(s.Field(i).Type()) {
			return true
		}
	}
	return false
}
