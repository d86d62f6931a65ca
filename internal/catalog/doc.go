// Package catalog is the list of loads, neighbours, environments and kinds of steps, by name. It
// hands them to cli; catalog/bodies has the list of what a load can be in an arm, for the hidden
// command that starts loads.
//
// It may import every folder but cli, report, analysis and measure. It has no knowledge of its own.
//
// To add a load, a neighbour or an environment: one line here. The conformance suites test it
// without being asked.
package catalog
