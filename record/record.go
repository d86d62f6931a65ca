// Package record is the data that tare writes to disk, versioned: the plan
// (what was asked), the manifest (what the host was), the record (what was
// observed, JSON lines, synced every 0.2 s between blocks) and the effects (what follows from
// it). It is the only public package; it knows the shapes and nothing of how
// they come about, and imports nothing of tare.
//
// Units: seconds, bytes, operations, ratios (1.0 is equal), unless a name says
// otherwise. Times are RFC 3339 in UTC.
package record

import (
	"strconv"
	"time"
)

// Schema names of the files of a result directory.
const (
	PlanSchema     = "tare/plan/v1"
	ManifestSchema = "tare/manifest/v1"
	RecordSchema   = "tare/record/v1"
	EffectsSchema  = "tare/effects/v1"
)

// Files of a result directory.
const (
	PlanFile     = "plan.json"
	ManifestFile = "manifest.json"
	RecordFile   = "record.jsonl"
	EffectsFile  = "effects.json"
	PageFile     = "report.html"
	RawDir       = "raw"
	ByHandDir    = "by-hand" // what makes arms again without tare
)

// Plan is what was asked for, after every default was filled in: enough to
// repeat the run and to analyse its record.
type Plan struct {
	Schema     string     `json:"schema"`
	Experiment string     `json:"experiment"` // name of the preset or file
	Source     string     `json:"source"`     // the experiment as YAML, complete
	Command    []string   `json:"command"`    // arguments that repeat the run
	Seed       uint64     `json:"seed"`
	Budget     float64    `json:"budget_seconds"`
	Precision  float64    `json:"precision"` // wanted half-width, as a ratio (0.01 is 1 %)
	Margin     float64    `json:"margin"`    // smallest effect that matters, as a ratio
	Workloads  []Workload `json:"workloads"`
}

// Workload is one load with the arms under which it is compared.
type Workload struct {
	Name   string            `json:"name"`
	Kind   string            `json:"kind"`            // the catalog's name: oltp, commit, rpc
	Title  string            `json:"title,omitempty"` // what the kind is, in words
	Params map[string]string `json:"params,omitempty"`
	// Note is what to know before the numbers: that this kind stands in for
	// another, whose tool is not installed.
	Note    string  `json:"note,omitempty"`
	Budget  float64 `json:"budget_seconds"`
	Primary string  `json:"primary"` // the metric that stops the run
	// Judged are the metrics whose intervals hold for all arms and all of them
	// together, the primary one first; empty in records of before: Primary alone.
	Judged []string `json:"judged,omitempty"`
	// Question is the arm that is judged first, with an interval of its own; the others
	// are judged together, where it differs. Empty: all together.
	Question string   `json:"question,omitempty"`
	Metrics  []string `json:"metrics"`
	// Values describes those of the metrics, and others, that the load itself
	// says: Window.Values.
	Values   []Metric `json:"values,omitempty"`
	Baseline string   `json:"baseline"`
	Arms     []Arm    `json:"arms"`
	// Neighbours are those that arms name.
	Neighbours []Neighbour `json:"neighbours,omitempty"`
}

// Neighbour is a workload in a role: it makes noise beside an arm and is
// measured itself.
type Neighbour struct {
	Name   string            `json:"name"`
	Title  string            `json:"title"`
	Kind   string            `json:"kind"` // the catalog's name: spin, stress-ng
	Params map[string]string `json:"params,omitempty"`
	// Environment is the pod that it runs in, in the words of Arm.Environment;
	// empty: it is on the host.
	Environment string `json:"environment,omitempty"`
	// Work is what counts as its work: the key of Window.Neighbour.
	Work string `json:"work"`
	Unit string `json:"unit"` // of Work
	// Limits of its group: bytes, processes and threads.
	Memory uint64 `json:"memory_limit_bytes"`
	Pids   uint64 `json:"pids_limit"`
}

// What a neighbour did in a window, by the keys of Window.Neighbour.
const (
	NeighbourOps = "operations" // counted by the load itself
	NeighbourCPU = "cpu.time"   // CPU seconds of its group
	NeighbourIO  = "io.bytes"   // bytes that its group read from and wrote to disks
	// NeighbourRequests are reads and writes of its group on disks.
	NeighbourRequests = "io.requests"
)

// Metric describes a number that a load says of its windows.
type Metric struct {
	Name string `json:"name"`
	Unit string `json:"unit"` // a base unit where there is one: "s", "1/s", "B/s", "ratio"
	// Better is +1 when more is better and -1 when less is.
	Better int    `json:"better"`
	Help   string `json:"help,omitempty"`
}

// Arm is one combination of levels.
type Arm struct {
	Name        string `json:"name"`
	Environment string `json:"environment"`
	Title       string `json:"title"`
	// Step is the arm one rung below on the ladder; empty for the baseline and
	// for arms beside the ladder.
	Step string `json:"step,omitempty"`
	// Twin says that this is the baseline again.
	Twin bool `json:"twin,omitempty"`
	// Remainder says that the step to this arm is the remainder: the real
	// container against the top hand-made rung.
	Remainder bool `json:"remainder,omitempty"`
	// Neighbour runs beside the arm, by name; empty: none.
	Neighbour string `json:"neighbour,omitempty"`
	// Isolation is what protects the arm from it: names of mechanisms, with
	// "=level" where one was given.
	Isolation []string `json:"isolation,omitempty"`
	// Volume is what is under the data, where it is a factor.
	Volume string `json:"volume,omitempty"`
	// Network, Seccomp, Capabilities, AppArmor and SELinux are how its container is made,
	// where that is a factor.
	Network      string `json:"network,omitempty"`
	Seccomp      string `json:"seccomp,omitempty"`
	Capabilities string `json:"capabilities,omitempty"`
	AppArmor     string `json:"apparmor,omitempty"`
	SELinux      string `json:"selinux,omitempty"`
	// CPUs, MemoryBytes and CPUSet are limits of its control group, where they are a
	// factor: CPU seconds per second, bytes, and a list such as "0-3,6".
	CPUs        float64 `json:"cpus,omitempty"`
	MemoryBytes int64   `json:"memory_bytes,omitempty"`
	CPUSet      string  `json:"cpuset,omitempty"`
	// Image is the image that its binaries are from; empty: they are the host's.
	Image string `json:"image,omitempty"`
	// Pod says that the arm is in a pod.
	Pod bool `json:"pod,omitempty"`
	// Set is the parameters of the workload that are this arm's own.
	Set map[string]string `json:"set,omitempty"`
	// Shares is the arm whose processes this one is measured on, under other
	// settings: no launch lies between them. Empty: it is launched itself.
	Shares string `json:"shares,omitempty"`
}

// Chosen is what an experiment chose of the arm beside its neighbour and what protects
// from that, by name; empty for what was not.
func (a Arm) Chosen() []Setting {
	limit := func(x float64) string {
		if x == 0 {
			return ""
		}
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return []Setting{
		{Name: "environment", Got: a.Environment}, {Name: "volume", Got: a.Volume}, {Name: "network", Got: a.Network},
		{Name: "seccomp", Got: a.Seccomp}, {Name: "capabilities", Got: a.Capabilities}, {Name: "apparmor", Got: a.AppArmor},
		{Name: "selinux", Got: a.SELinux}, {Name: "image", Got: a.Image}, {Name: "cpus", Got: limit(a.CPUs)},
		{Name: "memory", Got: limit(float64(a.MemoryBytes))}, {Name: "cpuset", Got: a.CPUSet},
	}
}

// Left is something that was left out, with the reason and what to do about it.
type Left struct {
	Workload string `json:"workload,omitempty"`
	Arm      string `json:"arm"` // empty: the whole workload
	Reason   string `json:"reason"`
	Remedy   string `json:"remedy,omitempty"`
}

// LeftBudget is the reason of a workload whose turn came after the end; Arm is its baseline then.
const LeftBudget = "the time budget was used up before its turn"

// Setting is one setting with what was asked for and what the kernel said when
// it was read back.
type Setting struct {
	Name   string `json:"name"`
	Wanted string `json:"wanted,omitempty"`
	Got    string `json:"got"`
}

// Host is what the manifest and the report say of the machine.
type Host struct {
	Name        string            `json:"name"`
	Kernel      string            `json:"kernel"`
	Arch        string            `json:"arch"`
	CPUModel    string            `json:"cpu_model"`
	CPUs        int               `json:"cpus"`
	Memory      uint64            `json:"memory_bytes"`
	Virtual     string            `json:"virtualisation,omitempty"`
	Cgroup      string            `json:"cgroup"` // v1, v2 or hybrid
	Governor    string            `json:"governor,omitempty"`
	Mitigations map[string]string `json:"mitigations,omitempty"`
	Distro      string            `json:"distribution,omitempty"`
	// Helper says that tare was not started on this host but came to it; nil: it
	// was.
	Helper *Helper `json:"node_helper,omitempty"`
}

// Helper is a privileged pod from which tare entered the namespaces of a node's
// host.
type Helper struct {
	Node  string `json:"node"`
	Image string `json:"image"`
	// Namespaces says whose were entered: those of "process 1", or, where that
	// one is not to be looked at, of "the container runtime".
	Namespaces string `json:"namespaces"`
	// Cgroup is tare's own group, beside those of all pods.
	Cgroup string `json:"cgroup"`
	// OOM is oom_score_adj, which the kernel's choice of a victim starts from: that
	// of a pod where it may not be lowered.
	OOM int `json:"oom_score_adj"`
	// Kubelet and Runtime are the versions that the node says; empty: not known.
	Kubelet string `json:"kubelet,omitempty"`
	Runtime string `json:"runtime,omitempty"`
}

// Manifest is what the host and the arms were.
type Manifest struct {
	Schema   string               `json:"schema"`
	Started  time.Time            `json:"started"`
	Tare     string               `json:"tare"` // version of tare
	User     string               `json:"user"`
	Host     Host                 `json:"host"`
	Versions map[string]string    `json:"versions,omitempty"` // of the tools used
	Settings map[string][]Setting `json:"settings,omitempty"` // by "workload/arm", as read back
	Left     []Left               `json:"left_out,omitempty"`
	Probes   []ProbeMetric        `json:"probes,omitempty"`
	// Unequal are arms that keep less or more of what is committed than their
	// baseline does, and are compared all the same.
	Unequal []Unequal `json:"unequal,omitempty"`
	// Calibrated is the last calibration of this host by this user before the run;
	// nil where there was none.
	Calibrated *Calibrated `json:"calibrated,omitempty"`
	// Imported is set when another tool measured and tare read its output.
	Imported *Imported `json:"imported,omitempty"`
}

// Unequal is an arm that is not equal to its baseline in what it keeps.
type Unequal struct {
	Workload    string   `json:"workload"`
	Arm         string   `json:"arm"`
	Differences []string `json:"differences"`
}

// ProbeMetric describes one probe value of the windows.
type ProbeMetric struct {
	Name  string `json:"name"`
	Unit  string `json:"unit"`            // "s", "1", "B" or "ratio"
	Level bool   `json:"level,omitempty"` // not a difference over the window
	PerOp bool   `json:"per_op,omitempty"`
	Of    string `json:"of,omitempty"` // the metric of which it is shown per unit
	Help  string `json:"help"`
}

// Line is one line of the record. Exactly one field beside Time is set.
type Line struct {
	Time       time.Time   `json:"time"`
	Run        *Run        `json:"run,omitempty"`
	Pilot      *Pilot      `json:"pilot,omitempty"`
	Generation *Generation `json:"generation,omitempty"`
	Block      *Block      `json:"block,omitempty"`
	Check      *Check      `json:"check,omitempty"`
	Observed   *Observed   `json:"observed,omitempty"`
	Warning    *Warning    `json:"warning,omitempty"`
	End        *End        `json:"end,omitempty"`
}

// Run opens a record, and is there again where another run continues it.
type Run struct {
	Schema string `json:"schema"`
	ID     string `json:"id"`
	Seed   uint64 `json:"seed"`
}

// Pilot is what the pilot of one workload saw on this host and what it chose.
type Pilot struct {
	Workload string  `json:"workload"`
	Window   float64 `json:"window_seconds"`  // measured part of a slot
	Discard  float64 `json:"discard_seconds"` // thrown away after each thaw
	Blocks   int     `json:"blocks"`          // blocks per generation
	Pause    string  `json:"pause"`           // "freezer v1", "freezer v2", "load" or "stream"
	Why      string  `json:"why"`
	// Foreign and Steal are levels, in CPUs, above which a block was dropped; 0 since
	// nothing is dropped for them.
	Foreign float64     `json:"foreign_limit_cpus"`
	Steal   float64     `json:"steal_limit_cpus"`
	Slots   []SlotNoise `json:"slots,omitempty"`
	Thaws   []ThawNoise `json:"thaws,omitempty"`
}

// SlotNoise is what the pilot expects of one window length: Noise is the
// standard deviation of the difference of neighbouring windows (log ratio),
// Cost its variance times the length of the slot in seconds; least is best.
type SlotNoise struct {
	Window float64 `json:"window_seconds"`
	Noise  float64 `json:"noise"`
	Cost   float64 `json:"cost"`
}

// ThawNoise is the log ratio of the rate right after a discard of this length
// to the rate later on, with its 95 % half-width, worst arm.
type ThawNoise struct {
	Discard float64 `json:"discard_seconds"`
	Ratio   float64 `json:"log_ratio"`
	Half    float64 `json:"half_width"`
}

// Generation is one launch of all arms of a workload.
type Generation struct {
	Workload string  `json:"workload"`
	Number   int     `json:"number"`
	Seconds  float64 `json:"launch_seconds"`
	Left     []Left  `json:"left_out,omitempty"` // arms that failed to launch
}
