package record

// Check is a standing check that needs a measurement of its own. The transparency check compares
// the baseline's rate in rotated windows with its rate while it runs without any freeze.
type Check struct {
	Workload   string  `json:"workload"`
	Generation int     `json:"generation"`
	Kind       string  `json:"kind"`    // "transparency"
	Rotated    float64 `json:"rotated"` // operations per second
	Steady     float64 `json:"steady"`  // operations per second, never frozen
}

// Warning is a caveat and what to do about it.
type Warning struct {
	Workload string `json:"workload,omitempty"`
	Arm      string `json:"arm,omitempty"`
	Text     Said   `json:"text"`
	Remedy   Said   `json:"remedy,omitzero"`
}
