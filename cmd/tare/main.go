// Command tare weighs the container. It holds nothing but the exit code, and the
// hidden commands as which it starts itself beside and inside the arms.
package main

import (
	"os"

	"github.com/tarelab/tare/internal/arms/agent"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/arms/layers"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/catalog/bodies"
	"github.com/tarelab/tare/internal/cli"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/outside/nodes"
)

func main() { os.Exit(tare(os.Args[1:])) }

func tare(args []string) int {
	if len(args) > 0 {
		switch args[0] {
		case load.Command:
			return bodies.Main(args[1:])
		case serve.Command:
			return serve.Main(args[1:])
		case serve.PrepareCommand:
			return serve.PrepareMain(args[1:])
		case agent.Command:
			return agent.Main(args[1:])
		case nodes.Command:
			return nodes.Main(args[1:], tare)
		case "__init":
			return layers.InitMain(args[1:])
		case launch.GuardCommand:
			return launch.GuardMain(catalog.Steps())
		}
	}
	return cli.Main(args, os.Stdout, os.Stderr)
}
