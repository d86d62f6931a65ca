package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// judges are the files that compare the ends of intervals, each with what for. A verdict is made in judge.go alone.
var judges = map[string]string{
	"analysis/judge.go":    "verdicts",
	"record/interval.go":   "questions about one interval that others ask by name",
	"quantity/quantity.go": "the digits that are printed",
}

// checkEnds reports comparisons, minima and maxima of the ends of a record.Ratio or record.Share as errors, but in judges
// and in tests: every form reads the verdict and the bound of the analysis.
func checkEnds(all []*packages.Package) error {
	found := 0
	used := map[string]bool{}
	packages.Visit(all, nil, func(p *packages.Package) {
		if !strings.HasPrefix(p.PkgPath, "github.com/tarelab/tare") {
			return
		}
		for _, f := range p.Syntax {
			name := p.Fset.Position(f.Pos()).Filename
			if strings.HasSuffix(name, "_test.go") || strings.Contains(p.ID, ".test") || strings.Contains(p.ID, "[") {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if !compares(n) || !ofEnd(p.TypesInfo, n) {
					return true
				}
				if base := filepath.Base(filepath.Dir(name)) + "/" + filepath.Base(name); judges[base] != "" {
					used[base] = true
				} else {
					fmt.Printf("%s: compares the end of an interval, which only the analysis does\n", p.Fset.Position(n.Pos()))
					found++
				}
				return true
			})
		}
	})
	for file := range judges {
		if !used[file] {
			fmt.Printf("%s: may compare ends of intervals and does not\n", file)
			found++
		}
	}
	if found > 0 {
		return fmt.Errorf("%d comparisons of the ends of intervals", found)
	}
	return nil
}

// compares reports whether a node is a comparison, a minimum or a maximum.
func compares(n ast.Node) bool {
	switch x := n.(type) {
	case *ast.BinaryExpr:
		return slices.Contains([]token.Token{token.LSS, token.GTR, token.LEQ, token.GEQ}, x.Op)
	case *ast.CallExpr:
		switch f := x.Fun.(type) {
		case *ast.Ident:
			return f.Name == "min" || f.Name == "max"
		case *ast.SelectorExpr:
			return f.Sel.Name == "Min" || f.Sel.Name == "Max"
		}
	}
	return false
}

// ofEnd reports whether the field Low or High of an interval is in a node.
func ofEnd(info *types.Info, n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok || s.Sel.Name != "Low" && s.Sel.Name != "High" {
			return true
		}
		t := info.TypeOf(s.X)
		if pointer, ok := t.(*types.Pointer); ok {
			t = pointer.Elem()
		}
		if named, ok := t.(*types.Named); ok && slices.Contains([]string{"Ratio", "Share", "Worsening"}, named.Obj().Name()) {
			found = true
		}
		return true
	})
	return found
}
