package record

// Imported describes a record of another tool's figures, which tare read from the tool's output.
// Such a record has an Observed line for each run of the tool, and no blocks.
type Imported struct {
	Files  []ImportedFile `json:"files"`
	Claims []Claim        `json:"claims,omitempty"`
}

// ImportedFile is a file that was read.
type ImportedFile struct {
	Arm   string `json:"arm"`
	Path  string `json:"path"` // as given on the command line
	Kind  string `json:"kind"` // sysbench, fio, pgbench-log ...
	Era   string `json:"era,omitempty"`
	Bytes int64  `json:"bytes,omitempty"` // on disk; 0 when not known
}

// Claim is a published percentage that tare checks against the imported figures.
type Claim struct {
	Metric string  `json:"metric"`
	Arm    string  `json:"arm,omitempty"` // empty: the only one beside the baseline
	Change float64 `json:"change"`        // as a ratio: -0.42 is "42 % less"
	// Digit is the value of the last printed digit: 0.01 in -42 %, 0.001 in -42.1 %.
	Digit float64 `json:"digit"`
}

// Observed is one run of a tool, from its output.
type Observed struct {
	Workload string `json:"workload"`
	Arm      string `json:"arm"`
	Number   int    `json:"number"` // of the arm's runs of this workload, from 0
	File     string `json:"file"`
	Line     int    `json:"line"` // where the run begins in the file
	Tool     string `json:"tool"`
	Version  string `json:"version,omitempty"`
	// Complete says that the output has the tool's own summary of the run.
	Complete bool `json:"complete"`
	// Host is the machine of the run, if a table names it; machines are a level above runs.
	Host    string  `json:"host,omitempty"`
	Seconds float64 `json:"seconds,omitempty"` // length of the run; 0: not known
	Errors  uint64  `json:"errors,omitempty"`
	// Load has the settings that define the load: runs whose Load differs are different loads.
	// Other has settings that may differ between runs of one load.
	Load    []Setting `json:"load,omitempty"`
	Other   []Setting `json:"other,omitempty"`
	Figures []Figure  `json:"figures"`
}

// Figure is one metric of one run.
type Figure struct {
	Metric string `json:"metric"`
	// Total is the figure of the tool's summary. Mean is the mean of the reports during the run
	// (report lines, transactions, single times).
	Total Value `json:"total"`
	Mean  Value `json:"mean"`
	// Reports is their number, Every the seconds from one to the next (0: not known), Stalled how
	// many reported a rate of 0.
	Reports int     `json:"reports,omitempty"`
	Every   float64 `json:"every_seconds,omitempty"`
	Stalled int     `json:"stalled,omitempty"`
	// Lag1 is the autocorrelation of neighbouring reports.
	Lag1 Value `json:"lag1"`
	// Bins are the means of consecutive groups of Bin reports, in order of time, at most 4096. The
	// last group is left out if it is not full.
	Bin  int       `json:"bin,omitempty"`
	Bins []float64 `json:"bins,omitempty"`
}

// ImportedSeries is one imported run's mean, with an error computed from its reports.
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
	// The error is computed from Batches means of BatchSize reports each; 0: the run is too short.
	// Left is the autocorrelation of these means.
	Batches   int   `json:"batches,omitempty"`
	BatchSize int   `json:"batch_size,omitempty"`
	Left      Value `json:"left"`
	// Half is the half-width of the mean's 95 % interval, over the mean.
	Half float64 `json:"half_width,omitempty"`
	// Points are the means of at most 240 consecutive parts of the series.
	Points []float64 `json:"points,omitempty"`
	Modes  *Modes    `json:"modes,omitempty"` // when there are two
}

// Modes are the two levels between which a series switches.
type Modes struct {
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Share    float64 `json:"share_high"` // of the reports at the upper level
	Switches int     `json:"switches"`   // between the two
}
