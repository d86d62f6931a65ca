package run

import (
	"errors"
	"os"
	"time"

	"github.com/tarelab/tare/record"
)

// recorder owns what is recorded of a run: the record and its lock, the manifest and warnings.
type recorder struct {
	dir      string // the result directory
	manifest record.Manifest
	writer   *record.Writer
	lock     *os.File
	origin   int64 // CLOCK_MONOTONIC ns at the start of the record
	// warningErr is the error of the last warning that could not be written.
	warningErr error
}

// append writes lines to the record, with the time of now.
func (r *recorder) append(lines ...record.Line) error {
	now := time.Now().UTC().Round(time.Millisecond)
	for i := range lines {
		lines[i].Time = now
	}
	return r.writer.Append(lines...)
}

// warn records a warning. A failure to write it is an error at the end of the run.
func (r *recorder) warn(w record.Warning) {
	if err := r.append(record.Line{Warning: &w}); err != nil {
		r.warningErr = err
	}
}

// leaveOut records an arm or a workload that is not measured.
func (r *recorder) leaveOut(l record.Left) { r.manifest.Left = append(r.manifest.Left, l) }

func (r *recorder) writeManifest() error {
	return record.WriteJSON(r.dir, record.ManifestFile, r.manifest)
}

// end writes the last line of the record and the manifest.
func (r *recorder) end(e record.End) error {
	return errors.Join(r.warningErr, r.append(record.Line{End: &e}), r.writeManifest())
}

func (r *recorder) close() error { return errors.Join(r.writer.Close(), r.lock.Close()) }
