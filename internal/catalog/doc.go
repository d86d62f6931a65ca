// Package catalog lists, for cli, all loads, neighbours and environments, and the kinds of steps of a
// journal. Package catalog/bodies lists the functions that do the work of a load in an arm, for the
// hidden command that starts a load.
//
// It may import every folder but cli, report, analysis and measure. It has lists and no logic.
//
// To add a load, a neighbour or an environment: one line here. The conformance suites test everything
// in these lists.
package catalog
