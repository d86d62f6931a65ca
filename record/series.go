package record

// Series is one metric of the windows of one arm over time.
type Series struct {
	Workload string  `json:"workload"`
	Arm      string  `json:"arm"`
	Metric   string  `json:"metric"`
	Unit     string  `json:"unit"`
	Points   []Point `json:"points"` // by time; includes dropped blocks
	// Counted says that At is the number of a point: the tool printed no time.
	Counted bool `json:"counted,omitempty"`
}

// Point is one window.
type Point struct {
	At         float64 `json:"at"` // seconds since the start of the record, or of an imported run
	Value      float64 `json:"value"`
	Generation int     `json:"generation"`
	Block      int     `json:"block"`
	Dropped    string  `json:"dropped,omitempty"` // why its block does not count
}
