package record

// GateSchema is the schema of tare check's output.
const GateSchema = "tare/check/v1"

// Gate has the effects of a result, judged against limits: the output of tare check.
type Gate struct {
	Schema     string `json:"schema"`
	Experiment string `json:"experiment"`
	Seed       uint64 `json:"seed"`
	Started    string `json:"started"`
	Ended      string `json:"ended"` // as in Effects
	Host       Host   `json:"host"`
	// Answer is pass only if there is at least one judgement and all of them are pass.
	Answer     Answer      `json:"answer"`
	Limits     []Limit     `json:"limits"`
	Judgements []Judgement `json:"judgements"`
	// Needed is a forecast of the seconds that would decide all undecided judgements; 0: none are
	// undecided, or there is no forecast.
	Needed   float64   `json:"needed_seconds,omitempty"`
	Left     []Left    `json:"left_out"` // arms without a judgement
	Warnings []Warning `json:"warnings"`
}

// Limit is the largest cost of a metric that passes, as a ratio: 0.05 is 5 %
// less throughput or 5 % more latency.
type Limit struct {
	Metric string  `json:"metric"`
	Most   float64 `json:"most"`
}

// Judgement is the comparison of one effect with one limit.
type Judgement struct {
	Workload string `json:"workload"`
	Metric   string `json:"metric"`
	Arm      string `json:"arm"`
	Baseline string `json:"baseline"`
	Answer   Answer `json:"answer"`
	// Cost is nil when not known; see Reason.
	Cost *Worsening `json:"cost,omitempty"`
	Most float64    `json:"most"`
	// Total says that Cost is the total effect, because the loss is intermittent and the typical
	// effect hides it.
	Total  bool `json:"total,omitempty"`
	Reason Said `json:"reason,omitzero"` // why undecided or invalid
	// Unjudged says that this judgement stays undecided because the arm of the workload's question
	// is not shown to exceed the limit.
	Unjudged bool    `json:"unjudged,omitempty"`
	Needed   float64 `json:"needed_seconds,omitempty"`
}

// Worsening is how much worse an arm is than its baseline, as a ratio; negative: better.
type Worsening struct {
	Cost float64 `json:"cost"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Answer is whether a cost stays within a limit. The zero value is undecided.
type Answer int

// The answers.
const (
	AnswerUndecided Answer = iota // the interval contains the limit, or there is no interval
	AnswerPass                    // the whole interval is at most the limit
	AnswerExceeded                // the whole interval is above the limit
	AnswerInvalid                 // the data cannot support an answer
)

var answerNames = words{"undecided", "pass", "exceeded", "invalid"}

func (a Answer) String() string { return answerNames.of(int(a), "invalid") }

// MarshalText writes the answer's name.
func (a Answer) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads an answer's name.
func (a *Answer) UnmarshalText(b []byte) error {
	i, err := answerNames.find("answer", b)
	*a = Answer(i)
	return err
}
