// Package wire has the types that tare shares with the processes of its loads and agents: the paths
// and addresses of an arm (Place), the windows that tare asks for and the samples that come back.
//
//	counter   shared memory in which a load counts operations
//	readback  settings that a load read back from a server
//	hidden    hidden commands, with which tare starts its own binary in other roles
//	metric    the catalogue of metrics
//
// It may import linux, base and record. It knows no load and no environment.
//
// To add a metric: add one entry to metric.
package wire
