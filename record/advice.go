package record

import (
	"fmt"
	"path/filepath"
)

// AdviceSchema is the schema of an advice, AdviceFile its file in the advice directory, beside the result
// directories of its stages.
const (
	AdviceSchema = "tare/advice/v1"
	AdviceFile   = "advice.json"
)

// Advice says why loads lost, which remedy gives the loss back, and how that was measured.
type Advice struct {
	Schema     string `json:"schema"`
	Experiment string `json:"experiment"`
	Host       Host   `json:"host"`
	Started    string `json:"started"`
	// Seconds is the time of the stages that were measured for this advice.
	Seconds float64        `json:"seconds"`
	Margin  float64        `json:"margin"`
	Stages  []AdviceStage  `json:"stages"`
	Losses  []AdviceLoss   `json:"losses"`
	NotLost []AdviceNoLoss `json:"not_lost"` // arms that are not shown to lose
	Left    []Left         `json:"left_out,omitempty"`
}

// StageKind is what a stage is for.
type StageKind string

// The stages in their order.
const (
	StageLoss       StageKind = "loss"       // the result in which a load lost
	StageCandidates StageKind = "candidates" // all candidates beside the arm that lost
	StageTogether   StageKind = "together"   // the best two, and both together
	StageProof      StageKind = "proof"      // the winner once more, with fresh launches
)

// AdviceStage is one result on which an advice rests.
type AdviceStage struct {
	Kind StageKind `json:"kind"`
	// Workload is the load that was measured; empty: all loads of the experiment.
	Workload string `json:"workload,omitempty"`
	// Dir is relative to the advice directory, or absolute for a result that was there before.
	Dir     string  `json:"dir"`
	Seconds float64 `json:"seconds"`
	Seed    uint64  `json:"seed"`
	// Foreign is the share of the CPUs that other processes used in every arm, the largest of the loads; 0: none, or
	// not known.
	Foreign float64 `json:"foreign,omitempty"`
	// Dropped and Warnings are those of the result.
	Dropped  *Dropped  `json:"dropped,omitempty"`
	Warnings []Warning `json:"warnings,omitempty"`
}

// AdviceNoLoss is an arm without a shown loss.
type AdviceNoLoss struct {
	Workload string `json:"workload"`
	Arm      string `json:"arm"`
	Answer   Says   `json:"answer"`
}

// AdviceLoss is the largest loss of one load, with its causes and its remedies.
type AdviceLoss struct {
	Workload string `json:"workload"`
	Metric   string `json:"metric"`
	// Arm lost against Baseline; Lost is their ratio in StageLoss.
	Arm       string `json:"arm"`
	Baseline  string `json:"baseline"`
	Neighbour string `json:"neighbour,omitempty"` // beside the arm
	Lost      Ratio  `json:"lost"`
	// Differs has what differs in Arm, each "name=value"; "default" is the value of what only Baseline sets.
	Differs []string `json:"differs,omitempty"`
	// Causes have the largest share first. Their shares are parts of the logarithm of Lost. Empty: no cause is
	// found; Grown has then what the kernel counted more of than in Baseline.
	Causes []CauseShare `json:"causes"`
	// Excluded are causes that a counter of the kernel excludes.
	Excluded []ExcludedCause `json:"excluded,omitempty"`
	Grown    []Evidence      `json:"grown,omitempty"` // of a loss without a cause
	// Candidates are in the order in which they were tried: the largest expected part of the loss first.
	Candidates []Candidate    `json:"candidates"`
	Standing   AdviceStanding `json:"standing"`
	// Remedy is the index in Candidates of the remedy that StageProof measured; nil: none was.
	Remedy *int `json:"remedy,omitempty"`
	// Proof is the result of StageProof alone, from launches that no choice depended on.
	Proof *RemedyResult `json:"proof,omitempty"`
	// Reason says why Standing is not StandingProved.
	Reason Said `json:"reason,omitzero"`
}

// AdviceStanding is how far the remedy of a loss is proved.
type AdviceStanding string

// The values of AdviceStanding.
const (
	StandingProved    AdviceStanding = "proved"
	StandingUndecided AdviceStanding = "undecided" // Reason has the time that would decide
	StandingNoHelp    AdviceStanding = "no_help"   // every candidate was measured and none is faster
	StandingSkipped   AdviceStanding = "skipped"   // no candidate was measured; Reason
	StandingInvalid   AdviceStanding = "invalid"   // the data of the proof allow no verdict; Reason
)

// LossCause is a cause of a loss.
type LossCause string

// The causes. Each is the name of what an arm without the loss lacks.
const (
	LossNeighbourCPU    LossCause = "neighbour_cpu"    // the neighbour uses the CPU time
	LossNeighbourCaches LossCause = "neighbour_caches" // more CPU per operation: caches, memory bandwidth, the other thread of a core
	LossNeighbourDisk   LossCause = "neighbour_disk"
	LossNeighbourMemory LossCause = "neighbour_memory"
	LossOtherWork       LossCause = "other_work" // processes that are no part of the experiment use the CPU time
	LossCPULimit        LossCause = "cpu_limit"  // throttling
	LossCPUSet          LossCause = "cpuset"     // fewer CPUs
	LossMemoryLimit     LossCause = "memory_limit"
	LossVolume          LossCause = "volume"
	LossGroups          LossCause = "cgroup"
	LossNamespaces      LossCause = "namespaces"
	LossOverlay         LossCause = "overlay" // the root file system
	LossSeccomp         LossCause = "seccomp" // seccomp filter and capabilities
	LossVeth            LossCause = "veth"    // network namespace
	LossNAT             LossCause = "nat"     // forwarding of a published port
	LossRuntime         LossCause = "runtime" // the real container beyond tare's layers
	LossPod             LossCause = "pod"
	LossServer          LossCause = "server" // a setting of the server or the load
	LossImage           LossCause = "image"
)

// LossCauses lists all causes.
func LossCauses() []LossCause {
	return []LossCause{
		LossNeighbourCPU, LossNeighbourCaches, LossNeighbourDisk, LossNeighbourMemory, LossOtherWork, LossCPULimit, LossCPUSet, LossMemoryLimit,
		LossVolume, LossGroups, LossNamespaces, LossOverlay, LossSeccomp, LossVeth, LossNAT, LossRuntime, LossPod, LossServer, LossImage,
	}
}

// CauseShare is a part of a loss with its cause.
type CauseShare struct {
	// Causes has more than one if the record cannot tell them apart. Tells then names the arms that would.
	Causes []LossCause `json:"causes"`
	Tells  Said        `json:"tells,omitzero"`
	// Share is the part of the logarithm of the loss; nil: not measured.
	Share *Share `json:"share,omitempty"`
	// By says from which data: a layer, the only difference of the arms, or the parts of the throughput.
	By CauseBy `json:"by"`
	// Stage is the directory of the stage that measured a share ByRemedy; empty: the share is of StageLoss.
	Stage    string     `json:"stage,omitempty"`
	Evidence []Evidence `json:"evidence,omitempty"`
}

// ExcludedCause is a cause that cannot be: the counter that rises with it did not, or too little.
type ExcludedCause struct {
	Cause    LossCause `json:"cause"`    // what cannot be
	Evidence Evidence  `json:"evidence"` // the counter
}

// CauseBy is how a share of a cause is known.
type CauseBy string

// The values of CauseBy.
const (
	ByStep   CauseBy = "step"   // the arm with this layer against the one below
	ByDesign CauseBy = "design" // the two arms differ in nothing else
	ByArm    CauseBy = "arm"    // another arm differs from the baseline in this alone
	ByParts  CauseBy = "parts"  // CPU per operation, CPU received, and what the kernel saw
	ByRest   CauseBy = "rest"   // the loss without the other causes
	ByRemedy CauseBy = "remedy" // what a remedy for this cause alone removed
)

// Candidate is a remedy, or two together, for one loss.
type Candidate struct {
	Remedies []string    `json:"remedies"`
	Does     []string    `json:"does"` // each remedy in words
	Arm      string      `json:"arm"`
	For      []LossCause `json:"for"`
	// Expected is the part of the loss that the order of the candidates assumes.
	Expected float64 `json:"expected"`
	// Apply are the settings, Undo the way back, in this order.
	Apply []RemedySetting `json:"apply"`
	Undo  []RemedySetting `json:"undo"`
	Gives []Said          `json:"gives_up"` // what each remedy gives up
	// Result is that of the stage that tried it; nil: it was not tried, see Skipped.
	Result  *RemedyResult `json:"result,omitempty"`
	Skipped *Left         `json:"skipped,omitempty"`
}

// RemedyResult is what a remedy did in one stage.
type RemedyResult struct {
	Stage string `json:"stage,omitempty"` // its directory
	// Gained is the arm with the remedy over the arm that lost, with intervals that hold together for
	// all arms of the stage. Left is that arm over the baseline, and Lost the arm that lost: the effects of the stage.
	Gained *Ratio `json:"against_lost,omitempty"`
	Left   *Ratio `json:"against_baseline,omitempty"`
	Lost   *Ratio `json:"lost,omitempty"`
	// Regained is the part of the loss, as in Price.
	Regained *Share `json:"share_regained,omitempty"`
	// Kept is the neighbour's work over its work beside the arm that lost.
	Kept     *Ratio `json:"neighbour_work,omitempty"`
	Launches int    `json:"launches"`
	// Answer: faster is a remedy that helps.
	Answer Says `json:"answer"`
}

// ReadAdvice reads the advice in a directory; ErrNoRecord: there is none.
func ReadAdvice(dir string) (a Advice, err error) {
	path := filepath.Join(dir, AdviceFile)
	if err := readSchema(path, AdviceSchema, &a); err != nil {
		return Advice{}, err
	}
	if err := readBy(path, a.Schema, AdviceSchema); err != nil {
		return Advice{}, err
	}
	for _, l := range a.Losses {
		if l.Remedy != nil && (*l.Remedy < 0 || *l.Remedy >= len(l.Candidates)) {
			return Advice{}, damaged(path, fmt.Errorf("load %q: candidate %d of %d", l.Workload, *l.Remedy, len(l.Candidates)))
		}
	}
	return a, nil
}
