// Command tare weighs the container. This package maps the first argument to a hidden command (roles.go), as which tare
// starts its own binary beside and inside the arms, and everything else to cli; in a privileged container it first enters
// the host (enter.Run). launch.InitCommand runs before main (launch/child.go). The tests here run the whole program:
// campaigns of kills, faults and clusters.
//
// To add a hidden command: its Role in the package that starts it, and that package in roles.go.
package main

import (
	"os"

	"github.com/tarelab/tare/internal/cli"
	"github.com/tarelab/tare/internal/outside/enter"
	"github.com/tarelab/tare/internal/wire/hidden"
)

func main() { os.Exit(tare(cli.Arguments(os.Args[0], os.Args[1:]))) }

func tare(args []string) int {
	if code, ok := hidden.Run(roles(), args); ok {
		return code
	}
	if code, ok := enter.Run(args); ok {
		return code
	}
	return cli.Main(args, os.Stdout, os.Stderr)
}
