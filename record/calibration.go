package record

import "time"

// CalibrationSchema is the schema of tare calibrate's output.
const CalibrationSchema = "tare/calibration/v1"

// Calibration is how well this tare measures losses of known size on a host.
type Calibration struct {
	Schema  string    `json:"schema"`
	Tare    string    `json:"tare"`
	Host    Host      `json:"host"`
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"` // of measuring
	Ended   string    `json:"ended"`   // as in Effects
	Seed    uint64    `json:"seed"`
	Blocks  int       `json:"blocks"`
	// Losses has planted and measured losses by metric, mechanism and size.
	Losses []PlantedLoss `json:"losses"`
	// Covered counts intervals that hold the planted loss (95 % is right), FalsePositives verdicts
	// of a loss or gain where none was planted (5 % is right).
	Covered        Proportion `json:"covered"`
	FalsePositives Proportion `json:"false_positives"`
	// Smallest is the smallest loss that is found in 4 of 5 runs of one load with host, twin and
	// one arm.
	Smallest []SmallestLoss `json:"smallest,omitempty"`
	Left     []Left         `json:"left_out"`
}

// Calibrated is the summary of a calibration.
type Calibrated struct {
	Started        time.Time      `json:"started"`
	Kernel         string         `json:"kernel"`
	Covered        Proportion     `json:"covered"`
	FalsePositives Proportion     `json:"false_positives"`
	Smallest       []SmallestLoss `json:"smallest"`
}

// PlantedLoss is one loss of known size.
type PlantedLoss struct {
	Arm    string `json:"arm"`
	Metric string `json:"metric"`
	How    string `json:"how"` // none, pauses, work or quota
	// Planted is a share of the metric: 0.01 is 1 % less.
	Planted float64 `json:"planted"`
	// Measured is the loss with its 95 % interval; nil: not known, see Reason.
	Measured *Worsening `json:"measured,omitempty"`
	Covered  bool       `json:"covered"` // the interval holds the planted loss
	Found    bool       `json:"found"`   // the interval does not hold 0
	Reason   Said       `json:"reason,omitzero"`
}

// Proportion is Count out of Of.
type Proportion struct {
	Count int `json:"count"`
	Of    int `json:"of"`
}

// SmallestLoss is the smallest loss that a run of this length finds.
type SmallestLoss struct {
	Seconds float64 `json:"seconds"`
	Loss    float64 `json:"loss"` // as a ratio
}
