package record

// NodesSchema names what a run over several nodes says; NodesFile is its file,
// beside the result directories of the nodes.
const (
	NodesSchema = "tare/nodes/v1"
	NodesFile   = "nodes.json"
)

// Nodes is the same experiment on several nodes side by side.
type Nodes struct {
	Schema     string  `json:"schema"`
	Experiment string  `json:"experiment"`
	Margin     float64 `json:"margin"`
	// Nodes are those that were measured, in the order of the command, each with
	// its result directory; Left those that were not, with the reason.
	Nodes []NodeResult `json:"nodes"`
	Left  []Left       `json:"left_out,omitempty"`
	// Arms are the effects on all nodes, the primary metric of each workload.
	Arms []NodeArm `json:"arms"`
}

// NodeResult is one node that was measured.
type NodeResult struct {
	Name  string `json:"name"`
	Dir   string `json:"dir"`
	Ended string `json:"ended"`
	Host  Host   `json:"host"`
	// Baselines is the level of each workload's baseline, by workload.
	Baselines map[string]Value `json:"baselines"`
}

// NodeArm is the effect of one arm on every node.
type NodeArm struct {
	Workload string `json:"workload"`
	Metric   string `json:"metric"`
	Arm      string `json:"arm"`
	Baseline string `json:"baseline"`
	// Effects are by node; absent where the node has none.
	Effects map[string]*Ratio `json:"effects"`
	// Differ says that the nodes' effects differ by more than their errors:
	// Welch's test of several means (1951) at 5 % for all arms together, P the
	// p-value alone. Known is false when fewer than two nodes have an effect.
	Differ bool    `json:"differ"`
	Known  bool    `json:"known"`
	F      float64 `json:"welch_f,omitempty"`
	DF1    float64 `json:"df1,omitempty"`
	DF2    float64 `json:"df2,omitempty"`
	P      float64 `json:"p_value"`
	// Odd are the nodes that do not belong to the others, the farthest first.
	Odd []OddNode `json:"odd,omitempty"`
}

// OddNode is a node whose effect is not that of the others.
type OddNode struct {
	Node string `json:"node"`
	// Against is its effect over the mean effect of the others, a ratio of ratios
	// with an interval that holds for all nodes and arms together.
	Against Ratio   `json:"against_the_others"`
	P       float64 `json:"p_adjusted"` // for all nodes and arms together
}
