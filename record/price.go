package record

// Price is the trade-off table of a workload beside one neighbour: how much of the loss each isolation
// mechanism gives back, and how much of its work the neighbour keeps. The rows differ only in
// isolation. Beside a neighbour in a pod the rows differ only in environment instead, and each row
// has an arm without the neighbour of its own.
type Price struct {
	Workload  string    `json:"workload"`
	Neighbour Neighbour `json:"neighbour"`
	// Alone is the arm without the neighbour, Unprotected the arm beside it without isolation. The
	// loss is the difference of the two.
	Alone       string `json:"alone"`
	Unprotected string `json:"unprotected"`
	// Primary is the metric of the table, and the first of Metrics.
	Primary string   `json:"primary"`
	Metrics []string `json:"metrics"`
	// Rows are the arms beside the neighbour, the unprotected one first.
	Rows []PriceRow `json:"rows"`
	// Invalid is the reason why the data allow no answer; empty when they do.
	Invalid Said `json:"invalid,omitzero"`
	// Explained has explanations of surprising rows from the probes.
	Explained []Explanation `json:"explained"`
}

// PriceRow is one isolation mechanism, or several together.
type PriceRow struct {
	Arm       string   `json:"arm"`
	Isolation []string `json:"isolation"` // as in Arm; empty: none
	// Environment is set where the rows differ in it; Alone is then the arm in the same environment
	// without the neighbour.
	Environment string `json:"environment,omitempty"`
	Alone       string `json:"alone,omitempty"`
	// Back is the loss that the workload regains, by metric in the order of Price.Metrics.
	Back []Regained `json:"back"`
	// Work is the neighbour's work per second of window, in its unit.
	Work Value `json:"work_per_second"`
	// Kept is the neighbour's work over its work beside the unprotected arm: 1.0 is all, 0 none, so
	// Low may be 0. nil: not known, see Reason.
	Kept   *Ratio `json:"neighbour_work,omitempty"`
	Reason Said   `json:"reason,omitzero"`
}

// Of finds what is regained in a metric; the zero value if the row does not have the metric.
func (r PriceRow) Of(name string) Regained {
	for _, x := range r.Back {
		if x.Metric == name {
			return x
		}
	}
	return Regained{}
}

// Regained is one metric of a row.
type Regained struct {
	Metric string `json:"metric"`
	// Effect is that of this arm against the arm without the neighbour; nil: unknown. Unprotected is the typical ratio
	// to the arm without isolation; nil: unknown.
	Effect      *Effect `json:"against_alone,omitempty"`
	Unprotected *Ratio  `json:"against_unprotected,omitempty"`
	// Share is the regained part of the loss: 1 all, 0 nothing, negative when the mechanism costs
	// more than it regains. nil: not known, see Reason; for instance, no loss was shown.
	Share  *Share `json:"share_regained,omitempty"`
	Reason Said   `json:"reason,omitzero"`
}

// Alone is the typical ratio to the arm without the neighbour; nil: unknown.
func (r Regained) Alone() *Ratio {
	if r.Effect == nil {
		return nil
	}
	return r.Effect.Typical
}

// Share is a part of something, with its interval.
type Share struct {
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// OfClasses says that the rows differ in the environment and not in isolation: a busy node.
func (p Price) OfClasses() bool { return len(p.Rows) > 0 && p.Rows[0].Environment != "" }

// Explanation explains a surprising row by probe values.
type Explanation struct {
	Arm      string     `json:"arm"`
	Against  string     `json:"against"` // the other arm of the comparison
	Rule     string     `json:"rule"`
	Text     Said       `json:"text"` // one sentence, with the numbers
	Evidence []Evidence `json:"evidence"`
}

// Evidence is a probe value of an explanation, in both arms.
type Evidence struct {
	Metric  string  `json:"metric"`
	Unit    string  `json:"unit"`
	Per     string  `json:"per"` // as in Kernel
	Arm     float64 `json:"arm"`
	Against float64 `json:"against"`
}
