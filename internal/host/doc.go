// Package host is the folder of the measured machine: its properties, its features, the counters of
// its kernel, and the settings that tare makes on it.
//
//	facts       properties of the host: Host, Support (yes, no, unknown), named features
//	isolation   mechanisms that protect an arm from its neighbour, as data
//	enforce     writes the settings that isolation describes, and reads them back
//	probe       reads kernel counters at both ends of a window
//	window      measures one window of a running load: settle time, counters, pause
//	volume      makes the file system under an arm's data directory
//	durability  tells which failures synced data survives: process, kernel, power
//	doctor      the checks that tare doctor prints
//
// It may import stat, outside, undo, wire, linux, base and record. It must not import
// environments, loads or databases. A package describes or acts, not both: isolation describes,
// enforce acts.
//
// To add: a probe is one file in probe and one line in probe.All; a mechanism is one file in
// isolation, one line in isolation.All and a row in docs/neighbours.md; a volume is one file in
// volume and a case in Parse and in Open.
package host
