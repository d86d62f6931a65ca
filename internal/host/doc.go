// Package host is the folder of what this host is, can do, and is set to.
//
//	facts       what was found: Host, Support (yes, no, unknown) and the features by name
//	isolation   mechanisms between neighbours, as data; enforce writes and reads them back
//	probe       kernel observations during a window
//	window      cuts a window: thaw, discard, count, pause
//	volume      file systems and devices under a data directory
//	durability  which failures synced data survives
//	doctor      the checks that tare doctor prints
//
// It may import stat, outside, undo, wire, linux, base and record. Packages that describe do not act:
// isolation describes, enforce acts.
//
// To add: a probe is one file in probe and one line in its list; a mechanism is one entry in
// isolation and, where it needs more than a control file, one file in enforce.
package host
