package record

// Check is one standing check, other than what the windows themselves tell.
// Transparency compares the rate of the baseline in a rotated window with its
// rate while it runs on without any freeze.
type Check struct {
	Workload   string  `json:"workload"`
	Generation int     `json:"generation"`
	Kind       string  `json:"kind"`    // "transparency"
	Rotated    float64 `json:"rotated"` // operations per second
	Steady     float64 `json:"steady"`  // operations per second, never frozen
}

// Warning is a caveat with its remedy.
type Warning struct {
	Workload string `json:"workload,omitempty"`
	Arm      string `json:"arm,omitempty"`
	Text     string `json:"text"`
	Remedy   string `json:"remedy,omitempty"`
}
