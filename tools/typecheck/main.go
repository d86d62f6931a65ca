// Command typecheck checks the types of all packages of the module in a directory, with their tests,
// for another architecture: typecheck DIR GOARCH. It reads the types of dependencies from their source;
// go vet would compile them. It also reports as errors
// package-level variables that change at run time, comparisons of the ends of intervals outside of the analysis, and
// exported names that no other package uses.
package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: typecheck DIR GOARCH")
		os.Exit(2)
	}
	if err := check(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "typecheck:", err)
		os.Exit(1)
	}
}

// check prints all errors and returns an error if there was one.
func check(dir, arch string) error {
	all, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax, Tests: true, BuildFlags: []string{"-tags=faults"},
		Dir: dir, Env: append(os.Environ(), "GOARCH="+arch, "CGO_ENABLED=0"),
	}, "./...")
	switch {
	case err != nil:
		return err
	case packages.PrintErrors(all) > 0:
		return fmt.Errorf("%s: not valid on %s", dir, arch)
	case len(all) == 0:
		return fmt.Errorf("%s: no packages", dir)
	}
	return errors.Join(checkStateless(all), checkEnds(all), checkExported(all))
}
