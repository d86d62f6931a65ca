// Package fio knows fio: what to run it with inside a data directory (version,
// job files that can do no harm outside of it, words that lay files out and measure
// a window; fio 3), and what it prints (fio 2.2.10 to 3.42): JSON of every era, the text
// of 2.x and 3.x, terse output, and the logs of single I/Os and averages. Eras
// are told by what is there (clat_ns, io_kbytes), not by the version string.
//
// It starts nothing and does not know what was tested. Interim documents of
// --status-interval are counted and not kept.
package fio

import (
	"time"

	"github.com/tarelab/tare/internal/logs/format"
)

// Log is what one input holds.
type Log struct {
	Runs     []Run            `json:"runs"`
	Interim  int              `json:"interim,omitempty"` // reports that a later one replaces
	Warnings []format.Warning `json:"warnings,omitempty"`
}

// Run is one report of fio: a JSON document, a text or a terse line.
type Run struct {
	Line    int               `json:"line"`
	Form    string            `json:"form"` // json, text or terse
	Version string            `json:"version,omitempty"`
	Global  map[string]string `json:"global,omitempty"` // global options
	Jobs    []Job             `json:"jobs"`
	// Started is how many jobs fio said that it starts, where it said it above a text.
	Started int `json:"started,omitempty"`
	// Messages are fio's own error lines.
	Messages format.Failures `json:"messages,omitzero"`

	time time.Time // when it was printed
	cut  bool      // a text without its end
	// groupOnly says that only the status of a group is there.
	groupOnly bool
}

// Failed says whether a job ended with an error or fio complained.
func (r *Run) Failed() bool {
	for _, j := range r.Jobs {
		if j.Error != 0 {
			return true
		}
	}
	return r.Messages.Count > 0
}

// Job is one job, or a group of them under group_reporting.
type Job struct {
	Line  int    `json:"line,omitempty"` // 0 in JSON
	Name  string `json:"name"`
	Group int    `json:"group"`
	// Error is an errno, 0 for none.
	Error     int               `json:"error,omitempty"`
	ErrorText string            `json:"error_text,omitempty"`
	Options   map[string]string `json:"options,omitempty"`

	// A direction without any I/O is nil. Mixed holds all directions together
	// (unified_rw_reporting).
	Read  *Direction `json:"read,omitempty"`
	Write *Direction `json:"write,omitempty"`
	Trim  *Direction `json:"trim,omitempty"`
	Mixed *Direction `json:"mixed,omitempty"`
	Sync  *Sync      `json:"sync,omitempty"` // fsync and its kin, since 3.4

	UserCPU   format.Num `json:"user_cpu,omitzero"`   // ratio of one CPU's time
	SystemCPU format.Num `json:"system_cpu,omitzero"` // ratio of one CPU's time

	pid, jobs int // in text only: the process, and how many jobs the line is of
}

// Direction is reads, writes, trims or all of them.
type Direction struct {
	Bandwidth format.Num `json:"bandwidth,omitzero"` // bytes per second
	IOPS      format.Num `json:"iops,omitzero"`
	Runtime   format.Num `json:"runtime,omitzero"` // seconds
	Total     format.Num `json:"total,omitzero"`   // number of I/Os

	// Submission, completion and total latency; nil where fio did not measure it.
	Slat *Latency `json:"slat,omitempty"`
	Clat *Latency `json:"clat,omitempty"`
	Lat  *Latency `json:"lat,omitempty"`
}

// Latency is a distribution in seconds.
type Latency struct {
	Mean      format.Num        `json:"mean,omitzero"`
	Quantiles []format.Quantile `json:"quantiles,omitempty"`
	// Bins is the histogram of json+: each value in the middle of a bin that is
	// at most 1/64 as wide as the value.
	Bins []format.Bin `json:"bins,omitempty"`
}

// Sync is the latency of fsync, fdatasync, sync_file_range and syncfs.
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
