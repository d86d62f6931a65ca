package record

// Answers is what a result says first: it follows from the effects, and every
// form of a report puts the same one into words.
type Answers struct {
	Standing Answered     `json:"standing"`
	Loads    []LoadAnswer `json:"loads"`
	// Untested are arms that the question is about and that were not measured,
	// such as the real container where there is no runtime.
	Untested []Left    `json:"not_tested,omitempty"`
	Noise    HostNoise `json:"host_noise"`
	// Menu is what more time would buy for all loads together, the widest first.
	Menu []Offer `json:"more_time,omitempty"`
	// Next is what to do, the most useful first.
	Next []NextStep `json:"next,omitempty"`
}

// Answered is how far a question is answered.
type Answered string

// The ways in which a question is answered.
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
	SubjectContainer Subject = "container" // the real one
	SubjectLayers    Subject = "layers"    // all of them up to the arm: there is no real one
	SubjectArm       Subject = "arm"       // beside others, none of which is on top
	SubjectNeighbour Subject = "neighbour" // what it takes away from the load
)

// LoadAnswer is the answer of one load.
type LoadAnswer struct {
	Workload string `json:"workload"`
	Measured bool   `json:"measured"` // false: no window of it counts
	Decided  bool   `json:"decided"`
	// Doubted says that the baseline differs from its twin: nothing here is to be
	// trusted.
	Doubted bool `json:"doubted,omitempty"`
	// Findings are about the subjects of the load, the first before all others;
	// empty where nothing but the baseline was measured. Besides are decided
	// effects of arms that are no part of the question.
	Findings []Finding `json:"findings"`
	// Foremost is the place of the finding that costs or gains most.
	Foremost int       `json:"foremost,omitempty"`
	Besides  []Finding `json:"besides,omitempty"`
	// Busy is what arms lose beside a neighbour in a pod.
	Busy []BusyNode `json:"busy,omitempty"`
	// Failed are the kinds of the checks that failed, Untold of those that had too
	// little data to tell.
	Failed []string `json:"checks_failed,omitempty"`
	Untold []string `json:"checks_untold,omitempty"`
	// TwoModes are the arms whose windows have two levels.
	TwoModes []string `json:"two_modes,omitempty"`
}

// Finding is what is known of one subject.
type Finding struct {
	Subject   Subject `json:"subject"`
	Neighbour string  `json:"neighbour,omitempty"` // of SubjectNeighbour
	Effect    Effect  `json:"effect"`              // in the primary metric
	// Efficiency is the same arm's operations per CPU second; nil where that is
	// not judged.
	Efficiency *Effect `json:"efficiency,omitempty"`
	// CPU is the CPU time of an operation over that of the baseline, the inverse of
	// Efficiency; nil where that has no interval.
	CPU *Ratio `json:"cpu_per_operation,omitempty"`
	// Part is what a loss of throughput comes from.
	Part LossPart `json:"part,omitempty"`
	// Excluded is the smallest loss that the interval rules out, as a ratio: 0.22
	// says that no loss above 22 % is compatible with the data; of undecided
	// effects, 0 when not known. Larger than 0.5 says as good as nothing.
	Excluded float64 `json:"excluded_loss,omitempty"`
	// Largest is the step of the ladder that costs most, and Share its part of the
	// whole, of the logarithms; 0 where it is no part, as others win it back.
	Largest *Effect `json:"largest_step,omitempty"`
	Share   float64 `json:"largest_share,omitempty"`
	// Single says that there are several steps and none is shown to cost.
	Single bool `json:"no_single_step,omitempty"`
	// Unmeasured says that none is shown to cost, and that a step has no interval yet.
	Unmeasured bool `json:"steps_not_measured,omitempty"`
	// Best is the mechanism of isolation that gives most back; of
	// SubjectNeighbour.
	Best *PriceRow `json:"best_isolation,omitempty"`
}

// LossPart is what a loss of throughput comes from.
type LossPart string

// The parts: throughput is CPU time received times operations per CPU second.
const (
	LossWork LossPart = "work" // an operation costs more CPU time
	LossCPU  LossPart = "cpu"  // it got less CPU time, at the same cost
	LossBoth LossPart = "both"
)

// BusyNode is what arms lose beside one neighbour, each against itself alone.
type BusyNode struct {
	Neighbour string           `json:"neighbour"`
	Metric    string           `json:"metric"`
	Changed   []string         `json:"changed"` // arms
	Open      []string         `json:"open"`    // no change is shown
	Effects   map[string]Ratio `json:"effects"`
	Worse     bool             `json:"worse"` // one that changed is worse
}

// HostNoise is what disturbed the run; a range over arms and loads.
type HostNoise struct {
	// StealLow and StealHigh are the share of the CPUs that the hypervisor took;
	// ForeignHigh what other processes used. 0 when not known or none.
	StealLow    float64 `json:"steal_low,omitempty"`
	StealHigh   float64 `json:"steal_high,omitempty"`
	ForeignHigh float64 `json:"foreign_high,omitempty"`
	Floor       float64 `json:"noise_floor,omitempty"` // the largest of the loads
}

// Offer is one line of what more time would buy.
type Offer struct {
	Half    float64 `json:"half_width"` // as a ratio
	Seconds float64 `json:"seconds"`    // more, for all loads together
	Soonest float64 `json:"seconds_soonest,omitempty"`
	Latest  float64 `json:"seconds_latest,omitempty"` // in four of five runs; both 0: no end is known
}

// NextStep is something to do.
type NextStep struct {
	Kind    NextKind `json:"kind"`
	Seconds float64  `json:"seconds,omitempty"` // of NextContinue
	Remedy  string   `json:"remedy,omitempty"`  // of NextProvide
}

// NextKind is a kind of thing to do.
type NextKind string

// What can be done next.
const (
	NextContinue  NextKind = "continue"  // measure on
	NextDedicated NextKind = "dedicated" // CPUs that no hypervisor takes away
	NextQuieter   NextKind = "quieter"   // end what else runs on the host
	NextProvide   NextKind = "provide"   // what an arm lacked
)
