package record

// Detail is what a picture shows beside the effects: single windows, and how
// the latencies lie. Like the effects it follows from the record.
type Detail struct {
	Series  []Series       `json:"series"`
	Latency []Distribution `json:"latency"`
}

// Series is one metric of the windows of one arm over time.
type Series struct {
	Workload string  `json:"workload"`
	Arm      string  `json:"arm"`
	Metric   string  `json:"metric"`
	Unit     string  `json:"unit"`
	Points   []Point `json:"points"` // by time, those of dropped blocks too
	// Counted says that At counts points: the tool did not say when they were.
	Counted bool `json:"counted,omitempty"`
	// Low and High bound the counted points of all arms of the workload.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Spread counts the arm's counted points in equal parts from Low to High.
	Spread []int `json:"spread"`
}

// Point is one window.
type Point struct {
	At         float64 `json:"at"` // seconds since the start of the record, or of an imported run
	Value      float64 `json:"value"`
	Generation int     `json:"generation"`
	Block      int     `json:"block"`
	Dropped    string  `json:"dropped,omitempty"` // why its block does not count
}

// Distribution is the latencies of all counted operations of one arm.
type Distribution struct {
	Workload   string `json:"workload"`
	Arm        string `json:"arm"`
	Operations uint64 `json:"operations"`
	// Low and High, in seconds, are the same for all arms of the workload.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Shares is the share of the operations in equal parts of the logarithm
	// from Low to High; the first and the last hold what lies beyond.
	Shares    []float64  `json:"shares"`
	Quantiles []Quantile `json:"quantiles"`
}

// Quantile is the latency, in seconds, below which the share Q lies.
type Quantile struct {
	Q     float64 `json:"q"`
	Value Value   `json:"value"`
}
