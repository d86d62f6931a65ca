package record

// Price is the price matrix of a workload beside one neighbour: for each
// mechanism of isolation what the workload gets back, and what the neighbour
// pays for it. The arms differ in nothing but the isolation; or, beside a
// neighbour in a pod, in nothing but their environment, and each row has an arm
// alone of its own.
type Price struct {
	Workload  string    `json:"workload"`
	Neighbour Neighbour `json:"neighbour"`
	// Alone is the arm without the neighbour, Unprotected the one beside it
	// without isolation: the loss is what lies between the two.
	Alone       string `json:"alone"`
	Unprotected string `json:"unprotected"`
	// Primary is the metric that the table is about; it is the first of the Metrics that
	// each row has.
	Primary string   `json:"primary"`
	Metrics []string `json:"metrics"`
	// Rows are the arms beside the neighbour, the unprotected one first.
	Rows []PriceRow `json:"rows"`
	// Invalid is why the data cannot carry an answer; empty when they can.
	Invalid string `json:"invalid,omitempty"`
	// Explained are surprises with what the probes say about them.
	Explained []Explanation `json:"explained"`
}

// PriceRow is one mechanism, or several together.
type PriceRow struct {
	Arm       string   `json:"arm"`
	Isolation []string `json:"isolation"` // as in Arm; empty: none
	// Environment is what protects the arm where that is what the rows differ in,
	// and Alone the arm in the same one without the neighbour; else empty.
	Environment string `json:"environment,omitempty"`
	Alone       string `json:"alone,omitempty"`
	// Back is what the workload gets back, in the order of Price.Metrics.
	Back []Regained `json:"back"`
	// Work is the neighbour's work per second of window, in its unit.
	Work Value `json:"work_per_second"`
	// Kept is the neighbour's work over that beside the unprotected arm; 1.0 is
	// all of it, 0 none, so Low may be 0. nil: not known, Reason says why.
	Kept   *Ratio `json:"neighbour_work,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Of finds what is regained in a metric; the zero value where nothing is known of it.
func (r PriceRow) Of(metric string) Regained {
	for _, x := range r.Back {
		if x.Metric == metric {
			return x
		}
	}
	return Regained{}
}

// Regained is one metric of a row.
type Regained struct {
	Metric string `json:"metric"`
	// Alone is the arm over the arm alone, Unprotected the arm over the one
	// without isolation; typical effects, nil when not known.
	Alone       *Ratio `json:"against_alone,omitempty"`
	Unprotected *Ratio `json:"against_unprotected,omitempty"`
	// Share is the part of the loss that is regained: 1 all of it, 0 nothing,
	// negative when the mechanism costs more than it protects. nil when there is
	// no number; Reason says why, for instance that no loss was shown.
	Share  *Share `json:"share_regained,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Share is a part of something, with its interval.
type Share struct {
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// OfClasses says that the rows differ in the environment, and not in a mechanism: a
// busy node.
func (p Price) OfClasses() bool { return len(p.Rows) > 0 && p.Rows[0].Environment != "" }

// Explanation is what the probes say about a surprise.
type Explanation struct {
	Arm      string     `json:"arm"`
	Against  string     `json:"against"` // the arm that it is compared with
	Rule     string     `json:"rule"`
	Text     string     `json:"text"` // one sentence, with the numbers
	Evidence []Evidence `json:"evidence"`
}

// Evidence is a number that an explanation rests on, in both arms.
type Evidence struct {
	Metric  string  `json:"metric"`
	Unit    string  `json:"unit"`
	Per     string  `json:"per"` // as in Kernel
	Arm     float64 `json:"arm"`
	Against float64 `json:"against"`
}
