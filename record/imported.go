package record

// Imported says that the figures of a record are not tare's own: another tool
// measured, and tare read its output. Such a record has no blocks but one
// Observed line for each run of the tool.
type Imported struct {
	Files  []ImportedFile `json:"files"`
	Claims []Claim        `json:"claims,omitempty"`
}

// ImportedFile is a file that was read.
type ImportedFile struct {
	Arm   string `json:"arm"`
	Path  string `json:"path"` // as it was named
	Kind  string `json:"kind"` // sysbench, fio, pgbench-log ...
	Era   string `json:"era,omitempty"`
	Bytes int64  `json:"bytes,omitempty"` // on disk; 0 when not known
}

// Claim is a percentage that somebody published of these figures, to be checked
// against them.
type Claim struct {
	Metric string  `json:"metric"`
	Arm    string  `json:"arm,omitempty"` // empty: the only one beside the baseline
	Change float64 `json:"change"`        // as a ratio: -0.42 is "42 % less"
	// Digit is what one unit of the last printed digit is worth: 0.01 for -42 %,
	// 0.001 for -42.1 %.
	Digit float64 `json:"digit"`
}

// Observed is one run of a tool as its output tells it.
type Observed struct {
	Workload string `json:"workload"`
	Arm      string `json:"arm"`
	Number   int    `json:"number"` // of the arm's runs of this workload, from 0
	File     string `json:"file"`
	Line     int    `json:"line"` // where the run begins in the file
	Tool     string `json:"tool"`
	Version  string `json:"version,omitempty"`
	// Complete says that the tool's own summary of the run is there.
	Complete bool    `json:"complete"`
	Seconds  float64 `json:"seconds,omitempty"` // what the figures span; 0: not known
	Errors   uint64  `json:"errors,omitempty"`
	// Load is the settings that make the load what it is; runs under different
	// ones are different loads. Other is what may differ without being that.
	Load    []Setting `json:"load,omitempty"`
	Other   []Setting `json:"other,omitempty"`
	Figures []Figure  `json:"figures"`
}

// Figure is one metric of one run.
type Figure struct {
	Metric string `json:"metric"`
	// Total is what the tool's summary says of the whole run; Mean is the mean of
	// what it reported on the way (report lines, transactions, single times).
	Total Value `json:"total"`
	Mean  Value `json:"mean"`
	// Reports is how many of those there are, Every the seconds between two (0:
	// not known), Stalled how many of them reported a rate of 0.
	Reports int     `json:"reports,omitempty"`
	Every   float64 `json:"every_seconds,omitempty"`
	Stalled int     `json:"stalled,omitempty"`
	// Lag1 is the autocorrelation of neighbouring reports.
	Lag1 Value `json:"lag1"`
	// Bins are the means of consecutive groups of Bin reports, in order of time,
	// at most 4096; what does not fill the last one is left out.
	Bin  int       `json:"bin,omitempty"`
	Bins []float64 `json:"bins,omitempty"`
}

// ImportedSeries is what the reports of one imported run say about its mean.
type ImportedSeries struct {
	Workload string  `json:"workload"`
	Arm      string  `json:"arm"`
	Metric   string  `json:"metric"`
	Number   int     `json:"number"` // of the arm's runs
	File     string  `json:"file"`
	Line     int     `json:"line"`
	Reports  int     `json:"reports"`
	Seconds  float64 `json:"seconds,omitempty"`
	Mean     Value   `json:"mean"`
	// Lag1 is the autocorrelation of neighbouring reports; independent ones have 0.
	Lag1 Value `json:"lag1"`
	// Batches, each of BatchSize reports, are what the error comes from; 0 when the
	// run is too short to know it. Left is the autocorrelation that is left in them.
	Batches   int   `json:"batches,omitempty"`
	BatchSize int   `json:"batch_size,omitempty"`
	Left      Value `json:"left"`
	// Half is the half-width of the 95 % interval of the run's own mean, over the mean.
	Half float64 `json:"half_width,omitempty"`
	// Points is the series itself in at most 240 consecutive parts.
	Points []float64 `json:"points,omitempty"`
	Modes  *Modes    `json:"modes,omitempty"` // when there are two
}

// Modes is a series that has two levels.
type Modes struct {
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Share    float64 `json:"share_high"` // of the reports at the upper level
	Switches int     `json:"switches"`   // between the two
}
