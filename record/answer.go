package record

// Answers is the summary of a result. The analysis computes it once from the effects, so that all
// forms of a report say the same.
type Answers struct {
	Standing Answered     `json:"standing"`
	Loads    []LoadAnswer `json:"loads"`
	// Untested lists arms of the question that were not measured, such as the real container
	// where the host has no runtime.
	Untested []Left    `json:"not_tested,omitempty"`
	Noise    HostNoise `json:"host_noise"`
	// Menu lists the widths that more time would reach for all loads together, the widest first.
	Menu []Offer `json:"more_time,omitempty"`
	// Next lists what the user can do, the most useful first.
	Next []NextStep `json:"next,omitempty"`
}

// Answered says how many of the loads have a decided effect.
type Answered string

// The values of Answered.
const (
	AnsweredAll     Answered = "all"     // for every load
	AnsweredPartly  Answered = "partly"  // for some of the loads
	AnsweredNone    Answered = "none"    // for no load
	AnsweredNothing Answered = "nothing" // nothing was measured
)

// Subject is what an answer is about.
type Subject string

// The subjects.
const (
	SubjectContainer Subject = "container" // the real container
	SubjectLayers    Subject = "layers"    // all layers up to the arm: the host has no runtime for a real container
	SubjectArm       Subject = "arm"       // one of several arms that are not a ladder
	SubjectNeighbour Subject = "neighbour" // the loss of the load beside a neighbour
)

// LoadAnswer is the answer of one load.
type LoadAnswer struct {
	Workload string `json:"workload"`
	Measured bool   `json:"measured"` // false: no window counts
	Decided  bool   `json:"decided"`
	// Doubted says that the baseline differs from its twin: the load's verdicts are invalid.
	Doubted bool `json:"doubted,omitempty"`
	// Findings has one entry for each subject, the main one first; empty where only the baseline
	// was measured. Besides lists decided effects of arms outside of the question.
	Findings []Finding `json:"findings"`
	// Foremost is the index of the finding with the largest cost or gain.
	Foremost int       `json:"foremost,omitempty"`
	Besides  []Finding `json:"besides,omitempty"`
	// Busy lists the losses beside neighbours in pods.
	Busy []BusyNode `json:"busy,omitempty"`
	// Failed lists the kinds of the checks that failed, Untold those that are undecided for lack of
	// data.
	Failed []string `json:"checks_failed,omitempty"`
	Untold []string `json:"checks_untold,omitempty"`
	// TwoModes lists the arms whose windows have two levels.
	TwoModes []string `json:"two_modes,omitempty"`
}

// Finding is the result for one subject.
type Finding struct {
	Subject   Subject `json:"subject"`
	Neighbour string  `json:"neighbour,omitempty"` // of SubjectNeighbour
	Effect    Effect  `json:"effect"`              // in the primary metric
	// Efficiency is the effect on the arm's operations per CPU second; nil where that metric is
	// not judged.
	Efficiency *Effect `json:"efficiency,omitempty"`
	// CPU is the ratio of the CPU time per operation to the baseline's, the inverse of Efficiency;
	// nil if Efficiency has no interval.
	CPU *Ratio `json:"cpu_per_operation,omitempty"`
	// Part is the cause of a loss of throughput.
	Part LossPart `json:"part,omitempty"`
	// OtherWork is the share of the CPUs that other processes used beside the load, if it is more
	// than a tenth. The CPU time that the arm received, over the baseline's (Received), is then the
	// outcome of a competition and not a price of the arm, and Efficiency is what counts. 0: it is
	// less, or not known.
	OtherWork float64 `json:"other_work,omitempty"`
	Received  *Ratio  `json:"cpu_received,omitempty"`
	// Excluded is the smallest loss that the interval of an undecided effect rules out, as a
	// ratio: 0.22 means a loss of at most 22 %. 0: not known. Values above 0.5 mean little.
	Excluded float64 `json:"excluded_loss,omitempty"`
	// Largest is the most costly step of the ladder. Share is its part of the whole loss, a ratio of
	// logarithms; 0 if gains in other steps make up for the loss.
	Largest *Effect `json:"largest_step,omitempty"`
	Share   float64 `json:"largest_share,omitempty"`
	// Single says that the ladder has several steps and none alone is shown to cost.
	Single bool `json:"no_single_step,omitempty"`
	// Unmeasured says that no step is shown to cost, and that at least one has no interval yet.
	Unmeasured bool `json:"steps_not_measured,omitempty"`
	// Best is the isolation mechanism that gives back most of the loss; for SubjectNeighbour only.
	Best *PriceRow `json:"best_isolation,omitempty"`
}

// LossPart is the cause of a loss of throughput.
type LossPart string

// The parts: throughput is CPU time received times operations per CPU second.
const (
	LossWork LossPart = "work" // more CPU time per operation
	LossCPU  LossPart = "cpu"  // the arm got less CPU time
	LossBoth LossPart = "both"
)

// BusyNode is the loss of arms beside one neighbour, each against the same arm alone.
type BusyNode struct {
	Neighbour string           `json:"neighbour"`
	Metric    string           `json:"metric"`
	Changed   []string         `json:"changed"` // arms
	Open      []string         `json:"open"`    // arms that are undecided
	Effects   map[string]Ratio `json:"effects"`
	Worse     bool             `json:"worse"` // a changed arm got worse
}

// HostNoise is how much the host disturbed the run. The ranges are over arms and loads.
type HostNoise struct {
	// StealLow and StealHigh are the share of the CPUs that the hypervisor took, ForeignHigh the
	// share that other processes used. 0: none, or not known.
	StealLow    float64 `json:"steal_low,omitempty"`
	StealHigh   float64 `json:"steal_high,omitempty"`
	ForeignHigh float64 `json:"foreign_high,omitempty"`
	Floor       float64 `json:"noise_floor,omitempty"` // the largest of the loads
}

// Offer is a half-width that more time would reach.
type Offer struct {
	Half    float64 `json:"half_width"` // as a ratio
	Seconds float64 `json:"seconds"`    // additional time, for all loads together
	Soonest float64 `json:"seconds_soonest,omitempty"`
	Latest  float64 `json:"seconds_latest,omitempty"` // four of five runs end between Soonest and Latest; both 0: not known
}

// NextStep is advice to the user.
type NextStep struct {
	Kind    NextKind `json:"kind"`
	Seconds float64  `json:"seconds,omitempty"` // of NextContinue
	Remedy  string   `json:"remedy,omitempty"`  // of NextProvide
}

// NextKind is a kind of advice.
type NextKind string

// The kinds of advice.
const (
	NextContinue  NextKind = "continue"  // continue the run
	NextDedicated NextKind = "dedicated" // use CPUs without steal
	NextQuieter   NextKind = "quieter"   // stop other work on the host
	NextProvide   NextKind = "provide"   // install what a skipped arm needs
)
