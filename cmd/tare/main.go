// Command tare weighs the container. This package has the exit code and the table of
// hidden commands, as which tare starts its own binary beside and inside the arms.
package main

import (
	"os"

	"github.com/tarelab/tare/internal/cli"
	"github.com/tarelab/tare/internal/wire/hidden"
)

func main() { os.Exit(tare(os.Args[1:])) }

func tare(args []string) int {
	if code, ok := hidden.Run(roles(), args); ok {
		return code
	}
	return cli.Main(args, os.Stdout, os.Stderr)
}
