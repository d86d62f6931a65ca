package record

// Effects is what follows from a record. It holds numbers and words, no
// layout; every report is printed from it alone.
type Effects struct {
	Schema     string   `json:"schema"`
	Experiment string   `json:"experiment"`
	Command    []string `json:"command,omitempty"`
	Seed       uint64   `json:"seed"`
	Started    string   `json:"started"`
	Seconds    float64  `json:"seconds"` // from the first to the last line
	Ended      string   `json:"ended"`   // reason; EndedKilled or EndedRunning when the record has no end
	Margin     float64  `json:"margin"`
	Precision  float64  `json:"precision"`
	Host       Host     `json:"host"`
	// Calibrated is that of Manifest.
	Calibrated *Calibrated `json:"calibrated,omitempty"`

	// Answer is what follows from all of it; nil in effects of before.
	Answer *Answers `json:"answer,omitempty"`

	Workloads []WorkloadResult `json:"workloads"`
	Arms      []ArmResult      `json:"arms"`
	Effects   []Effect         `json:"effects"`
	Steps     []Effect         `json:"steps"`
	Remainder []Effect         `json:"remainder"`
	Twin      []Effect         `json:"twin"`
	Kernel    []Kernel         `json:"kernel"`
	Prices    []Price          `json:"prices,omitempty"`
	Modes     []ArmModes       `json:"modes,omitempty"` // one for each arm

	// Imported says that another tool measured and tare read its output; Single
	// is what single runs of it say. Caveats is what cannot be known from such
	// figures, to be said before anything else.
	Imported *Imported        `json:"imported,omitempty"`
	Caveats  []Warning        `json:"caveats,omitempty"`
	Single   []ImportedSeries `json:"single_runs,omitempty"`

	Dropped  Dropped   `json:"dropped"`
	Left     []Left    `json:"left_out"`
	Warnings []Warning `json:"warnings"`
	Self     Self      `json:"self"`
	// Room is that of End.
	Room []Room `json:"room,omitempty"`
}

// Verdict is the answer about one effect. The zero value is undecided.
type Verdict int

// The verdicts.
const (
	Undecided  Verdict = iota // neither shown nor ruled out
	Cost                      // worse than the baseline
	Gain                      // better than the baseline
	Negligible                // no difference larger than the margin
	Invalid                   // the data cannot carry an answer
)

var verdictNames = words{"undecided", "cost", "gain", "negligible", "invalid"}

func (v Verdict) String() string { return verdictNames.of(int(v), "invalid") }

// MarshalText writes the verdict's name.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads a verdict's name; an unknown one is undecided.
func (v *Verdict) UnmarshalText(b []byte) error {
	i, _ := verdictNames.find("verdict", b)
	*v = Verdict(i)
	return nil
}

// How a run ended whose record has no end.
const (
	EndedKilled  = "killed"
	EndedRunning = "running" // it goes on
)

// Ratio is arm over baseline with its interval; 1.0 is equal. A ratio that is
// not known is absent (nil) and the effect's Reason says why.
type Ratio struct {
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// SE is the standard error of the ratio's natural logarithm and DF its
	// degrees of freedom (may be fractional); 0 when not known. The interval
	// may be wider than they alone would make it: it is corrected for many arms.
	SE float64 `json:"standard_error,omitempty"`
	DF float64 `json:"degrees_of_freedom,omitempty"`
}

// Effect is the paired difference of an arm against its baseline in one
// metric. In Steps the baseline is the rung below.
type Effect struct {
	Workload string `json:"workload"`
	Metric   string `json:"metric"`
	Arm      string `json:"arm"`
	Baseline string `json:"baseline"`
	// Typical lets no window weigh more than usual ones do (Huber's estimate); Total
	// is the ratio of sums, everything counted. Where they disagree the loss is
	// intermittent. Both are against the control: the mean of the baseline and its
	// twin.
	Typical *Ratio `json:"typical"`
	Total   *Ratio `json:"total"`
	// Observed is arm over baseline as the tools' figures say it, without any
	// error; of imported results only, 0 otherwise. Within is the same with the
	// interval of what happened inside one run of each arm: it does not cover
	// what differs between two runs of the same arm, and is no verdict.
	Observed float64 `json:"observed_ratio,omitempty"`
	Within   *Ratio  `json:"within_run,omitempty"`
	// Own is the interval of the typical effect looked at alone, without the
	// correction for many arms.
	Own     *Ratio  `json:"own"`
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason,omitempty"` // why undecided, invalid or not known
	// Unjudged says that no cost and no gain is called, whatever the interval: the
	// question of the workload was not found to differ.
	Unjudged bool `json:"unjudged,omitempty"`
	// Exploratory marks every metric but the primary one: false discovery rate
	// 10 % instead of the family-wise 5 %.
	Exploratory bool `json:"exploratory,omitempty"`
	// Bound is the interval widened by what the dropped windows could hide (Lee
	// 2009); nil where no more windows of one arm were dropped than of the other.
	Bound *Ratio `json:"bound_for_dropped,omitempty"`
	// Parts is what a difference in throughput is made of; nil where CPU time is not
	// known, and for other metrics.
	Parts *Parts `json:"parts,omitempty"`
	// Unequal says in what the two arms differ in what they keep of what is
	// committed; empty: in nothing.
	Unequal string `json:"unequal,omitempty"`
	// P and Adjusted, for many arms, are nil with the ratios: where there is no interval to
	// show there is no test to report, and Reason says why.
	P           *float64 `json:"p_value"`
	Adjusted    *float64 `json:"p_adjusted"`
	Blocks      int      `json:"blocks"`
	Generations int      `json:"generations"`
	// Detectable is the smallest effect that this much data shows with 80 %
	// power, as a ratio (0.014 is 1.4 %).
	Detectable float64 `json:"detectable,omitempty"`
	// Needed is how many more seconds would decide it; 0 when decided.
	Needed float64 `json:"needed_seconds,omitempty"`
	// Slow is the share of windows slower than the arm's typical effect by more
	// than the noise of the twin; set when typical and total disagree.
	Slow         float64 `json:"slow_windows,omitempty"`
	Intermittent bool    `json:"intermittent,omitempty"`
}

// Parts are the two factors of a throughput ratio: CPU time received per second,
// and operations per CPU second. Their product is the ratio, but for what the
// robust estimate leaves out of each. The intervals are those of each alone.
type Parts struct {
	CPU        Ratio `json:"cpu_per_second"`
	Efficiency Ratio `json:"operations_per_cpu_second"`
	// Most is the factor in which a difference is shown, the larger one if it is
	// shown in both; empty: in neither.
	Most string `json:"most,omitempty"`
}

// The factors of a throughput ratio.
const (
	PartCPU        = "cpu"        // it got less (or more) CPU time
	PartEfficiency = "efficiency" // an operation took more (or less) CPU time
)

// WorkloadResult is what holds for all arms of a workload.
type WorkloadResult struct {
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Primary     string   `json:"primary"`
	Values      []Metric `json:"values,omitempty"` // metrics that the load itself says
	Baseline    string   `json:"baseline"`
	Blocks      int      `json:"blocks"`
	Generations int      `json:"generations"`
	Seconds     float64  `json:"seconds"`
	Pilot       *Pilot   `json:"pilot,omitempty"`
	Checks      []Checks `json:"checks"`
	// Judged is that of Workload, with what is meant where it is empty.
	Judged []string `json:"judged,omitempty"`
	// Question is that of Workload.
	Question string `json:"question,omitempty"`
	// Windows is how many windows count, of WindowsOf that were taken; Counted is
	// their length together, in seconds.
	Windows   int     `json:"windows,omitempty"`
	WindowsOf int     `json:"windows_taken,omitempty"`
	Counted   float64 `json:"counted_seconds,omitempty"`
	// Forecast is what more time would buy, the widest first.
	Forecast []Forecast `json:"forecast,omitempty"`
	// FalsePositives is the share of effects that the same analysis finds after
	// the labels of the arms were drawn anew within the blocks, where there is
	// nothing to find; 0.05 is as it should be. nil: not known.
	FalsePositives *Redrawn `json:"false_positives,omitempty"`
	// NoiseFloor is the half-width of the twin's interval (primary, typical).
	NoiseFloor float64 `json:"noise_floor"`
	// WindowNoise is the standard deviation of neighbouring window log ratios
	// between baseline and twin.
	WindowNoise float64 `json:"window_noise"`
}

// Forecast is how long a workload has to be measured, from its first window on,
// until the interval of its subject is this narrow.
type Forecast struct {
	Metric  string  `json:"metric"`
	Arm     string  `json:"arm"`
	Half    float64 `json:"half_width"` // as a ratio: 0.05 is ±5 %
	Seconds float64 `json:"seconds"`    // more than were measured so far
	// Soonest and Latest are between what it takes in four of five runs; both 0 where
	// no end is known.
	Soonest float64 `json:"seconds_soonest,omitempty"`
	Latest  float64 `json:"seconds_latest,omitempty"`
}

// Redrawn is a rate over draws of labels.
type Redrawn struct {
	Rate  float64 `json:"rate"` // of single arms
	Any   float64 `json:"any"`  // of draws in which any arm was found
	Draws int     `json:"draws"`
}

// Checks is the outcome of one standing check.
type Checks struct {
	Kind  string `json:"kind"` // transparency, carry-over, halves, order
	OK    bool   `json:"ok"`
	Known bool   `json:"known"` // false: not enough data to tell
	// Detectable is the smallest deviation that the check would have seen, as a
	// ratio (0.02 is 2 %); 0 when not known. It says what "ok" is worth, and why a
	// check cannot tell.
	Detectable float64 `json:"detectable,omitempty"`
	Text       string  `json:"text"`
	Ratio      *Ratio  `json:"ratio,omitempty"`
	Remedy     string  `json:"remedy,omitempty"`
	Subject    string  `json:"subject,omitempty"` // the arm it is about
}

// ArmResult is what an arm did, in the metric's own unit.
type ArmResult struct {
	Workload string           `json:"workload"`
	Arm      string           `json:"arm"`
	Title    string           `json:"title"`
	Values   map[string]Value `json:"values"` // by metric
	Windows  int              `json:"windows"`
	Errors   uint64           `json:"errors"`
	Cut      uint64           `json:"cut"`
	// Stalled is how many of the windows have no operation at all.
	Stalled  int       `json:"stalled_windows,omitempty"`
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

// Dropped counts the windows that do not count and why. Those of a block that was
// interrupted are not among them.
type Dropped struct {
	// Blocks is how many blocks lack a window for that, of all blocks.
	Blocks int `json:"blocks"`
	Of     int `json:"of"`
	// Windows is how many windows were dropped, of those taken.
	Windows   int            `json:"windows,omitempty"`
	WindowsOf int            `json:"windows_of,omitempty"`
	Reasons   map[string]int `json:"reasons,omitempty"` // windows
	// Said is the detail of the last window that was dropped for a reason: what the
	// load said, for example.
	Said map[string]string `json:"said,omitempty"`
}

// ArmModes says whether the windows of an arm are at one level or, in turn, at
// two: whether its mean describes anything that happens.
type ArmModes struct {
	Workload string `json:"workload"`
	Arm      string `json:"arm"`
	Metric   string `json:"metric"`
	Unit     string `json:"unit"`
	Windows  int    `json:"windows"`
	// Modes are the two levels, in the metric's unit; nil: none are shown. What
	// moved all arms of a block is taken out before, and not of these figures.
	Modes *Modes `json:"modes,omitempty"`
	// Apart is the ratio of the two levels in the same moment, 0.5 for example.
	Apart float64 `json:"apart_ratio,omitempty"`
	// Detectable is how far apart two equally frequent levels must be to be shown,
	// as a ratio (0.2 is 20 %); 0 when not known, Reason says why.
	Detectable float64 `json:"detectable,omitempty"`
	Reason     string  `json:"reason,omitempty"`
	// Differ is what the probes saw more of in the slower mode.
	Differ []ModeDifference `json:"differ,omitempty"`
}

// ModeDifference is an observation that differs between the windows of two modes.
type ModeDifference struct {
	Metric string  `json:"metric"`
	Unit   string  `json:"unit"`
	Per    string  `json:"per"` // as in Kernel
	Slow   float64 `json:"slow"`
	Fast   float64 `json:"fast"`
	P      float64 `json:"p_adjusted"` // corrected for all observations that were looked at
	Text   string  `json:"text"`       // a part of a sentence, with the numbers
}
