// Package wire is what tare shares with the processes of its loads and agents: the paths and
// addresses of an arm (Place), the windows that tare asks for and the samples that come back.
//
//	counter   shared memory in which a load counts
//	readback  settings that a load read back from a server
//	hidden    the hidden commands, as which tare starts itself
//	metric    the catalogue of metrics
//
// It may import linux, base and record. It knows no load and no environment.
//
// To add a metric: one entry in metric.
package wire
