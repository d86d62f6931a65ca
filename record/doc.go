// Package record has the types of the data that tare writes to disk, with versioned schemas: the plan
// (the experiment), the manifest (the host and the arms), the record (the measurements, as JSON
// lines, synced every 0.2 s between blocks) and the effects (the results of the analysis). It is the
// only public package and imports no other package of tare.
//
// Units are seconds, bytes, operations and ratios (1.0 is equal), unless a name says otherwise.
// Times are RFC 3339 in UTC.
//
// To add a field: give it omitempty or omitzero, so that tare reads files of older versions as
// before. valid.go checks the content of files.
package record
