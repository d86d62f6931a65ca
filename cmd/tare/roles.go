package main

import (
	"slices"

	"github.com/tarelab/tare/internal/arms/agent"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/catalog/bodies"
	"github.com/tarelab/tare/internal/cli"
	"github.com/tarelab/tare/internal/databases/foreign"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/outside/enter"
	"github.com/tarelab/tare/internal/outside/nodes"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// roles are all hidden commands: the jobs for which tare starts its own binary.
func roles() []hidden.Role {
	return slices.Concat(launch.Roles(), agent.Roles(), foreign.Roles(), []hidden.Role{
		{
			Name: launch.GuardCommand, Run: func([]string) int { return launch.GuardMain(catalog.Steps()) },
			Purpose: "takes back what a run left when tare was killed, and freezes the arms when tare is silent",
		},
		{
			Name: load.Command, Args: "KIND PARAMETERS", Run: bodies.Main,
			Purpose: "a load of tare's own, or the driver of a tool",
		},
		{
			Name: serve.Command, Args: "KIND PARAMETERS", Run: serve.Main,
			Purpose: "checks a data directory and becomes the database server",
		},
		{
			Name: serve.PrepareCommand, Args: "KIND PARAMETERS", Run: serve.PrepareMain,
			Purpose: "makes a data set in the cache",
		},
		{
			Name: cli.CompleteCommand, Args: "...", Run: cli.Complete,
			Purpose: "answers a shell that completes a command line",
		},
		{
			Name: nodes.Command, Args: "...", Run: func(args []string) int { return nodes.Main(args, tare) },
			Purpose: "the node helper: enters another node's namespaces and runs tare there",
		},
		{
			Name: enter.Command, Args: "...", Run: func(args []string) int { return enter.Main(args, tare) },
			Purpose: "runs tare on the host of the container in which it was started",
		},
	})
}
