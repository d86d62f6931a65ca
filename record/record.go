package record

import (
	"strconv"
	"strings"
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
	TableFile    = "effects.csv"
	RawDir       = "raw"
	ByHandDir    = "by-hand" // scripts that make the arms without tare
)

// Plan is the experiment with all defaults filled in. It suffices to repeat the run and to analyse its
// record.
type Plan struct {
	Schema     string     `json:"schema"`
	Experiment string     `json:"experiment"`      // name of the preset or file
	Title      string     `json:"title,omitempty"` // what the experiment asks, in a line
	Source     string     `json:"source"`          // the experiment as YAML, complete
	Command    []string   `json:"command"`         // arguments that repeat the run
	Seed       uint64     `json:"seed"`
	Budget     float64    `json:"budget_seconds"`
	Precision  float64    `json:"precision"` // wanted half-width, as a ratio (0.01 is 1 %)
	Margin     float64    `json:"margin"`    // smallest effect that matters, as a ratio
	Limits     []Limit    `json:"limits,omitempty"`
	Workloads  []Workload `json:"workloads"`
	// Adopted are settings of the user's own server that the servers have otherwise or not at all.
	Adopted []Adopted `json:"adopted,omitempty"`
	// Programs are the servers and clients of all loads.
	Programs []Program `json:"programs,omitempty"`
}

// Program is a server or client program.
type Program struct {
	Name    string `json:"name"`    // of the product: MySQL, sysbench
	Version string `json:"version"` // without the suffixes of a distribution
	Path    string `json:"path"`    // on the host
	// Server is true for a server.
	Server bool `json:"server,omitempty"`
}

// String is the name with the version: "MySQL 8.0.15".
func (p Program) String() string { return strings.TrimSpace(p.Name + " " + p.Version) }

// Adopted is a setting of the user's own server that the servers of the arms do not have as it stands.
type Adopted struct {
	From  string `json:"from,omitempty"` // FILE:LINE, or the address of a server
	Name  string `json:"name"`
	Value string `json:"value,omitempty"` // empty for a setting that is left out: it could be a password
	Used  string `json:"used,omitempty"`  // what the servers have instead; empty: the setting is left out
	Why   Said   `json:"why"`
}

// Workload is one load with the arms in which it runs and which are compared.
type Workload struct {
	Name   string            `json:"name"`
	Kind   string            `json:"kind"`           // the catalog's name: oltp, commit, rpc
	Title  Said              `json:"title,omitzero"` // the kind in words
	Params map[string]string `json:"params,omitempty"`
	// Note is printed before the numbers: for instance, that this kind replaces another one whose
	// tool is not installed.
	Note    string  `json:"note,omitempty"`
	Budget  float64 `json:"budget_seconds"`
	Primary string  `json:"primary"` // the metric whose precision ends the run
	// UntilDecided says that the run ends when every limit of this workload is decided, at one of the looks of
	// package stat, instead of when its intervals are narrow.
	UntilDecided bool `json:"until_decided,omitempty"`
	// Judged lists the metrics whose intervals hold simultaneously for all arms, the primary metric
	// first. It is empty in older records, which judged Primary alone.
	Judged []string `json:"judged,omitempty"`
	// Question is the arm that is judged first, with an interval of its own. Only if it differs are
	// the other arms judged, with simultaneous intervals. Empty: all arms are judged together, with
	// simultaneous intervals.
	Question string `json:"question,omitempty"`
	// LayersOnLoss: the arms but baseline, twin and question are measured only where the question differs, after the larger
	// part of the time, by at least the half-width that the rest of the time would give a layer.
	LayersOnLoss bool `json:"layers_on_loss,omitempty"`
	// Objective is judged in each arm by itself; nil: none.
	Objective *Objective `json:"objective,omitempty"`
	Metrics   []string   `json:"metrics"`
	// Values describes the metrics that the load declares itself: those of Window.Values.
	Values   []Metric `json:"values,omitempty"`
	Baseline string   `json:"baseline"`
	Arms     []Arm    `json:"arms"`
	// Neighbours describes the neighbours that arms name.
	Neighbours []Neighbour `json:"neighbours,omitempty"`
	// Known is what earlier runs on this host showed of this load; nil: nothing is known.
	Known *Known `json:"known,omitempty"`
}

// Neighbour is a workload in a role: it makes noise beside an arm and is
// measured itself.
type Neighbour struct {
	Name   string            `json:"name"`
	Title  Said              `json:"title"`
	Kind   string            `json:"kind"` // the catalog's name: spin, stress-ng
	Params map[string]string `json:"params,omitempty"`
	// Environment is the pod that it runs in, written like Arm.Environment; empty: on the host.
	Environment string `json:"environment,omitempty"`
	// Work is the key in Window.Neighbour of the value that counts as its work.
	Work string `json:"work"`
	Unit string `json:"unit"` // of Work
	// Memory and Pids are limits of its cgroup: bytes, and the number of processes and threads.
	Memory uint64 `json:"memory_limit_bytes"`
	Pids   uint64 `json:"pids_limit"`
}

// The keys of Window.Neighbour: measures of a neighbour's work in a window.
const (
	NeighbourOps = "operations" // counted by the load itself
	NeighbourCPU = "cpu.time"   // CPU seconds of its cgroup
	NeighbourIO  = "io.bytes"   // bytes that its cgroup read from and wrote to disks
	// NeighbourRequests counts read and write requests of its cgroup to disks.
	NeighbourRequests = "io.requests"
)

// Metric describes a metric that a load declares itself.
type Metric struct {
	Name string `json:"name"`
	Unit string `json:"unit"` // a base unit if it has one: "s", "1/s", "B/s", "ratio"
	// Better is +1 when more is better and -1 when less is.
	Better int    `json:"better"`
	Help   string `json:"help,omitempty"`
}

// Arm is one combination of levels.
type Arm struct {
	Name        string `json:"name"`
	Environment string `json:"environment"`
	Title       Said   `json:"title"`
	// Step is the arm one rung below; empty for the baseline and for arms outside of the ladder.
	Step string `json:"step,omitempty"`
	// Twin says that the arm is the twin: the baseline again, as the A/A control.
	Twin bool `json:"twin,omitempty"`
	// Remainder says that this arm is a real container and that Step is the top rung. The difference
	// between the two is the remainder.
	Remainder bool `json:"remainder,omitempty"`
	// Against is another arm with which this one is compared besides the baseline; empty: none.
	Against string `json:"against,omitempty"`
	// Neighbour is the name of the neighbour beside the arm; empty: none.
	Neighbour string `json:"neighbour,omitempty"`
	// Isolation lists the mechanisms that protect the arm from its neighbour, as NAME or
	// NAME=LEVEL.
	Isolation []string `json:"isolation,omitempty"`
	Options
	// Pod says that the arm is in a pod.
	Pod bool `json:"pod,omitempty"`
	// RunsAs says by what an arm without a container competes for CPUs: AsService, AsSession or
	// AsProcess. Empty: a container or pod; in older records a process in the root group and in
	// the session in which tare was started.
	RunsAs string `json:"runs_as,omitempty"`
	// Set has parameters of the workload that this arm sets otherwise than Workload.Params.
	Set map[string]string `json:"set,omitempty"`
	// Shares is the arm whose processes this arm uses, under other settings. Empty: this arm has
	// processes of its own.
	Shares string `json:"shares,omitempty"`
}

// Options are the settings that an experiment can choose for an arm; a zero field is not chosen.
type Options struct {
	// Volume is the volume of the data.
	Volume string `json:"volume,omitempty"`
	// Network, Seccomp, Capabilities and AppArmor are settings of the arm's container.
	Network      string `json:"network,omitempty"`
	Seccomp      string `json:"seccomp,omitempty"`
	Capabilities string `json:"capabilities,omitempty"`
	AppArmor     string `json:"apparmor,omitempty"`
	// CPUs, MemoryBytes and CPUSet are limits of the arm's cgroup: CPU seconds per second, bytes, and a list of CPUs such
	// as "0-3,6". Burst is the unused quota that is saved up, in the unit of CPUs, Weight that of the cpu controller, of
	// which 100 is the default.
	CPUs        float64 `json:"cpus,omitempty"`
	Burst       float64 `json:"burst,omitempty"`
	Weight      int     `json:"weight,omitempty"`
	MemoryBytes int64   `json:"memory_bytes,omitempty"`
	CPUSet      string  `json:"cpuset,omitempty"`
	// Image is the image with the arm's root file system; empty: that of the host.
	Image string `json:"image,omitempty"`
}

// TitleSettings is the code of the title of an arm with several settings, its value settings.
const TitleSettings = "arm_settings"

// The values of Arm.RunsAs.
const (
	// AsService is a session and control groups of its own, with the controllers that services of
	// the host have, of the default weight and without limits.
	AsService = "service"
	// AsSession is a session of its own, in the control groups of tare: what an ordinary user can have.
	AsSession = "session"
	// AsProcess is a session of its own, in the root groups.
	AsProcess = "root group"
)

// Chosen lists all factors of an arm except neighbour and isolation. Got is the arm's level of the
// factor, empty if the experiment does not set it.
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
		{Name: "image", Got: a.Image}, {Name: "cpus", Got: limit(a.CPUs)},
		{Name: "burst", Got: limit(a.Burst)}, {Name: "weight", Got: limit(float64(a.Weight))},
		{Name: "memory", Got: limit(float64(a.MemoryBytes))}, {Name: "cpuset", Got: a.CPUSet},
	}
}

// Left is an arm or workload that was skipped.
type Left struct {
	Workload string `json:"workload,omitempty"`
	Arm      string `json:"arm"` // empty: the whole workload
	Reason   Said   `json:"reason"`
	Remedy   Said   `json:"remedy,omitzero"`
}

// LeftBudget is the code of the reason for a workload that was skipped because the time budget was used up.
// Left.Arm is then its baseline.
const LeftBudget = "budget_used"

// Setting is one setting: the wanted value, and the value that was read back from the kernel or server.
type Setting struct {
	Name   string `json:"name"`
	Wanted string `json:"wanted,omitempty"`
	Got    string `json:"got"`
	// Said is Got as a code with values, where Got is a sentence.
	Said Said `json:"said,omitzero"`
}

// Host describes the machine.
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
	// Helper is set if tare entered this host through the node helper's pod.
	Helper *Helper `json:"node_helper,omitempty"`
}

// Helper is the node helper: a privileged pod from which tare entered the namespaces of a node.
type Helper struct {
	Node  string `json:"node"`
	Image string `json:"image"`
	// Namespaces says whose namespaces: of "process 1", or of "the container runtime" if process 1
	// may not be inspected.
	Namespaces string `json:"namespaces"`
	// Cgroup is tare's own cgroup, outside of the cgroups of pods.
	Cgroup string `json:"cgroup"`
	// OOM is tare's oom_score_adj. It is the pod's value if tare was not allowed to lower it.
	OOM int `json:"oom_score_adj"`
	// Kubelet and Runtime are the versions that the node reports; empty: not known.
	Kubelet string `json:"kubelet,omitempty"`
	Runtime string `json:"runtime,omitempty"`
}

// Manifest describes the host and the arms of a run.
type Manifest struct {
	Schema  string    `json:"schema"`
	Started time.Time `json:"started"`
	Tare    string    `json:"tare"` // version of tare
	// Statistics is the version of the rules of judging of that tare; 0: older than version 2.
	Statistics int                  `json:"statistics,omitempty"`
	User       string               `json:"user"`
	Host       Host                 `json:"host"`
	Versions   map[string]string    `json:"versions,omitempty"` // of the tools used
	Settings   map[string][]Setting `json:"settings,omitempty"` // by "workload/arm", as read back
	Left       []Left               `json:"left_out,omitempty"`
	Probes     []ProbeMetric        `json:"probes,omitempty"`
	// Unequal lists arms that were compared although their durability differs from their baseline's.
	Unequal []Unequal `json:"unequal,omitempty"`
	// Files are the SHA-256, hexadecimal, of the programs, libraries and scripts of the host that the arms
	// executed, by path. A path had the same file at every launch.
	Files map[string]string `json:"files,omitempty"`
	// Data are the data sets in the cache on which the arms ran.
	Data []DataSet `json:"data,omitempty"`
	// Calibrated is this user's last calibration of this host before the run; nil: none.
	Calibrated *Calibrated `json:"calibrated,omitempty"`
	// Imported is set when another tool measured and tare read its output.
	Imported *Imported `json:"imported,omitempty"`
}

// Unequal is an arm whose durability differs from its baseline's.
type Unequal struct {
	Workload    string `json:"workload"`
	Arm         string `json:"arm"`
	Differences []Said `json:"differences"`
}

// ProbeMetric describes one probe value of the windows.
type ProbeMetric struct {
	Name  string `json:"name"`
	Unit  string `json:"unit"`            // "s", "1", "B" or "ratio"
	Level bool   `json:"level,omitempty"` // a state, such as free memory, and not an increase in the window
	PerOp bool   `json:"per_op,omitempty"`
	Of    string `json:"of,omitempty"` // reports show it per unit of this metric
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

// Run is the first line of a record. Each run that continues the record adds another Run.
type Run struct {
	Schema string `json:"schema"`
	ID     string `json:"id"`
	Seed   uint64 `json:"seed"`
}

// Pilot has the measurements of one workload's pilot, and the lengths that follow from them.
type Pilot struct {
	Workload string  `json:"workload"`
	Window   float64 `json:"window_seconds"`
	Discard  float64 `json:"discard_seconds"` // settle time after each thaw
	Blocks   int     `json:"blocks"`          // blocks per generation
	Pause    string  `json:"pause"`           // "freezer v1", "freezer v2", "load" or "stream"
	Why      Said    `json:"why"`             // the reasons for Window and Discard
	// Foreign and Steal are limits in CPUs of older records. Nothing reads them.
	Foreign float64     `json:"foreign_limit_cpus,omitempty"`
	Steal   float64     `json:"steal_limit_cpus,omitempty"`
	Slots   []SlotNoise `json:"slots,omitempty"`
	Thaws   []ThawNoise `json:"thaws,omitempty"`
}

// SlotNoise is the pilot's expectation for one window length. Noise is the standard deviation of the
// log ratio of consecutive windows. Cost is Noise squared times the length of a slot in seconds: the
// window, its settle time and the switch of arms. The pilot chooses the window with the least Cost.
type SlotNoise struct {
	Window float64 `json:"window_seconds"`
	Noise  float64 `json:"noise"`
	Cost   float64 `json:"cost"`
}

// ThawNoise compares the rate right after a settle time of this length with the rate long after the
// thaw, as a log ratio with its 95 % half-width, in the worst arm.
type ThawNoise struct {
	Discard float64 `json:"discard_seconds"`
	Ratio   float64 `json:"log_ratio"`
	Half    float64 `json:"half_width"`
}

// Generation is one launch: one start of all arms of a workload.
type Generation struct {
	Workload string  `json:"workload"`
	Number   int     `json:"number"`
	Seconds  float64 `json:"launch_seconds"`
	Left     []Left  `json:"left_out,omitempty"` // arms that failed to launch
	// PlacementsDrawn says that each window begins with its threads on CPUs drawn at random, the same in all arms of a block.
	PlacementsDrawn bool `json:"placements_drawn,omitempty"`
}
