package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/arms/pods"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
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

	pods *pods.Target // see cluster
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
	p, err := plan.Build(e, catalog.Plan(f.cluster()), host, nil)
	if err != nil {
		return nil, err
	}
	smaller, err := f.fit(e, p)
	if err == nil && smaller {
		if err = f.applyTaken(e, catalog.Words()); err == nil {
			p, err = plan.Build(e, catalog.Plan(f.cluster()), host, nil)
		}
	}
	if err != nil {
		return nil, err
	}
	p.Record.Adopted = f.adopted()
	_, _, preset := experiment.Preset(cmp.Or(f.Experiment, experiment.Quick))
	if preset && f.Command == "" && len(f.Workload) == 0 {
		leaveOutUninstalled(p)
	}
	return p, nil
}

// findExperiment reads a preset, a file or standard input. file is the name of the file in errors.
func findExperiment(name string) (file string, src []byte, err error) {
	if name == "-" {
		src, err = readBounded(os.Stdin, "standard input")
		if err != nil {
			err = &usageError{fmt.Errorf("read the experiment: %w", err), ""}
		}
		return "stdin", src, err
	}
	if current, src, ok := experiment.Preset(name); ok { // name may be that of an earlier version
		return current + ".yaml", src, nil
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return "", nil, notAnExperiment(name)
	}
	src, err = readExperiment(name)
	switch {
	case err == nil:
		return name, src, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", nil, &usageError{hint.New(fmt.Errorf("read the experiment: %w", err), "tare presets lists the experiments that need no file"), ""}
	case strings.Contains(name, "/"), strings.HasSuffix(name, ".yaml"), strings.HasSuffix(name, ".yml"):
		return "", nil, &usageError{fmt.Errorf("no experiment file %s", name), "tare presets lists the experiments that need no file"}
	}
	err = fmt.Errorf("no preset and no file %q%s", name, likePreset(name))
	return "", nil, &usageError{err, cmp.Or(flagFor(name), "tare presets")}
}

// largestExperiment bounds the bytes that are read. It is above the limit of package experiment, whose
// error is better.
const largestExperiment = 2 << 20 // bytes

// readExperiment reads an experiment file, up to largestExperiment.
func readExperiment(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBounded(f, name)
}

func readBounded(r io.Reader, name string) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(r, largestExperiment+1))
	if err == nil && len(src) > largestExperiment {
		err = fmt.Errorf("%s has more than %d bytes and is not an experiment", name, largestExperiment)
	}
	return src, err
}

// notAnExperiment is the error about a directory in the place of an experiment.
func notAnExperiment(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, record.RecordFile)); err == nil {
		return &usageError{fmt.Errorf("%s is a result, and no experiment", dir), "tare run --continue " + dir + " adds to it; tare report " + dir + " prints it"}
	}
	return &usageError{fmt.Errorf("%s is a directory, and no experiment", dir), "tare run --scratch " + dir + " measures in it; tare presets lists the experiments"}
}

// flagFor guesses the flag that a user forgot before a word in the place of the experiment; "": none.
func flagFor(word string) string {
	_, err := experiment.ParseDuration(word)
	switch {
	case err == nil:
		return "--budget " + word
	case strings.Contains(word, "="):
		return "--set " + word
	case slices.Contains(catalog.Words().Arms, word):
		return "--arms host," + word
	}
	return ""
}

// likePreset is the end of the error about an unknown preset: the presets that begin with the word, or
// the nearest one.
func likePreset(word string) string {
	var all []string
	for _, p := range experiment.Presets() {
		if strings.HasPrefix(p, word+"-") {
			all = append(all, p)
		}
	}
	if len(all) > 1 {
		return "; there are " + strings.Join(all, ", ")
	}
	return hint.DidYouMean(word, experiment.Presets())
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
	across := len(f.Volume) > 1 || len(f.Volume) > 0 && e.ComparesVolumesOfPods(words)
	if across {
		collect(e.Across("--volume", volumeArms(f.Volume), f.Volume, words), "")
	}
	for _, s := range f.settings() {
		if across && s.flag == "volume" {
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
	if len(all) > 0 {
		return all
	}
	return nil
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

// volumeArms names the arms for these volumes.
func volumeArms(words []string) (names []string) {
	const most = 40 // the longest name of an arm
	for i, w := range words {
		v, _ := volume.Parse(w) // Experiment.Across reports the error
		name := strings.ToLower(v.Name())
		if len(name) > most {
			name = fmt.Sprintf("%s-%d", name[:most-3], i+1)
		}
		names = append(names, name)
	}
	return names
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
	if current, _, ok := experiment.Preset(f.Experiment); ok {
		out[2] = current
	}
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
