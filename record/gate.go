package record

// GateSchema names what tare check says.
const GateSchema = "tare/check/v1"

// Gate is effects judged against the largest costs that somebody accepts.
type Gate struct {
	Schema     string `json:"schema"`
	Experiment string `json:"experiment"`
	Seed       uint64 `json:"seed"`
	Started    string `json:"started"`
	Ended      string `json:"ended"` // as in Effects
	Host       Host   `json:"host"`
	// Answer is pass only if every judgement is, and there is one.
	Answer     Answer      `json:"answer"`
	Limits     []Limit     `json:"limits"`
	Judgements []Judgement `json:"judgements"`
	// Needed is how many more seconds would probably decide what is undecided,
	// over all workloads; 0 when nothing is, or it cannot be foreseen.
	Needed   float64   `json:"needed_seconds,omitempty"`
	Left     []Left    `json:"left_out"` // arms that could not be judged
	Warnings []Warning `json:"warnings"`
}

// Limit is the largest cost of a metric that passes, as a ratio: 0.05 is 5 %
// less throughput or 5 % more latency.
type Limit struct {
	Metric string  `json:"metric"`
	Most   float64 `json:"most"`
}

// Judgement is one effect against one limit.
type Judgement struct {
	Workload string `json:"workload"`
	Metric   string `json:"metric"`
	Arm      string `json:"arm"`
	Baseline string `json:"baseline"`
	Answer   Answer `json:"answer"`
	// Cost is absent when it is not known; Reason says why.
	Cost *Worsening `json:"cost,omitempty"`
	Most float64    `json:"most"`
	// Total says that the cost is the total effect, everything counted: the
	// loss is intermittent and the typical effect hides it.
	Total  bool   `json:"total,omitempty"`
	Reason string `json:"reason,omitempty"` // why undecided or invalid
	// Unjudged says that the question of the workload is not shown to exceed the limit,
	// so that this one is left undecided.
	Unjudged bool    `json:"unjudged,omitempty"`
	Needed   float64 `json:"needed_seconds,omitempty"`
}

// Worsening is how much worse than its baseline an arm is, as a ratio; negative
// where it is better.
type Worsening struct {
	Cost float64 `json:"cost"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Answer is whether a cost stays within a limit. The zero value is open.
type Answer int

// The answers.
const (
	AnswerUndecided Answer = iota // the interval holds the limit, or there is none
	AnswerPass                    // the whole interval is at most the limit
	AnswerExceeded                // the whole interval is above the limit
	AnswerInvalid                 // the data cannot carry an answer
)

var answerNames = words{"undecided", "pass", "exceeded", "invalid"}

func (a Answer) String() string { return answerNames.of(int(a), "invalid") }

// MarshalText writes the answer's name.
func (a Answer) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads the name of one.
func (a *Answer) UnmarshalText(b []byte) error {
	i, err := answerNames.find("answer", b)
	*a = Answer(i)
	return err
}
