package record

// Answers is the answer of a result: one table for each question, and what to do next. The analysis
// computes it once from the effects, so that all forms of a report say the same.
type Answers struct {
	Standing Answered      `json:"standing"`
	Tables   []AnswerTable `json:"tables"`
	// Skipped is the real container where it could not run.
	Skipped []Left    `json:"skipped,omitempty"`
	Noise   HostNoise `json:"host_noise"`
	// Busy says that nothing is decided because other work used the CPUs of this host.
	Busy bool `json:"busy,omitempty"`
	// Menu lists the widths that more time would reach for all loads together, the widest first.
	Menu []Offer `json:"more_time,omitempty"`
	// Next lists what the user can do, the most useful first.
	Next []NextStep `json:"next,omitempty"`
}

// Answered says how many of the rows are decided.
type Answered string

// The values of Answered.
const (
	AnsweredAll     Answered = "all"
	AnsweredPartly  Answered = "partly"
	AnsweredNone    Answered = "none"
	AnsweredNothing Answered = "nothing" // nothing was measured
)

// Question is what a table answers.
type Question string

// The questions.
const (
	AskedLayers    Question = "layers"    // what one arm costs each load, and in which layer
	AskedArms      Question = "arms"      // what each of several arms costs: engines, volumes, settings
	AskedNeighbour Question = "neighbour" // what a neighbour costs one load, and which isolation gives it back
	AskedPods      Question = "pods"      // what pods cost one load, alone and beside a neighbour
	AskedLimit     Question = "limit"     // what CPU limits cost one load
	AskedObjective Question = "objective" // whether one load reaches its objective in each arm
	AskedLogs      Question = "logs"      // how the results of another tool differ
)

// AnswerTable is the answer to one question.
type AnswerTable struct {
	Question Question `json:"question"`
	// Workload is the load of a table about one load; empty: each row names its own.
	Workload string `json:"workload,omitempty"`
	// Subject is the arm that AskedLayers is about; empty: the highest layer of each load. Container
	// says that this is a real container, not the layers that tare makes.
	Subject   string      `json:"subject,omitempty"`
	Container bool        `json:"container,omitempty"`
	Neighbour string      `json:"neighbour,omitempty"` // its name
	Objective *Objective  `json:"objective,omitempty"` // of AskedObjective
	Baseline  string      `json:"baseline"`
	Metric    string      `json:"metric"`
	Rows      []AnswerRow `json:"rows"`
	// Options are the arms that name another arm, against that arm (AskedArms).
	Options []Effect `json:"options,omitempty"`
	// Invalid is the reason why no row is comparable; empty when they are.
	Invalid Said `json:"invalid,omitzero"`
}

// Objective is the largest level of a metric that is good enough, in its unit.
type Objective struct {
	Metric string  `json:"metric"`
	Most   float64 `json:"most"`
}

// ArmLevel is the level of a metric in one arm, in its unit, with its 95 % interval over launches. Low and
// High are both 0 where there is none, and Reason says why.
type ArmLevel struct {
	Value    float64 `json:"value"`
	Low      float64 `json:"low,omitempty"`
	High     float64 `json:"high,omitempty"`
	Launches int     `json:"launches,omitempty"`
	Reason   Said    `json:"reason,omitzero"`
}

// CPULimit is the CPU limit of an arm and what became of it.
type CPULimit struct {
	CPUs   float64 `json:"cpus,omitempty"` // as in Arm; 0: no limit
	Burst  float64 `json:"burst,omitempty"`
	Weight int     `json:"weight,omitempty"`
	// Used is CPU seconds per second, Throttled the share of the periods in which the arm was throttled.
	Used      Value `json:"used_cpus"`
	Throttled Value `json:"throttled_periods"`
}

// AnswerRow is one load with one arm.
type AnswerRow struct {
	Workload string `json:"workload"`
	Arm      string `json:"arm"`
	// Level is the baseline's level of the table's metric, in its unit; nil: not known, or it
	// contradicts the effect.
	Level *float64 `json:"baseline_level,omitempty"`
	// Effect is the arm against the baseline; nil in the row of the baseline.
	Effect *Effect `json:"effect,omitempty"`
	// P99 and CPU are the effects on the 99th percentile of latency and on CPU time per operation;
	// nil without an interval.
	P99 *Effect `json:"p99,omitempty"`
	CPU *Effect `json:"cpu_per_operation,omitempty"`
	// Own is the arm's own level of the metric (AskedLimit, AskedObjective); nil: not known.
	Own *ArmLevel `json:"level,omitempty"`
	// Limit is the CPU limit of the arm (AskedLimit).
	Limit *CPULimit `json:"cpu_limit,omitempty"`
	// Isolation is that of the arm beside a neighbour; Regained the part of the loss that it gives
	// back, Kept what part of its work the neighbour keeps.
	Isolation []string `json:"isolation,omitempty"`
	Regained  *Share   `json:"regained,omitempty"`
	Kept      *Ratio   `json:"neighbour_work,omitempty"`
	// Beside is the arm beside the neighbour against the baseline alone (AskedPods).
	Beside *Effect `json:"beside,omitempty"`
	// Steps are the layers shown to differ from the one below, bottom up; Unshown lists the arms of the
	// other layers.
	Steps   []Effect `json:"steps,omitempty"`
	Unshown []string `json:"steps_not_shown,omitempty"`
	// Besides are the arms beside the ladder that are shown to differ.
	Besides []Effect `json:"beside_the_ladder,omitempty"`
	Says    Says     `json:"answer"`
}

// AnswerWord is the verdict of a row.
type AnswerWord string

// The verdicts of rows. The baseline's row has none.
const (
	SaysSlower       AnswerWord = "slower"
	SaysFaster       AnswerWord = "faster"
	SaysNoLoss       AnswerWord = "no_loss"
	SaysNoDifference AnswerWord = "no_difference"
	SaysUndecided    AnswerWord = "undecided"
	SaysInvalid      AnswerWord = "invalid"
	SaysSkipped      AnswerWord = "skipped"
	// Of AskedObjective, from the interval of the arm's own level.
	SaysEnough  AnswerWord = "fast_enough"
	SaysTooSlow AnswerWord = "too_slow"
)

// Decided reports whether a verdict is an answer.
func (w AnswerWord) Decided() bool {
	switch w {
	case SaysSlower, SaysFaster, SaysNoLoss, SaysNoDifference, SaysEnough, SaysTooSlow:
		return true
	}
	return false
}

// Says is the answer of a row.
type Says struct {
	Word AnswerWord `json:"verdict,omitempty"`
	// CPU says whether CPU time per operation is shown to differ; the word is never about it.
	CPU CPUWord `json:"cpu,omitempty"`
	// Bound is the largest loss (with no_difference: the largest difference) that typical effect, total and dropped
	// windows allow, as a ratio; 0: unknown.
	Bound float64 `json:"bound,omitempty"`
	// Seconds is how much more time would decide an undecided row; 0: not known.
	Seconds float64 `json:"seconds,omitempty"`
	// Reason says why the row is invalid, skipped or has no interval; Remedy what would help.
	Reason Said    `json:"reason,omitzero"`
	Remedy Said    `json:"remedy,omitzero"`
	Causes []Cause `json:"causes,omitempty"`
	// Protects: beside the neighbour the isolation is shown to give back more than half of the loss
	// (AskedNeighbour), or the pod is shown to lose less than the one that loses most (AskedPods). As is
	// an arm that does not differ from this one by more than Within, a ratio.
	// Against is the arm that Protects compares with.
	Protects bool    `json:"protects,omitempty"`
	Against  string  `json:"against,omitempty"`
	As       string  `json:"as,omitempty"`
	Within   float64 `json:"within,omitempty"`
}

// CPUWord is the verdict on CPU time per operation; empty: no difference is shown.
type CPUWord string

// The verdicts on CPU time per operation.
const (
	SaysMoreCPU CPUWord = "more_cpu"
	SaysLessCPU CPUWord = "less_cpu"
)

// Answered reports whether a row has an answer: a verdict, or a conclusion about other arms.
func (s Says) Answered() bool { return s.Word.Decided() || s.Protects || s.As != "" }

// Cause is a shown cause of a loss.
type Cause string

// The causes.
const (
	CauseWork     Cause = "work"       // more CPU time per operation
	CauseCPU      Cause = "cpu"        // less CPU time received
	CauseOther    Cause = "other_work" // less CPU time received beside other work on the host
	CauseDisk     Cause = "disk"       // less CPU time received, waiting for the disk
	CauseWait     Cause = "waiting"    // less CPU time received, although less waited for a CPU
	CauseThrottle Cause = "throttling" // less CPU time received, throttled
	CauseNetwork  Cause = "network"    // the network path has most of the loss
	CauseBursts   Cause = "bursts"     // some windows stall
	CauseSpeeds   Cause = "speeds"     // the arm or the baseline works at two speeds
)

// HostNoise is how much the host disturbed the run. The ranges are over arms and loads.
type HostNoise struct {
	// StealLow and StealHigh are the share of the CPUs that the hypervisor took, ForeignHigh the
	// share that other processes used in every arm of a load. 0: none, or not known.
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
	Remedy  Said     `json:"remedy,omitzero"`   // of NextProvide
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
