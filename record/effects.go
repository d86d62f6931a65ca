package record

// Effects is the result of the analysis of a record. It has numbers and words but no layout. A report
// needs nothing else.
type Effects struct {
	Schema     string   `json:"schema"`
	Statistics int      `json:"statistics,omitempty"` // version of the rules of judging; 0: older than version 2
	Experiment string   `json:"experiment"`
	Title      string   `json:"title,omitempty"` // as in Plan
	Command    []string `json:"command,omitempty"`
	Seed       uint64   `json:"seed"`
	Started    string   `json:"started"`
	Seconds    float64  `json:"seconds"` // from the first to the last line of each run
	Ended      string   `json:"ended"`   // reason; EndedKilled or EndedRunning when the record has no end
	Margin     float64  `json:"margin"`
	Precision  float64  `json:"precision"`
	Host       Host     `json:"host"`
	// Programs and Adopted are those of the Plan.
	Programs []Program `json:"programs,omitempty"`
	Adopted  []Adopted `json:"adopted,omitempty"`
	// Calibrated is Manifest.Calibrated.
	Calibrated *Calibrated `json:"calibrated,omitempty"`

	// Answer is the summary; nil in effects that older versions wrote.
	Answer *Answers `json:"answer,omitempty"`

	Workloads []WorkloadResult `json:"workloads"`
	Arms      []ArmResult      `json:"arms"`
	Effects   []Effect         `json:"effects"`
	Steps     []Effect         `json:"steps"`
	Remainder []Effect         `json:"remainder"`
	Options   []Effect         `json:"options,omitempty"` // arms against Arm.Against
	Twin      []Effect         `json:"twin"`
	Kernel    []Kernel         `json:"kernel"`
	Prices    []Price          `json:"prices,omitempty"`
	Modes     []ArmModes       `json:"modes,omitempty"` // one for each arm
	Series    []Series         `json:"-"`               // the single windows, for charts

	// Imported is set if another tool measured and tare read its output. Then Single describes each
	// run of that tool, and Caveats says what such figures cannot show. Of a run that failed Caveats says why.
	// Reports print it first.
	Imported *Imported        `json:"imported,omitempty"`
	Caveats  []Warning        `json:"caveats,omitempty"`
	Single   []ImportedSeries `json:"single_runs,omitempty"`

	Dropped  Dropped   `json:"dropped"`
	Left     []Left    `json:"left_out"`
	Warnings []Warning `json:"warnings"`
	Self     Self      `json:"self"`
	// Room is End.Room.
	Room []Room `json:"room,omitempty"`
}

// Verdict is the judgement of one effect. The zero value is undecided.
type Verdict int

// The verdicts.
const (
	Undecided    Verdict = iota // neither shown nor ruled out
	Slower                      // worse than the baseline
	Faster                      // better than the baseline
	NoDifference                // no difference larger than the margin, typical and total
	Invalid                     // the data allow no verdict
	NoLoss                      // no loss larger than the margin, typical and total; a larger gain is possible
	MoreCPU                     // more CPU time per operation than the baseline
	LessCPU                     // less
)

var verdictNames = words{"undecided", "slower", "faster", "no_difference", "invalid", "no_loss", "more_cpu", "less_cpu"}

func (v Verdict) String() string { return verdictNames.of(int(v), "invalid") }

// Worse reports whether the arm is shown to be worse than the baseline.
func (v Verdict) Worse() bool { return v == Slower || v == MoreCPU }

// Better reports whether the arm is shown to be better than the baseline.
func (v Verdict) Better() bool { return v == Faster || v == LessCPU }

// Differs reports whether the arm is shown to differ from the baseline.
func (v Verdict) Differs() bool { return v.Worse() || v.Better() }

// MarshalText writes the verdict's name.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads a verdict's name; an unknown one is undecided.
func (v *Verdict) UnmarshalText(b []byte) error {
	i, _ := verdictNames.find("verdict", b)
	*v = Verdict(i)
	return nil
}

// Effects.Ended where a record has no End line.
const (
	EndedKilled  = "killed"
	EndedRunning = "running" // the run is still going on
)

// Ratio is arm over baseline with its interval; 1.0 is equal. An unknown ratio is nil, and the
// effect's Reason says why.
type Ratio struct {
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// SE is the standard error of the ratio's natural logarithm, DF its degrees of freedom, which
	// may be fractional; 0: unknown. The interval can be wider than SE and DF imply, because it is
	// corrected for many arms.
	SE float64 `json:"standard_error,omitempty"`
	DF float64 `json:"degrees_of_freedom,omitempty"`
}

// Effect is the paired difference of an arm against its baseline in one metric, as a ratio. In Steps
// the baseline is the rung below.
type Effect struct {
	Workload string `json:"workload"`
	Metric   string `json:"metric"`
	Arm      string `json:"arm"`
	Baseline string `json:"baseline"`
	// Typical limits the weight of outlying windows (Huber's estimate). Total is the ratio of
	// sums over all windows. Where the two disagree the loss is intermittent. Both compare the arm
	// with the control, which is the mean of baseline and twin.
	Typical *Ratio `json:"typical"`
	Total   *Ratio `json:"total"`
	// Observed is arm over baseline from the tools' figures, without an interval; 0 unless the
	// result is imported. Within is the same ratio with an interval from the noise inside one run
	// of each arm. It leaves out the noise between runs, so no verdict follows from it.
	Observed float64 `json:"observed_ratio,omitempty"`
	Within   *Ratio  `json:"within_run,omitempty"`
	// Own is the typical effect with its interval before the correction for many arms.
	Own     *Ratio  `json:"own"`
	Verdict Verdict `json:"verdict"`
	Reason  Said    `json:"reason,omitzero"` // why undecided, invalid or not known
	// Unjudged says that this arm gets no verdict, whatever its interval, because the arm
	// Workload.Question was not shown to differ.
	Unjudged bool `json:"unjudged,omitempty"`
	// Noisy marks a twin that differs from its baseline in a metric other than the primary one: the
	// other arms' effects on that metric may be noise.
	Noisy bool `json:"noisy,omitempty"`
	// Exploratory marks metrics other than the primary one: their false discovery rate is 10 %,
	// in place of a family-wise error rate of 5 %.
	Exploratory bool `json:"exploratory,omitempty"`
	// Bound is the farthest that the typical effect, the total (with room for stalls that were not seen) and dropped
	// windows (the worst case of Lee 2009) allow. The end of a shown effect that is nearer to 1 is the typical one's.
	// nil: unknown, or an arm has fewer launches than a verdict needs.
	Bound *Ratio `json:"bound,omitempty"`
	// AtMost is the largest loss in Bound, as a ratio (0.05 is 5 % less throughput, or 5 % more of a latency); with
	// no_difference the largest difference. 0: no loss, unknown, or undecided and larger than a half.
	AtMost float64 `json:"at_most,omitempty"`
	// Parts splits a difference in throughput; nil for other metrics and without CPU time.
	Parts *Parts `json:"parts,omitempty"`
	// Unequal says how the two arms differ in durability; empty: they do not.
	Unequal Said `json:"unequal,omitzero"`
	// NetworkAlone marks an option whose two arms differ in nothing but their network.
	NetworkAlone bool `json:"network_alone,omitempty"`
	// P is the p-value, Adjusted the p-value corrected for many arms. Both are nil if the ratios are
	// nil: without an interval there is no test.
	P           *float64 `json:"p_value"`
	Adjusted    *float64 `json:"p_adjusted"`
	Blocks      int      `json:"blocks"`
	Generations int      `json:"generations"` // launches of that one of the two arms that has fewer
	// Detectable is the smallest effect that this amount of data finds with 80 % power, as a ratio
	// (0.014 is 1.4 %).
	Detectable float64 `json:"detectable,omitempty"`
	// Needed is how many more seconds of measuring would decide the effect; 0 if it is decided.
	Needed float64 `json:"needed_seconds,omitempty"`
	// Slow is the share of windows that are slower than the arm's typical effect by more than the
	// twin's noise. It is set where Typical and Total disagree.
	Slow         float64 `json:"slow_windows,omitempty"`
	Intermittent bool    `json:"intermittent,omitempty"`
	// Launches says how much the launches of the arm differ; nil after a single launch, and for
	// metrics without an interval.
	Launches *ArmLaunches `json:"launches,omitempty"`
	// Speeds is set where the arm worked at two speeds, of which the typical effect describes
	// neither.
	Speeds *Modes `json:"speeds,omitempty"`
}

// ArmLaunches compares the scatter of an arm's launches with that of the other arms'.
type ArmLaunches struct {
	Count int `json:"count"`
	// SD is the standard deviation of the arm's launches and Others that of the other arms', of
	// the natural logarithm, each with the noise of its windows; Others is 0 if it is not known.
	SD     float64 `json:"sd"`
	Others float64 `json:"sd_of_others,omitempty"`
	// P is the one-sided p-value of their F test; nil: the launches do not allow one.
	P *float64 `json:"p_value,omitempty"`
	// Odd says that the interval rests on the arm's own launches.
	Odd bool `json:"odd,omitempty"`
}

// Parts are the two factors of a throughput ratio: CPU time received per second, over CPU time per
// operation. Their quotient is about the ratio; it is not exact because all three are robust estimates.
// The interval of each factor is not corrected for many arms.
type Parts struct {
	CPU   Ratio `json:"cpu_per_second"`
	PerOp Ratio `json:"cpu_per_op"`
	// Most is the factor that is shown to differ, the larger one if both are; empty: neither.
	Most string `json:"most,omitempty"`
}

// The factors of a throughput ratio.
const (
	PartCPU   = "cpu"        // the arm got less (or more) CPU time
	PartPerOp = "cpu_per_op" // more (or less) CPU time per operation
)

// WorkloadResult has the results that concern all arms of a workload.
type WorkloadResult struct {
	Name        string   `json:"name"`
	Title       Said     `json:"title"`
	Primary     string   `json:"primary"`
	Values      []Metric `json:"values,omitempty"` // metrics that the load declares
	Baseline    string   `json:"baseline"`
	Blocks      int      `json:"blocks"`
	Generations int      `json:"generations"`
	Seconds     float64  `json:"seconds"`
	Pilot       *Pilot   `json:"pilot,omitempty"`
	Checks      []Checks `json:"checks"`
	// Judged is Workload.Judged, with the default filled in. The first has four fifths of the error, the others the rest, and
	// passes it on where it is shown.
	Judged []string `json:"judged,omitempty"`
	// NotAsked are the arms that were not measured, because the question did not differ enough (Workload.LayersOnLoss).
	NotAsked []string `json:"not_asked,omitempty"`
	// Question is Workload.Question, Objective is Workload.Objective.
	Question  string     `json:"question,omitempty"`
	Objective *Objective `json:"objective,omitempty"`
	// Windows is how many of all windows (WindowsOf) the analysis uses; Counted is the total length of
	// these in seconds.
	Windows   int     `json:"windows,omitempty"`
	WindowsOf int     `json:"windows_taken,omitempty"`
	Counted   float64 `json:"counted_seconds,omitempty"`
	// Forecast lists the widths that more time would reach, the widest first.
	Forecast []Forecast `json:"forecast,omitempty"`
	// FalsePositives is the permutation test: the share of effects that the same analysis finds
	// after the labels of the arms were shuffled within blocks. 0.05 is right. nil: not known.
	FalsePositives *Redrawn `json:"false_positives,omitempty"`
	// StealSlope is the change of log throughput for a change of the log share of wanted CPU time
	// that the hypervisor granted. Throughput is compared at the same share. 0: it is not adjusted.
	StealSlope float64 `json:"steal_slope,omitempty"`
	// NoiseFloor is the far end of the twin's 95 % interval in the primary metric, as a ratio, not corrected for the loads
	// of the run as the interval of Twin is; 0: unknown.
	NoiseFloor float64 `json:"noise_floor"`
	// WindowNoise is the standard deviation of the log ratio of consecutive windows of baseline and
	// twin.
	WindowNoise float64 `json:"window_noise"`
}

// Forecast is how much more time the interval of an arm needs to become this narrow.
type Forecast struct {
	Metric  string  `json:"metric"`
	Arm     string  `json:"arm"`
	Half    float64 `json:"half_width"` // as a ratio: 0.05 is ±5 %
	Seconds float64 `json:"seconds"`    // in addition to the seconds measured so far
	// Four of five runs end between Soonest and Latest; both 0: not known.
	Soonest float64 `json:"seconds_soonest,omitempty"`
	Latest  float64 `json:"seconds_latest,omitempty"`
}

// Redrawn is the result of the permutation test.
type Redrawn struct {
	Rate  float64 `json:"rate"`  // share of arms that were found to differ
	Any   float64 `json:"any"`   // share of shuffles in which at least one arm was found to differ
	Draws int     `json:"draws"` // number of shuffles
	// Launches is the same where labels are shuffled by launch: an arm keeps its whole launch. nil:
	// there are too few launches.
	Launches *Redrawn `json:"launches,omitempty"`
}

// Checks is the outcome of one check of the measurement itself.
type Checks struct {
	Kind  string `json:"kind"` // transparency, halves, order, …
	OK    bool   `json:"ok"`
	Known bool   `json:"known"` // false: not enough data
	// Detectable is the smallest deviation that the check would have found, as a ratio (0.02 is
	// 2 %); 0: not known. It says how much "ok" is worth.
	Detectable float64 `json:"detectable,omitempty"`
	Text       Said    `json:"text"`
	Ratio      *Ratio  `json:"ratio,omitempty"`
	Remedy     Said    `json:"remedy,omitzero"`
	Subject    string  `json:"subject,omitempty"` // the arm it is about
}

// ArmResult has an arm's metrics in their own units.
type ArmResult struct {
	Workload string `json:"workload"`
	Arm      string `json:"arm"`
	Title    Said   `json:"title"`
	// Values has the level of each metric. Of an arm with an effect it is the baseline's level times the typical effect, so
	// that both have the same weights.
	Values  map[string]Value `json:"values"`
	Windows int              `json:"windows"`
	Errors  uint64           `json:"errors"`
	Cut     uint64           `json:"cut"`
	// Stalled is how many windows have no operation.
	Stalled int `json:"stalled_windows,omitempty"`
	// Reached is the level of the metric of the workload's objective.
	Reached *ArmLevel `json:"objective_level,omitempty"`
	// Limit is set if any arm of the load has a CPU limit.
	Limit *CPULimit `json:"cpu_limit,omitempty"`
	// RunsAs is Arm.RunsAs.
	RunsAs   string    `json:"runs_as,omitempty"`
	Settings []Setting `json:"settings,omitempty"`
}

// Kernel is one row of "what the kernel saw": one probe's metric in all arms.
type Kernel struct {
	Workload string           `json:"workload"`
	Metric   string           `json:"metric"`
	Unit     string           `json:"unit"`
	Per      string           `json:"per"`    // "second", "operation", "request" or "" for a level
	Values   map[string]Value `json:"values"` // by arm
}

// Dropped counts dropped windows by reason, without those of an interrupted block.
type Dropped struct {
	// Blocks is how many of all blocks (Of) have a dropped window.
	Blocks int `json:"blocks"`
	Of     int `json:"of"`
	// Windows is how many windows of WindowsOf were dropped.
	Windows   int            `json:"windows,omitempty"`
	WindowsOf int            `json:"windows_of,omitempty"`
	Reasons   map[string]int `json:"reasons,omitempty"` // windows
	// Said is the Detail of the last window dropped for each reason, such as the load's error.
	Said map[string]string `json:"said,omitempty"`
}

// ArmModes says whether the windows of an arm switch between two levels. If they do, the arm's mean
// describes neither.
type ArmModes struct {
	Workload string `json:"workload"`
	Arm      string `json:"arm"`
	Metric   string `json:"metric"`
	Unit     string `json:"unit"`
	Windows  int    `json:"windows"`
	// Modes are the two levels in the metric's unit; nil: one level. The search for them removes
	// changes that all arms of a block share; the levels themselves include such changes.
	Modes *Modes `json:"modes,omitempty"`
	// Apart is the ratio of the two levels at the same time, such as 0.5.
	Apart float64 `json:"apart_ratio,omitempty"`
	// Detectable is the distance at which two equally frequent levels would be found, as a ratio
	// (0.2 is 20 %); 0: not known, see Reason.
	Detectable float64 `json:"detectable,omitempty"`
	Reason     Said    `json:"reason,omitzero"`
	// Differ lists probe values that differ between the slower and the faster mode.
	Differ []ModeDifference `json:"differ,omitempty"`
}

// ModeDifference is a probe value that differs between the windows of two modes.
type ModeDifference struct {
	Metric string  `json:"metric"`
	Unit   string  `json:"unit"`
	Per    string  `json:"per"` // as in Kernel
	Slow   float64 `json:"slow"`
	Fast   float64 `json:"fast"`
	P      float64 `json:"p_adjusted"` // corrected for all values that were compared
	Text   Said    `json:"text"`       // part of a sentence, with the numbers
}
