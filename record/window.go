package record

// Block has a window of each arm, in random order.
type Block struct {
	Workload   string   `json:"workload"`
	Generation int      `json:"generation"`
	Number     int      `json:"number"` // within the generation, from 0
	Windows    []Window `json:"windows"`
}

// Reasons for dropping a window. None depends on the result.
const (
	DropFreeze    = "freeze not confirmed within 1 s"
	DropError     = "load reported an error"
	DropDied      = "load ended"
	DropAbandoned = "interrupted"
	DropNeighbour = "neighbour ended"
	DropIsolation = "isolation did not hold"
	DropSilent    = "tare did not run: stopped, suspended or starved of CPU time"
	DropLong      = "window much longer than planned"
)

// Window is one measured slice of one arm.
type Window struct {
	Arm string `json:"arm"`
	// Dropped is one of the Drop constants, Detail the particulars. Empty: the window counts.
	Dropped string  `json:"dropped,omitempty"`
	Detail  string  `json:"detail,omitempty"`
	Start   float64 `json:"start"`   // seconds since the start of the record, without the pauses between its runs
	Seconds float64 `json:"seconds"` // measured
	Ops     uint64  `json:"ops"`
	// First is the operations in the first half of the window, FirstSeconds its length, for the
	// check of the halves. Both are 0 if the counters were not read in the middle.
	First        uint64  `json:"first_ops"`
	FirstSeconds float64 `json:"first_seconds"`
	Errors       uint64  `json:"errors,omitempty"`
	// Cut counts operations during which the load was paused. They are in no histogram.
	Cut uint64 `json:"cut,omitempty"`
	// Late counts operations that an open-loop load started more than 1 ms late; Backlog counts
	// those that were waiting at the end.
	Late    uint64           `json:"late,omitempty"`
	Backlog uint64           `json:"backlog,omitempty"`
	Latency Histogram        `json:"latency"`
	Probes  map[string]Value `json:"probes,omitempty"`
	// Values has the metrics that the load declares, by the names in Workload.Values.
	Values map[string]Value `json:"values,omitempty"`
	// Neighbour has the neighbour's work, by the Neighbour constants.
	Neighbour map[string]Value `json:"neighbour,omitempty"`
	// Freeze and Thaw are how long the freeze and the thaw took, in seconds.
	Freeze float64 `json:"freeze_seconds,omitempty"`
	Thaw   float64 `json:"thaw_seconds,omitempty"`
}

// Rate is operations per second; NaN or infinite if Seconds is 0.
func (w Window) Rate() float64 { return float64(w.Ops) / w.Seconds }

// End closes a record.
type End struct {
	Reason string `json:"reason"` // "precision", EndedDecided, "budget", "interrupted", EndedError, EndedFull
	// Detail is the error of EndedError and EndedFull, and Remedy what helps against it.
	Detail string `json:"detail,omitempty"`
	Remedy string `json:"remedy,omitempty"`
	Self   Self   `json:"self"`
	// Room has the resources of the host and how much of each was free at the worst moment.
	Room []Room `json:"room,omitempty"`
}

// EndedError means that the run failed. More time does not help.
const EndedError = "error"

// EndedDecided means that every limit of the plan was decided.
const EndedDecided = "decided"

// EndedFull means that a file system or the process ids of the host were running out.
const EndedFull = "full"

// The kinds of Room.
const (
	RoomBytes  = "bytes"
	RoomInodes = "inodes"
	RoomPids   = "processes"
)

// Room is how much of a resource was free at the worst moment of a run.
type Room struct {
	Of     string `json:"of"`   // a directory on the file system, a cgroup, or a sysctl
	Kind   string `json:"kind"` // one of the constants above
	Lowest int64  `json:"lowest"`
	// Bound must stay free: the run ends before less is free.
	Bound int64 `json:"bound"`
}

// Self is what tare itself used, without the loads.
type Self struct {
	// CPURatio is CPU seconds of tare inside windows per second of window.
	CPURatio float64 `json:"cpu_ratio"`
	MaxRSS   uint64  `json:"max_rss_bytes"`
	// Switch times in seconds: freeze, confirm, thaw.
	SwitchMedian float64 `json:"switch_median_seconds"`
	SwitchP99    float64 `json:"switch_p99_seconds"`
	Switches     int     `json:"switches"`
	// Pods has the switches of arms in pods; nil: none.
	Pods *Switches `json:"pods,omitempty"`
}

// Switches are times of switches in seconds.
type Switches struct {
	Median float64 `json:"median_seconds"`
	P99    float64 `json:"p99_seconds"`
	Count  int     `json:"count"`
}
