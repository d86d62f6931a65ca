package record

// ComparisonSchema is the schema of tare compare's output.
const ComparisonSchema = "tare/comparison/v1"

// Comparison is two results of the same experiment side by side: before and
// after an upgrade, or two hosts.
type Comparison struct {
	Schema string  `json:"schema"`
	Before Side    `json:"before"`
	After  Side    `json:"after"`
	Margin float64 `json:"margin"`
	// SameExperiment is false when a comparison of different experiments was forced.
	SameExperiment bool `json:"same_experiment"`
	// SameHost says that absolute levels may be compared.
	SameHost    bool         `json:"same_host"`
	Differences []Difference `json:"differences"`
	Changes     []Change     `json:"changes"`
	// Means has, for each arm that is the subject of several workloads, the geometric mean of its
	// changes in their primary metric. Workload and P are empty.
	Means []Change `json:"geometric_means,omitempty"`
	// Needed is the time in seconds that each of two runs would take until the undecided changes of the
	// subjects are known to plus or minus Margin; 0: none is undecided, or it is not known.
	Needed   float64   `json:"needed_seconds,omitempty"`
	Levels   []Level   `json:"levels"` // on the same host only
	Warnings []Warning `json:"warnings"`
}

// Side is one of the two results.
type Side struct {
	Dir        string  `json:"dir"`
	Run        string  `json:"run"`
	Experiment string  `json:"experiment"`
	Started    string  `json:"started"`
	Ended      string  `json:"ended"` // as in Effects
	Seconds    float64 `json:"seconds"`
	Seed       uint64  `json:"seed"`
	Tare       string  `json:"tare"` // version
	Host       Host    `json:"host"`
}

// Difference is a property in which the sides differ; the value is empty on a side without it. Of the statistics it is
// a version of the rules by which effects are judged.
type Difference struct {
	What   Said     `json:"what"`
	Where  []string `json:"where,omitempty"` // workloads, or "workload/arm"
	Before string   `json:"before"`
	After  string   `json:"after"`
	Weight Weight   `json:"weight"`
}

// Weight is the consequence of a difference for the comparison.
type Weight string

// The weights.
const (
	// WeightExperiment: different questions; results are compared only if forced.
	WeightExperiment Weight = "experiment"
	// WeightSetup: a possible cause of changed effects.
	WeightSetup Weight = "setup"
	// WeightNone: no influence on the estimates.
	WeightNone Weight = "none"
)

// Change is the difference of one effect between the two results.
type Change struct {
	Workload string `json:"workload"`
	Metric   string `json:"metric"`
	Arm      string `json:"arm"`
	Baseline string `json:"baseline"`
	// Before and After are the typical effects of the two results.
	Before *Ratio `json:"before,omitempty"`
	After  *Ratio `json:"after,omitempty"`
	// Change is After over Before, a ratio of ratios: 0.97 in throughput means that the arm loses
	// 3 % more than before.
	Change *Ratio `json:"change,omitempty"`
	// Bound and AtMost are as in Effect.
	Bound  *Ratio  `json:"bound,omitempty"`
	AtMost float64 `json:"at_most,omitempty"`
	// Verdict compares the two: slower means that the arm loses more than before.
	Verdict     Verdict `json:"verdict"`
	Reason      Said    `json:"reason,omitzero"`
	Exploratory bool    `json:"exploratory,omitempty"` // as in Effect
	Primary     bool    `json:"primary,omitempty"`     // Metric is the primary one of the workload
	// Subject: the question of the experiment is about this arm.
	Subject  bool    `json:"subject,omitempty"`
	P        float64 `json:"p_value"`
	Adjusted float64 `json:"p_adjusted"`
}

// Level is an arm's metric in its own unit, on both sides. It has no interval: between two runs a
// change cannot be distinguished from a drift of the host.
type Level struct {
	Workload string  `json:"workload"`
	Metric   string  `json:"metric"`
	Unit     string  `json:"unit"`
	Arm      string  `json:"arm"`
	Before   Value   `json:"before"`
	After    Value   `json:"after"`
	Ratio    float64 `json:"ratio,omitempty"` // after over before; 0 when not known
}
