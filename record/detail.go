package record

// Detail is the data of charts: single windows, and distributions of latencies. It is computed
// from the record, as the effects are.
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
	Points   []Point `json:"points"` // by time; includes dropped blocks
	// Counted says that At is the number of a point: the tool printed no time.
	Counted bool `json:"counted,omitempty"`
	// Low and High bound the counted points of all arms of the workload.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Spread is the histogram of the arm's counted points, in bins of equal width from Low to High.
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

// Distribution is the latency distribution of an arm's counted operations.
type Distribution struct {
	Workload   string `json:"workload"`
	Arm        string `json:"arm"`
	Operations uint64 `json:"operations"`
	// Low and High, in seconds, are the same for all arms of the workload.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Shares is the share of operations in each bin. Bins are equally wide in the logarithm, from
	// Low to High; the first and the last also hold what lies beyond.
	Shares    []float64  `json:"shares"`
	Quantiles []Quantile `json:"quantiles"`
}

// Quantile is the latency in seconds below which the share Q of the operations lies.
type Quantile struct {
	Q     float64 `json:"q"`
	Value Value   `json:"value"`
}
