package record

import (
	"fmt"
	"os"
	"path/filepath"
)

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
	// Workloads are those that the arms are of.
	Workloads []NodeWorkload `json:"workloads"`
	// Arms are the effects on all nodes, the primary metric of each workload.
	Arms []NodeArm `json:"arms"`
	// Exploratory are the effects on all other metrics: side by side, with no
	// node called odd.
	Exploratory []NodeArm `json:"exploratory,omitempty"`
	// Facts are what the nodes are and how the arms were set up on them, where that
	// differs or is what one asks for first.
	Facts []NodeFact `json:"facts,omitempty"`
}

// NodeWorkload is what is to know of a workload to print its effects.
type NodeWorkload struct {
	Name    string   `json:"name"`
	Title   string   `json:"title,omitempty"`
	Primary string   `json:"primary"`
	Values  []Metric `json:"values,omitempty"` // metrics that the load itself says
}

// NodeResult is one node that was measured.
type NodeResult struct {
	Name  string `json:"name"`
	Dir   string `json:"dir"`
	Ended string `json:"ended"`
	Host  Host   `json:"host"`
	// Baselines is the level of each workload's baseline, by workload.
	Baselines map[string]Value `json:"baselines"`
	Started   string           `json:"started,omitempty"`
	Dropped   Dropped          `json:"dropped"`
	Trust     []NodeTrust      `json:"trust,omitempty"`
}

// NodeTrust is how far the effects of one workload on a node can be trusted.
type NodeTrust struct {
	Workload    string `json:"workload"`
	Blocks      int    `json:"blocks"`
	Generations int    `json:"generations"`
	// Twin is the baseline over itself in the primary metric; TwinDiffers says
	// that this is not 1, as it should be.
	Twin        *Ratio `json:"twin,omitempty"`
	TwinDiffers bool   `json:"twin_differs,omitempty"`
	// NoiseFloor is the half-width of the twin's interval; 0 when not known.
	NoiseFloor float64 `json:"noise_floor,omitempty"`
	// Failed are the kinds of the standing checks that failed, Untold of those
	// that had too little data, Held of the others.
	Failed []string `json:"checks_failed,omitempty"`
	Untold []string `json:"checks_untold,omitempty"`
	Held   []string `json:"checks_held,omitempty"`
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
	// Others is, by node, the mean effect of the other nodes, a geometric mean with
	// its 95 % interval alone: without the odd ones, and for an odd one without
	// those that are odder. Against is the node's effect over that, with an interval
	// that holds for all nodes and arms together.
	Others  map[string]*Ratio `json:"others,omitempty"`
	Against map[string]*Ratio `json:"against_the_others,omitempty"`
	// Apart says why a node takes no part in the comparison.
	Apart map[string]string `json:"not_compared,omitempty"`
}

// NodeFact is one fact about the hosts of the nodes, or one setting of arms as
// read back there.
type NodeFact struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"` // "B" of a number of bytes
	// Workload and Arms say of which arms it is a setting; empty: a fact about the
	// host. All says that it is one of every arm that has such a setting.
	Workload string   `json:"workload,omitempty"`
	Arms     []string `json:"arms,omitempty"`
	All      bool     `json:"all_arms,omitempty"`
	Differs  bool     `json:"differs"`
	// Values are by node; absent where it is not known.
	Values map[string]string `json:"values"`
}

// OddNode is a node whose effect is not that of the others.
type OddNode struct {
	Node string `json:"node"`
	// Against is its effect over the mean effect of the others, a ratio of ratios
	// with an interval that holds for all nodes and arms together.
	Against Ratio   `json:"against_the_others"`
	P       float64 `json:"p_adjusted"` // for all nodes and arms together
}

// ReadNodes reads what a run over several nodes left in its directory; ErrNoRecord where it is
// none. Each node's directory is one below that, and no link.
func ReadNodes(dir string) (n Nodes, err error) {
	path := filepath.Join(dir, NodesFile)
	if err := readSchema(path, NodesSchema, &n); err != nil {
		return Nodes{}, err
	}
	if err := readBy(path, n.Schema, NodesSchema); err != nil {
		return Nodes{}, err
	}
	if len(n.Nodes) == 0 || len(n.Nodes) > mostNodes {
		return Nodes{}, fmt.Errorf("%s: %d nodes, 1 to %d are allowed: %w", path, len(n.Nodes), mostNodes, ErrBounds)
	}
	names, dirs := map[string]bool{}, map[string]bool{}
	for _, node := range n.Nodes {
		if err := named("node", node.Name); err != nil {
			return Nodes{}, fmt.Errorf("%s: %w", path, err)
		}
		if names[node.Name] || dirs[node.Dir] {
			return Nodes{}, fmt.Errorf("%s: the node %q or its directory %q is there twice", path, node.Name, node.Dir)
		}
		names[node.Name], dirs[node.Dir] = true, true
		if !filepath.IsLocal(node.Dir) || filepath.Base(node.Dir) != node.Dir || node.Dir == "." {
			return Nodes{}, fmt.Errorf("%s: the node %q has the directory %q, which is not one below it", path, node.Name, node.Dir)
		}
		if info, err := os.Lstat(filepath.Join(dir, node.Dir)); err == nil && !info.IsDir() {
			return Nodes{}, fmt.Errorf("%s is no directory", filepath.Join(dir, node.Dir))
		}
	}
	return n, nil
}
