// Package record is the data that tare writes to disk, versioned: the plan (what was asked), the
// manifest (what the host was), the record (what was observed: JSON lines, synced every 0.2 s
// between blocks) and the effects (what follows from it). It is the only public package, knows
// only the shapes of these data, and imports nothing of tare.
//
// Units are seconds, bytes, operations and ratios (1.0 is equal), unless a name says otherwise.
// Times are RFC 3339 in UTC.
//
// To add a field: with omitempty or omitzero, so that files of older versions read as before; the
// checks of what a file may hold are in valid.go.
package record
