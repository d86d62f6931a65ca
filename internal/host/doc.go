// Package host is the folder of this host: what it is, what it can do, and what tare sets on it.
//
//	facts       what was found: Host, Support (yes, no, unknown) and the features by name
//	isolation   mechanisms between an arm and its neighbours, as data
//	enforce     writes the settings of isolation and reads them back
//	probe       observations of the kernel during a window
//	window      cuts a window: thaw, settle time, count, pause
//	volume      file systems and devices under a data directory
//	durability  which failures synced data survives
//	doctor      the checks that tare doctor prints
//
// It may import stat, outside, undo, wire, linux, base and record. It must not know environments,
// loads or databases. Packages that describe do not act: isolation describes, enforce acts.
//
// To add: a probe is one file in probe and one line in probe.All; a mechanism is one file in
// isolation, one line in isolation.All and a row in docs/neighbours.md; a volume is one file in
// volume and a case in Parse and in Open.
package host
