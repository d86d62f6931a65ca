package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/arms/pods"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
)

// experimentFlags are the flags that say what to measure. Each sets a value of the experiment, which is
// checked like a value in the file.
type experimentFlags struct {
	Experiment string `arg:"" name:"preset|file" optional:"" help:"A preset (see tare presets), a YAML file, or - for standard input. Without it: quick."`

	Command      string    `group:"experiment" placeholder:"CMD" help:"Measure a command instead of an experiment: its time, or a number that it prints (--set command.value=...)."`
	Budget       string    `group:"experiment" aliases:"duration,time" placeholder:"3m" help:"Time of the whole run."`
	Precision    string    `group:"experiment" aliases:"target-ci" placeholder:"1%" help:"Stops a run early: when every interval is this narrow (plus or minus)."`
	Margin       string    `group:"experiment" aliases:"min-effect" placeholder:"1%" help:"Smallest effect that matters to you, for the verdict no loss. It does not stop a run."`
	MaxCost      []maxCost `group:"experiment" name:"max-cost" placeholder:"METRIC=SIZE" help:"Limit: the largest cost that passes, as throughput=5% or p99=10%. The run ends with 3 if one is exceeded, 4 if undecided, 6 if invalid."`
	UntilDecided bool      `group:"experiment" help:"Stop as soon as every limit is decided, instead of at the precision."`
	Seed         string    `group:"experiment" hidden:"" placeholder:"N" help:"Seed for the order of the arms."`
	Workload     []string  `group:"experiment" aliases:"workloads" placeholder:"NAME" help:"Only these workloads of the experiment, or of a kind: --workload fio."`
	Arms         []string  `group:"experiment" aliases:"arm,variants,variant" placeholder:"NAME" help:"Only these arms; the baseline and its twin always run."`
	Volume       []string  `group:"experiment" sep:"none" placeholder:"WORD" help:"Volume under the data: layer (the arm's root file system), bind (a directory of the host), dir:/PATH, tmpfs, loop:ext4, loop:xfs, loop:btrfs, nfs:SERVER:/PATH, cephfs:FS:/PATH or rbd:POOL/IMAGE; of pods emptydir, hostpath or pvc:CLASS. Give it several times to compare volumes with the first."`
	Scratch      string    `group:"experiment" placeholder:"DIR" help:"Directory for the data, on the disk under test."`
	Set          []string  `group:"experiment" sep:"none" placeholder:"PATH=VALUE" help:"Any setting of the experiment: rpc.concurrency=8, window=200ms, generations=5 (launches of each arm), unequal=mark (keep arms that are less durable, and mark them). May be repeated."`

	Kubeconfig string `group:"kubernetes" hidden:"" placeholder:"FILE" help:"The kubeconfig of the cluster. Default: $KUBECONFIG, or kubectl's own."`
	Context    string `group:"kubernetes" hidden:"" placeholder:"NAME" help:"The context of the kubeconfig. Default: the current one."`

	Namespace string `group:"kubernetes" hidden:"" placeholder:"NAME" help:"An existing namespace, for pods on another node. Default: the run makes its own."`
	PodImage  string `group:"kubernetes" hidden:"" placeholder:"IMAGE" help:"Image for pods on another node, where an arm names none: with sh and the programs of the load."`

	databaseFlags

	pods *pods.Target             // see cluster
	seen map[string]dataset.About // by workload: see recall
}

// cluster is the cluster that the flags choose.
func (f *experimentFlags) cluster() *pods.Target {
	if f.pods == nil {
		f.pods = &pods.Target{Access: kube.Access{Kubeconfig: f.Kubeconfig, Context: f.Context, Image: f.PodImage, Namespace: f.Namespace}}
	}
	return f.pods
}

// load reads the experiment and applies the flags.
func (f *experimentFlags) load() (*experiment.Experiment, experiment.Words, error) {
	words := catalog.Words()
	e, err := f.parse(words)
	if err != nil {
		return nil, words, err
	}
	return e, words, f.apply(e, words)
}

// parse reads the experiment that the flags name. It does not apply the flags that change it.
func (f *experimentFlags) parse(words experiment.Words) (*experiment.Experiment, error) {
	if f.Command != "" {
		if f.Experiment != "" {
			err := fmt.Errorf("both the experiment %s and --command", f.Experiment)
			return nil, &usageError{err, "leave one out; in an experiment file, a command is a workload of kind command"}
		}
		dir, err := os.Getwd()
		if err != nil {
			return nil, fmt.Errorf("find the directory that the command is in: %w", err)
		}
		return experiment.ForCommand("--command", f.Command, dir, words)
	}
	name, src, err := findExperiment(cmp.Or(f.Experiment, experiment.Quick))
	if err != nil {
		return nil, err
	}
	return experiment.Parse(name, src, words)
}

// plan makes the plan of an experiment. If the programs of a workload are missing, plan skips the
// workload of a preset. It keeps a workload that is in a file or named by --workload, and `installed`
// returns the error about it.
func (f *experimentFlags) plan(e *experiment.Experiment, host facts.Host) (*plan.Plan, error) {
	p, err := f.build(e, host)
	if err != nil {
		return nil, err
	}
	smaller, err := f.fit(p)
	if err == nil && smaller {
		if err = f.applyTaken(e, catalog.Words()); err == nil {
			p, err = f.build(e, host)
		}
	}
	if err != nil {
		return nil, err
	}
	p.Record.Adopted = f.adopted()
	_, preset := experiment.Preset(cmp.Or(f.Experiment, experiment.Quick))
	if preset && f.Command == "" && len(f.Workload) == 0 {
		leaveOutUninstalled(p)
	}
	leaveOutLonely(p)
	found := programsFound{}
	if p.PodNode == "" {
		p.Record.Programs = found.of(p.Loads...)
	}
	f.recall(p, found)
	return p, nil
}

// build is plan.Build. Where it does not fail because of this host, the experiment is wrong.
func (f *experimentFlags) build(e *experiment.Experiment, host facts.Host) (*plan.Plan, error) {
	p, err := plan.Build(e, catalog.Plan(f.cluster()), host, nil)
	if err != nil && !errors.Is(err, facts.ErrUnsupported) {
		return nil, &usageError{err, ""}
	}
	return p, err
}

// apply applies the flags to the experiment, --set after the others, and then selects the workloads. It
// returns all problems together.
func (f *experimentFlags) apply(e *experiment.Experiment, words experiment.Words) error {
	var all experiment.Problems
	collect := func(err error, prefix string) {
		var ps experiment.Problems
		errors.As(err, &ps)
		for _, p := range ps {
			p.Text = strings.TrimPrefix(p.Text, prefix)
			all = append(all, p)
		}
	}
	if err := f.takeOver(e, words); err != nil {
		return err
	}
	all = f.conflicts()
	compared := slices.DeleteFunc(workloadNames(e), e.Alone)
	across := len(f.Volume) > 1 || len(f.Volume) > 0 && e.ComparesVolumesOfPods(words)
	if across {
		collect(e.Across("--volume", volumeArms(f.Volume), f.Volume, words), "")
	}
	for _, s := range f.settings() {
		if across && s.flag == "volume" {
			continue
		}
		if s.flag == "arms" {
			collect(e.ChooseArms("--arms", s.value, words), "arms: ")
			continue
		}
		collect(e.Apply("--"+s.flag, s.flag, s.value, words), s.flag+": ")
	}
	for _, s := range f.Set {
		collect(e.Set(s, words), "")
	}
	all = append(all, f.applyLimits(e, words)...)
	all = append(all, f.notSelected(e)...)
	collect(e.Select("--workload", f.Workload), "")
	if len(all) == 0 && len(f.Arms) > 0 {
		all = leftAlone(e, compared)
	}
	if len(all) > 0 {
		return all
	}
	return nil
}

// workloadNames are the names of all workloads, also of optional ones.
func workloadNames(e *experiment.Experiment) (names []string) {
	for _, w := range e.Workloads {
		names = append(names, w.Name)
	}
	return names
}

// leftAlone returns the problem of workloads that had arms to compare, and have their baseline alone by --arms.
func leftAlone(e *experiment.Experiment, compared []string) experiment.Problems {
	var alone, others []string
	for _, w := range e.Workloads {
		switch {
		case slices.Contains(compared, w.Name) && e.Alone(w.Name):
			alone = append(alone, w.Name)
		case !w.Optional:
			others = append(others, w.Name)
		}
	}
	if len(alone) == 0 {
		return nil
	}
	base := e.Workload(alone[0]).Baseline
	text := fmt.Sprintf("nothing would be left to compare with %s in %s: name another arm besides", base, strings.Join(alone, ", "))
	if len(others) > 0 {
		text += ", or leave these loads out: --workload " + strings.Join(others, ",")
	}
	return experiment.Problems{{Where: "--arms", Text: text}}
}

// notSelected returns the problems of --set on optional workloads that --workload does not select.
func (f *experimentFlags) notSelected(e *experiment.Experiment) (all experiment.Problems) {
	for _, s := range f.Set {
		name, _, _ := strings.Cut(strings.TrimPrefix(s, "workloads."), ".")
		if w := e.Workload(name); w != nil && w.Optional && len(f.Workload) == 0 {
			all = append(all, experiment.Problem{Where: "--set " + s, Text: name + " runs only with --workload " + name})
		}
	}
	return all
}

// conflicts returns the problems of flags that set the same value.
func (f *experimentFlags) conflicts() (all experiment.Problems) {
	given := map[string]string{} // flag by path of the setting
	for _, s := range f.settings() {
		given[s.flag] = "--" + s.flag
	}
	if len(f.Volume) > 1 {
		given["volume"] = "--volume"
	}
	for _, s := range f.Set {
		path, _, _ := strings.Cut(s, "=")
		path = strings.Replace(strings.TrimPrefix(path, "workloads."), ".params.", ".", 1)
		if other := given[path]; other != "" {
			all = append(all, experiment.Problem{Where: "--set " + s, Text: other + " sets " + path + " too: leave one of them out"})
		}
		given[path] = "--set " + s
	}
	return all
}

// setting is a flag, without dashes, with its value.
type setting struct{ flag, value string }

// settings are the given flags that set one value each.
func (f *experimentFlags) settings() []setting {
	var out []setting
	for _, s := range []setting{
		{"budget", f.Budget}, {"precision", f.Precision}, {"margin", f.Margin}, {"seed", f.Seed},
		{"arms", strings.Join(f.Arms, ",")}, {"volume", f.volume()}, {"scratch", f.Scratch},
	} {
		if s.value != "" {
			out = append(out, s)
		}
	}
	return out
}

// volume is the volume of all arms; empty if none is given, or several to be compared.
func (f *experimentFlags) volume() string {
	if len(f.Volume) != 1 {
		return ""
	}
	return f.Volume[0]
}

// volumeArms names the arms for these volumes: by the volume, and several on one path by the options
// in which they differ.
func volumeArms(words []string) (names []string) {
	all := make([]volume.Volume, len(words))
	for i, w := range words {
		all[i], _ = volume.Parse(w) // Experiment.Across reports the error
	}
	for i, v := range all {
		names = append(names, uniqueName(strings.ToLower(v.NameAmong(all)), i, names))
	}
	return names
}

// uniqueName shortens a name in the middle to the longest that an arm can have, and adds a number where
// an earlier arm has it.
func uniqueName(name string, i int, earlier []string) string {
	const most = 40
	short := func(n int) string {
		if len(name) <= n {
			return name
		}
		return strings.Trim(name[:n/2], "-") + "-" + strings.Trim(name[len(name)-(n-n/2-1):], "-")
	}
	if s := short(most); !slices.Contains(earlier, s) {
		return s
	}
	end := fmt.Sprintf("-%d", i+1)
	return short(most-len(end)) + end
}

// absolute makes the paths of a list of files, such as $KUBECONFIG, absolute.
func absolute(files string) string {
	all := filepath.SplitList(files)
	for i, f := range all {
		if path, err := filepath.Abs(f); err == nil && f != "" {
			all[i] = path
		}
	}
	return strings.Join(all, string(filepath.ListSeparator))
}

// command is the command that repeats a run with this seed.
func (f *experimentFlags) command(seed uint64) []string {
	return append(f.unseededCommand(), fmt.Sprintf("--seed=%d", seed))
}

// unseededCommand is the command of the run without --seed: tare run EXPERIMENT, then flags.
func (f *experimentFlags) unseededCommand() []string {
	out := []string{"tare", "run", cmp.Or(f.Experiment, experiment.Quick)}
	if f.Command != "" {
		out[2] = "--command=" + f.Command
	}
	for _, s := range f.settings() {
		if s.flag != "seed" {
			out = append(out, "--"+s.flag+"="+s.value)
		}
	}
	if len(f.Volume) > 1 {
		for _, v := range f.Volume {
			out = append(out, "--volume="+v)
		}
	}
	for _, s := range []setting{{"kubeconfig", absolute(f.Kubeconfig)}, {"context", f.Context}, {"namespace", f.Namespace}, {"pod-image", f.PodImage}} {
		if s.value != "" {
			out = append(out, "--"+s.flag+"="+s.value)
		}
	}
	for _, s := range f.databaseFlags.given() {
		out = append(out, "--"+s.flag+"="+s.value)
	}
	for _, s := range f.Set {
		out = append(out, "--set="+s)
	}
	out = append(out, f.limitCommand()...)
	if len(f.Workload) > 0 {
		out = append(out, "--workload="+strings.Join(f.Workload, ","))
	}
	return out
}
