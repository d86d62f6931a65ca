package record

// Block is each arm once, in random order.
type Block struct {
	Workload   string   `json:"workload"`
	Generation int      `json:"generation"`
	Number     int      `json:"number"` // within the generation, from 0
	Windows    []Window `json:"windows"`
	// Dropped is why the block ended early, in records of before windows were
	// dropped one by one: its last window is the one that the reason is about.
	Dropped string `json:"dropped,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

// Reasons for dropping a window. None of them looks at the result. DropLength, and those of
// foreign CPU, steal and stalls, are of records of before: such a window counts.
const (
	DropFreeze    = "freeze not confirmed within 1 s"
	DropError     = "load reported an error"
	DropDied      = "load ended"
	DropLength    = "window length off by more than 5 %"
	DropForeign   = "foreign CPU above the limit"
	DropSteal     = "steal above the limit"
	DropClient    = "client CPU above 90 %"
	DropAbandoned = "interrupted"
	DropStalled   = "no operation in a window"
	DropNeighbour = "neighbour ended"
	DropIsolation = "isolation did not hold"
	DropSilent    = "tare was stopped, or the machine suspended"
	DropLong      = "window much longer than planned"
)

// Window is one measured slice of one arm.
type Window struct {
	Arm string `json:"arm"`
	// Dropped is why the window does not count, one of the Drop constants, and
	// Detail the particulars; empty when it counts.
	Dropped string  `json:"dropped,omitempty"`
	Detail  string  `json:"detail,omitempty"`
	Start   float64 `json:"start"`   // seconds since the start of the record, without those before it was continued
	Seconds float64 `json:"seconds"` // measured
	Ops     uint64  `json:"ops"`
	// First is the operations of the first half of the window, for the check
	// of the first half against the second, and FirstSeconds its length; both are 0 where
	// the middle was not read.
	First        uint64  `json:"first_ops"`
	FirstSeconds float64 `json:"first_seconds"`
	Errors       uint64  `json:"errors,omitempty"`
	// Cut counts operations in flight over a pause: in no histogram.
	Cut uint64 `json:"cut,omitempty"`
	// Late counts operations that an open-loop load started later than
	// intended by more than 1 ms; Backlog is what was still waiting at the end.
	Late    uint64           `json:"late,omitempty"`
	Backlog uint64           `json:"backlog,omitempty"`
	Latency Histogram        `json:"latency"`
	Probes  map[string]Value `json:"probes,omitempty"`
	// Values are what the load itself said, by the names of Workload.Values.
	Values map[string]Value `json:"values,omitempty"`
	// Neighbour is what the neighbour did, by the Neighbour constants.
	Neighbour map[string]Value `json:"neighbour,omitempty"`
	// Freeze and Thaw are what the switch took, in seconds.
	Freeze float64 `json:"freeze_seconds,omitempty"`
	Thaw   float64 `json:"thaw_seconds,omitempty"`
}

// Rate is operations per second; NaN without time.
func (w Window) Rate() float64 { return float64(w.Ops) / w.Seconds }

// End closes a record.
type End struct {
	Reason string `json:"reason"` // "precision", "budget", "interrupted", "error", EndedFull
	Detail string `json:"detail,omitempty"`
	Self   Self   `json:"self"`
	// Room is what the host had free at the worst moment.
	Room []Room `json:"room,omitempty"`
}

// EndedFull means that a file system or the process ids of the host were about to run out.
const EndedFull = "full"

// What Room counts.
const (
	RoomBytes  = "bytes"
	RoomInodes = "inodes"
	RoomPids   = "processes"
)

// Room is how much of one thing was free at the worst moment that a run saw.
type Room struct {
	Of     string `json:"of"`   // a directory on the file system, a control group, or a sysctl
	Kind   string `json:"kind"` // of the constants above
	Lowest int64  `json:"lowest"`
	// Bound is what has to stay free: a run ends before less is.
	Bound int64 `json:"bound"`
}

// Self is what tare itself used, the loads not counted.
type Self struct {
	// CPURatio is CPU seconds of tare inside windows per second of window.
	CPURatio float64 `json:"cpu_ratio"`
	MaxRSS   uint64  `json:"max_rss_bytes"`
	// Switch times in seconds: freeze, confirm, thaw.
	SwitchMedian float64 `json:"switch_median_seconds"`
	SwitchP99    float64 `json:"switch_p99_seconds"`
	Switches     int     `json:"switches"`
	// Pods are the switches of arms in pods alone; nil: there were none.
	Pods *Switches `json:"pods,omitempty"`
}

// Switches are what switches took, in seconds.
type Switches struct {
	Median float64 `json:"median_seconds"`
	P99    float64 `json:"p99_seconds"`
	Count  int     `json:"count"`
}
