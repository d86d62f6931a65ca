package record

// Known is what the newest runs on this host took and showed of a load with the same server versions, data and kinds of
// arms. A plan uses it and writes it down. Times are in seconds, the longest of these runs.
type Known struct {
	Runs   int    `json:"runs"`   // so many runs
	Newest string `json:"newest"` // when the newest of them began
	// Data is the time of making the data sets that are not in the cache.
	Data float64 `json:"data_seconds,omitempty"`
	// Begin is the time until the first window, with the first launch and the pilot, without Data.
	Begin float64 `json:"begin_seconds"`
	// Launch is the time from the last window of a launch to the first window of the next one.
	Launch float64 `json:"launch_seconds"`
	// Slot is the time of a window with its settle time and the switch of arms.
	Slot float64 `json:"slot_seconds"`
	// Operations is how many operations the slowest arm has, and Windows how many windows each arm has, in a second of the
	// run after Begin; 0: not known.
	Operations float64 `json:"operations_per_second,omitempty"`
	Windows    float64 `json:"windows_per_second,omitempty"`
	// Narrowest and Widest are the half-widths, as ratios, of the intervals of the primary metric after Seconds of the run
	// for each arm, without Begin, of the question alone where the load has one; 0: unknown.
	Narrowest float64 `json:"narrowest_half_width,omitempty"`
	Widest    float64 `json:"widest_half_width,omitempty"`
	Seconds   float64 `json:"seconds_per_arm,omitempty"`
}

// DataSet is a data set on which a workload ran.
type DataSet struct {
	Workload string  `json:"workload"`
	Key      string  `json:"key"`            // in the cache
	Bytes    int64   `json:"bytes"`          // sum of its files' sizes
	Seconds  float64 `json:"making_seconds"` // time of making it
	// Made is true if this run made it, false if it was in the cache.
	Made bool `json:"made,omitempty"`
}
