package record

import (
	"fmt"
	"os"
	"path/filepath"
)

// NodesSchema is the schema of the comparison of several nodes, NodesFile its file, beside the result
// directories of the nodes.
const (
	NodesSchema = "tare/nodes/v1"
	NodesFile   = "nodes.json"
)

// Nodes compares the results of the same experiment on several nodes.
type Nodes struct {
	Schema     string  `json:"schema"`
	Experiment string  `json:"experiment"`
	Margin     float64 `json:"margin"`
	// Nodes lists the measured nodes in the order of the command, Left the skipped nodes.
	Nodes []NodeResult `json:"nodes"`
	Left  []Left       `json:"left_out,omitempty"`
	// Workloads describes the workloads of the arms.
	Workloads []NodeWorkload `json:"workloads"`
	// Arms are the effects in the primary metric of each workload.
	Arms []NodeArm `json:"arms"`
	// Exploratory are the effects in all other metrics. NodeArm.Odd is empty there.
	Exploratory []NodeArm `json:"exploratory,omitempty"`
	// Facts are properties of nodes and settings of arms: the main ones, and all that differ.
	Facts []NodeFact `json:"facts,omitempty"`
}

// NodeWorkload has the part of a Workload that a report of its effects needs.
type NodeWorkload struct {
	Name    string   `json:"name"`
	Title   Said     `json:"title,omitzero"`
	Primary string   `json:"primary"`
	Values  []Metric `json:"values,omitempty"` // metrics that the load declares
}

// NodeResult is one node that was measured.
type NodeResult struct {
	Name  string `json:"name"`
	Dir   string `json:"dir"`
	Ended string `json:"ended"`
	Host  Host   `json:"host"`
	// Baselines is, by workload, the baseline's value in the primary metric.
	Baselines map[string]Value `json:"baselines"`
	Started   string           `json:"started,omitempty"`
	Dropped   Dropped          `json:"dropped"`
	Trust     []NodeTrust      `json:"trust,omitempty"`
}

// NodeTrust has the results of the checks of one workload on a node.
type NodeTrust struct {
	Workload    string `json:"workload"`
	Blocks      int    `json:"blocks"`
	Generations int    `json:"generations"`
	// Twin is the twin over the baseline in the primary metric; TwinDiffers says that it is shown
	// to differ from 1.
	Twin        *Ratio `json:"twin,omitempty"`
	TwinDiffers bool   `json:"twin_differs,omitempty"`
	// NoiseFloor is the far end of the twin's interval, as a ratio; 0: unknown.
	NoiseFloor float64 `json:"noise_floor,omitempty"`
	// Failed lists the checks that failed, Untold the kinds of those that are undecided for lack of
	// data, Held of those that passed.
	Failed []Said   `json:"checks_failed,omitempty"`
	Untold []string `json:"checks_untold,omitempty"`
	Held   []string `json:"checks_held,omitempty"`
}

// NodeArm is the effect of one arm on every node.
type NodeArm struct {
	Workload string `json:"workload"`
	Metric   string `json:"metric"`
	Arm      string `json:"arm"`
	Baseline string `json:"baseline"`
	// Effects has the effect on each node; a node without one is absent.
	Effects map[string]*Ratio `json:"effects"`
	// Differ says that the nodes' effects differ by more than their errors: Welch's test of several
	// means (1951), at 5 % for all arms together. P is this arm's p-value without the correction.
	// Known is false when fewer than two nodes have the effect.
	Differ bool    `json:"differ"`
	Known  bool    `json:"known"`
	F      float64 `json:"welch_f,omitempty"`
	DF1    float64 `json:"df1,omitempty"`
	DF2    float64 `json:"df2,omitempty"`
	P      float64 `json:"p_value"`
	// Odd lists the nodes that differ from the others, the farthest first.
	Odd []OddNode `json:"odd,omitempty"`
	// Others is, for each node, the geometric mean of the effects on the other nodes, with its own
	// 95 % interval. For a node that is not odd, the mean excludes all odd nodes; for an odd node, it
	// excludes only the nodes that are farther off. Against is the node's effect over Others, with an
	// interval that holds for all nodes and arms simultaneously.
	Others  map[string]*Ratio `json:"others,omitempty"`
	Against map[string]*Ratio `json:"against_the_others,omitempty"`
	// Apart has the nodes that are not compared with the others, and the reasons.
	Apart map[string]Said `json:"not_compared,omitempty"`
}

// NodeFact is one property of the nodes' hosts, or one setting of arms as read back there.
type NodeFact struct {
	Name Said   `json:"name"`
	Unit string `json:"unit,omitempty"` // "B" if the value is a number of bytes
	// Workload and Arms are the arms to which the setting belongs; empty: a property of the host. All
	// says that Arms has every arm with a setting of this name.
	Workload string   `json:"workload,omitempty"`
	Arms     []string `json:"arms,omitempty"`
	All      bool     `json:"all_arms,omitempty"`
	Differs  bool     `json:"differs"`
	// Values is by node; a node where the value is not known is absent.
	Values map[string]string `json:"values"`
}

// OddNode is a node whose effect differs from the other nodes.
type OddNode struct {
	Node string `json:"node"`
	// Against is the node's effect over the mean effect of the others, a ratio of ratios. Its
	// interval holds for all nodes and arms simultaneously.
	Against Ratio   `json:"against_the_others"`
	P       float64 `json:"p_adjusted"` // for all nodes and arms together
}

// ReadNodes reads nodes.json of a run over several nodes; ErrNoRecord if dir has none. It checks that
// each node's directory lies directly below dir and is no link.
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
		if err := checkName("node", node.Name); err != nil {
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
