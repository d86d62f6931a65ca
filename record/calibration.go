package record

import "time"

// CalibrationSchema names what tare calibrate says.
const CalibrationSchema = "tare/calibration/v1"

// Calibration is what this tare shows on a host of losses whose size is known.
type Calibration struct {
	Schema  string    `json:"schema"`
	Tare    string    `json:"tare"`
	Host    Host      `json:"host"`
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"` // of measuring
	Ended   string    `json:"ended"`   // as in Effects
	Seed    uint64    `json:"seed"`
	Blocks  int       `json:"blocks"`
	// Losses are what was planted and what was measured, by metric, mechanism and
	// size.
	Losses []PlantedLoss `json:"losses"`
	// Covered is how often the interval holds what was planted; FalsePositives how
	// often a loss or gain was claimed where there is none. Both should be near 95 %
	// and 5 %.
	Covered        Proportion `json:"covered"`
	FalsePositives Proportion `json:"false_positives"`
	// Smallest is the smallest loss that shows in 4 of 5 runs, for one load with the
	// host, its twin and one arm.
	Smallest []SmallestLoss `json:"smallest,omitempty"`
	Left     []Left         `json:"left_out"`
}

// Calibrated is in short what a calibration showed.
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
	// Measured is the loss with its interval of 95 %; nil: not known, Reason says why.
	Measured *Worsening `json:"measured,omitempty"`
	Covered  bool       `json:"covered"` // the interval holds what was planted
	Found    bool       `json:"found"`   // the interval does not hold 0
	Reason   string     `json:"reason,omitempty"`
}

// Proportion is so many of how many.
type Proportion struct {
	Count int `json:"count"`
	Of    int `json:"of"`
}

// SmallestLoss is the smallest loss that a run of some length shows.
type SmallestLoss struct {
	Seconds float64 `json:"seconds"`
	Loss    float64 `json:"loss"` // as a ratio
}
