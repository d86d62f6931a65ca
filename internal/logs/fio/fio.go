// Package fio knows how fio 3 is run inside a data directory: versions, and job files that cannot do harm
// outside of the directory. It reads what fio 2.2.10 to 3.42 prints: JSON, the text of 2.x and 3.x, terse
// output, and logs of I/Os and averages. It recognises the version by fields (clat_ns, io_kbytes), not by
// the version string.
//
// It starts nothing and does not know what was tested. It counts the interim reports of
// --status-interval and does not keep them.
package fio

import (
	"time"

	"github.com/tarelab/tare/internal/logs/format"
)

// Log is the content of one input.
type Log struct {
	Runs     []Run            `json:"runs"`
	Interim  int              `json:"interim,omitempty"` // reports that a later report replaced
	Warnings []format.Warning `json:"warnings,omitempty"`
}

// Run is one report of fio: a JSON document, a text or a terse line.
type Run struct {
	Line    int               `json:"line"`
	Form    string            `json:"form"` // json, text or terse
	Version string            `json:"version,omitempty"`
	Global  map[string]string `json:"global,omitempty"` // global options
	Jobs    []Job             `json:"jobs"`
	// Started is the number of jobs in the line "Starting ..." above a text report.
	Started int `json:"started,omitempty"`
	// Messages are fio's own error lines.
	Messages format.Failures `json:"messages,omitzero"`

	time time.Time // when it was printed
	cut  bool      // a text report without its end
	// groupOnly says that only the status of a group was found, without its jobs.
	groupOnly bool
}

// Failed reports that a job ended with an error or that fio printed an error.
func (r *Run) Failed() bool {
	for _, j := range r.Jobs {
		if j.Error != 0 {
			return true
		}
	}
	return r.Messages.Count > 0
}

// Job is one job, or a group of jobs under group_reporting.
type Job struct {
	Line  int    `json:"line,omitempty"` // 0 in JSON
	Name  string `json:"name"`
	Group int    `json:"group"`
	// Error is an errno, 0 for none.
	Error     int               `json:"error,omitempty"`
	ErrorText string            `json:"error_text,omitempty"`
	Options   map[string]string `json:"options,omitempty"`

	// A direction without I/O is nil. Mixed has all directions together (unified_rw_reporting).
	Read  *Direction `json:"read,omitempty"`
	Write *Direction `json:"write,omitempty"`
	Trim  *Direction `json:"trim,omitempty"`
	Mixed *Direction `json:"mixed,omitempty"`
	Sync  *Sync      `json:"sync,omitempty"` // fsync and its kin, since 3.4

	UserCPU   format.Num `json:"user_cpu,omitzero"`   // ratio of one CPU's time
	SystemCPU format.Num `json:"system_cpu,omitzero"` // ratio of one CPU's time

	pid, jobs int // text only: process, and number of jobs
}

// Direction has the figures of reads, of writes, of trims, or of all.
type Direction struct {
	Bandwidth format.Num `json:"bandwidth,omitzero"` // bytes per second
	IOPS      format.Num `json:"iops,omitzero"`
	Runtime   format.Num `json:"runtime,omitzero"` // seconds
	Total     format.Num `json:"total,omitzero"`   // number of I/Os

	// Submission, completion and total latency; nil: fio did not measure it.
	Slat *Latency `json:"slat,omitempty"`
	Clat *Latency `json:"clat,omitempty"`
	Lat  *Latency `json:"lat,omitempty"`
}

// Latency is a distribution in seconds.
type Latency struct {
	Mean      format.Num        `json:"mean,omitzero"`
	Quantiles []format.Quantile `json:"quantiles,omitempty"`
	// Bins is the histogram of json+. Each value is the middle of its bin, which is at most 1/64
	// as wide as the value.
	Bins []format.Bin `json:"bins,omitempty"`
}

// Sync has the latency of fsync, fdatasync, sync_file_range and syncfs.
type Sync struct {
	Total format.Num `json:"total,omitzero"`
	Lat   *Latency   `json:"lat,omitempty"`
}

const (
	kibi  = 1024
	milli = 1e3
	micro = 1e6
	nano  = 1e9
)
