package cli

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/arms/pods"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/host/doctor"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

type runCommand struct {
	experimentFlags
	nodeFlags
	Output   newDir `short:"o" group:"output" placeholder:"DIR" help:"Result directory, which tare creates. Default: tare-result-DATE-TIME here."`
	Format   format `group:"output" default:"text" placeholder:"FORM" help:"Output format: ${forms}."`
	Verbose  bool   `short:"v" group:"output" help:"Everything as text: each layer, metric, probe and check."`
	Beside   bool   `name:"force" group:"output" hidden:"" help:"Run although another run is active (noisier)."`
	Continue string `group:"output" placeholder:"DIR" help:"Add to the result in this directory: same experiment, same host."`
	progressFlags
}

func (runCommand) Help() string {
	return `Launches every arm of every workload, measures them in turn and compares each with the baseline. The host is left as it was found; Ctrl-C ends a run early and prints the result so far.

Examples:

  tare run
  tare run --workload commit --scratch /mnt/disk -o r
  tare run --budget 10m --precision 0.5% --arms cgroup,container
  tare run --command './bench' --arms cgroup,container
  tare run mine.yaml --set rpc.concurrency=8 --format json > effects.json
  tare run --max-cost throughput=5% --max-cost p99=10% --until-decided
  tare run --continue DIR --budget 10m

Flags for pods and nodes: tare help kubernetes.

` + exitCodes("measured, and every limit passes", exitError, exitUsage, exitExceeded, exitUndecided, exitUnsupported, exitInvalid, exitBusy, exitInterrupted, exitTerminated)
}

func (r *runCommand) Run(c *console) error {
	if r.Continue != "" {
		return r.continueRun(c)
	}
	e, _, err := r.load()
	if err != nil {
		return err
	}
	r.cluster().Rights = r.rightsCommand(r.Nodes, r.throughHelpers())
	if r.throughHelpers() {
		if err := r.onlyHere(); err != nil {
			return err
		}
		return r.onNodes(c, e)
	}
	helper, err := r.helperRun(r.cluster())
	if err != nil {
		return err
	}
	dir, lock, err := aloneInto(r.Output, r.Beside)
	if err != nil {
		return err
	}
	defer lock.Release()
	c.warnOfUsers()
	host, err := inspectHost(e, r.Volume, r.cluster(), r.podNode())
	if err != nil {
		return err
	}
	if host.PodNode != "" { // the run measures that node, not this host
		lock.Release()
	}
	p, err := r.plan(e, host)
	if err != nil {
		return err
	}
	if err := errors.Join(limitable(p), installed(p), checkSQL(p), worthwhile(p), longEnough(p, fewer), roomy(p, dir, host.Groups)); err != nil {
		return err
	}
	p.Record.Command = helper.command(r.nodeFlags.command(r.experimentFlags.command(p.Record.Seed)), p.Record.Seed)
	if helper == nil {
		c.noteLeftovers()
	}
	m := manifest(host, time.Now())
	first, err := r.openingLines(c, p, m, helper != nil)
	if err != nil {
		return err
	}
	show := c.progress(p, r.progressFlags)
	show.start(p, helper.resultDir(dir))
	for _, line := range slices.Concat(adoptedLines(p.Record.Adopted), codeLines(p), first) {
		show.say(line)
	}
	r.cluster().Told(show.say)
	out, err := measure(run.Config{Warnings: r.cluster().Warnings, Plan: p, Dir: dir, Groups: host.Groups, Manifest: helper.manifest(m), Progress: show.event}, show)
	if helper != nil {
		return helper.finish(c, out, err)
	}
	return r.finish(c, out, err)
}

// measure runs, after it has set the fields of the configuration that are the same for all runs.
func measure(c run.Config, show progress) (run.Outcome, error) {
	watch := func(w record.Workload, lines []record.Line) { show.measured(&c.Manifest, w, lines) }
	c.ID, c.StateDir, c.Probes = newID(), journal.StateDir(), catalog.Probes()
	c.Decide, c.Decided, c.Condense = decide(c.Plan.Record, watch), untilDecided(c.Plan.Record, c.Dir), analysis.Kept
	defer show.end()
	return execute(c, show)
}

// openingLines are the lines that the progress display begins with: the last calibration of this host
// and the outlook, the expected width of the intervals. A run that a node helper started has none.
func (r *runCommand) openingLines(c *console, p *plan.Plan, m record.Manifest, helped bool) (lines []string, err error) {
	if r.quiet() || helped {
		return nil, nil
	}
	switch last, err := lastCalibration(m.Host); {
	case err != nil:
		lines = append(lines, err.Error())
	case last != nil:
		lines = append(lines, "calibrated "+c.reports().Calibrated(last, m.Host.Kernel))
	}
	if short := shortOfVerdicts(p); short != "" {
		lines = append(lines, short)
	}
	ctx, stop := untilSignal()
	defer stop()
	o, err := lookAhead(ctx, p)
	if o != nil {
		lines = append(lines, o.line())
	}
	return lines, err
}

// finish prints the results, also of a run that an error or a signal ended, and returns the run's
// error.
func (r *runCommand) finish(c *console, out run.Outcome, err error) error {
	if out.Reason == "" { // the run ended before its first launch
		return err
	}
	var forced *forcedError
	if errors.As(err, &forced) {
		return &forced.signalError
	}
	result, effects, aerr := r.show(c, out.Dir)
	err = errors.Join(notRestored(c, out, err), aerr)
	if err == nil && finished(out) && !anyBlock(effects) {
		return hint.New(errors.New("nothing was measured: no block of any workload is complete"), fewer+"; tare doctor says how busy this host is")
	}
	if err == nil && finished(out) {
		return r.limitError(c, result, effects)
	}
	return err
}

// anyBlock says whether any workload has a complete block.
func anyBlock(e *record.Effects) bool {
	return slices.ContainsFunc(e.Workloads, func(w record.WorkloadResult) bool { return w.Blocks > 0 })
}

// show analyses a result directory, writes the effects into it and prints the report.
func (r *runCommand) show(c *console, dir string) (*record.Result, *record.Effects, error) {
	result, effects, err := analyse(dir)
	if err != nil {
		c.noteResults(dir, false)
		return result, effects, err
	}
	g, _ := ownGate(result, effects)      // limitError returns the error
	err = c.writeEffects(result, effects) // on a full disk the report is printed all the same
	written := err == nil
	switch {
	case r.Format == "html":
		err = errors.Join(err, c.page(c.stdout, result, effects))
	case hasBlocks(effects) || r.Format.program():
		err = errors.Join(err, c.print(r.Format, effects, report.Options{Verbose: r.Verbose, Dir: dir, Named: !filepath.IsLocal(dir), Gate: g}))
	}
	c.noteResults(dir, written && hasBlocks(effects))
	return result, effects, err
}

// notRestored returns the error that decides the exit code of a run. After a finished measurement, an
// error of restoring the host does not decide it: notRestored prints that error.
func notRestored(c *console, out run.Outcome, err error) error {
	if err == nil || !finished(out) {
		return err
	}
	if out.NotRestored != nil {
		c.fail(hint.New(fmt.Errorf("the host is not restored: %w", out.NotRestored), "tare cleanup"))
	}
	return out.Unwritten
}

// hasBlocks says whether a result has any block, complete or dropped, so that a report makes sense.
func hasBlocks(e *record.Effects) bool {
	return anyBlock(e) || e.Dropped.Of > 0
}

// writeEffects writes the effects, as --format json prints them, and the HTML report into the
// result directory.
func (c *console) writeEffects(r *record.Result, e *record.Effects) error {
	var b bytes.Buffer
	if err := export.JSON(&b, e); err != nil {
		return err
	}
	if err := record.WriteFile(r.Dir, record.EffectsFile, b.Bytes()); err != nil {
		return err
	}
	_, err := c.writePage(r.Dir, r, e)
	return err
}

// finished says that the measurement ended by itself, not by a signal or an error.
func finished(out run.Outcome) bool {
	return slices.Contains([]string{"precision", record.EndedDecided, "budget"}, out.Reason)
}

// decide returns the function that decides when a run may stop, from the effects measured so far. show gets the
// lines first.
func decide(p record.Plan, show func(record.Workload, []record.Line)) (
	decides func(record.Workload, []record.Line) run.Decision,
) {
	return func(w record.Workload, lines []record.Line) run.Decision {
		show(w, lines)
		s := analysis.Running(w, lines, p.Precision)
		d := run.Decision{Stop: s.Done, Lengthen: s.Opaque, Why: s.Why, LaunchSD: s.LaunchSD}
		for _, a := range s.Arms {
			d.Arms = append(d.Arms, run.Running(a))
		}
		return d
	}
}

// newDir is the value of -o. kong takes -o=DIR as the value =DIR; newDir removes the equals sign.
type newDir string

func (d *newDir) UnmarshalText(b []byte) error {
	*d = newDir(strings.TrimPrefix(string(b), "="))
	if *d == "" {
		return errors.New("the name of the directory is empty")
	}
	return nil
}

// resultDir returns the result directory, or an error unless it is missing or empty. Without a name it
// returns an unused name with the time in it.
func resultDir(name newDir, at time.Time) (string, error) {
	given := string(name)
	if given == "" {
		name := at.Format("tare-result-2006-01-02-150405")
		if err := writable("result directory", ".", "-o"); err != nil {
			return "", err
		}
		for n := 2; ; n++ { // another run began in the same second
			if _, err := os.Lstat(name); err != nil {
				return name, nil
			}
			name = fmt.Sprintf("%s-%d", at.Format("tare-result-2006-01-02-150405"), n)
		}
	}
	entries, err := os.ReadDir(given)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return given, writable("result directory "+given, filepath.Dir(filepath.Clean(given)), "-o")
	case err == nil && len(entries) == 0:
		return given, writable("result directory "+given, given, "-o")
	case errors.Is(err, syscall.ENOTDIR):
		return "", &usageError{fmt.Errorf("result directory %s: a file is in its place", given), "name another one with -o"}
	case err != nil:
		return "", &usageError{fmt.Errorf("result directory: %w", err), "name another one with -o"}
	}
	err = fmt.Errorf("result directory %s is not empty", given)
	remedy := "name another one with -o"
	if m, ok := manifestOf(given); ok {
		remedy += "; tare report " + given + " prints the result in it"
		if m.Imported == nil {
			remedy += ", tare run --continue " + given + " goes on with it"
		}
	}
	return "", &usageError{err, remedy}
}

// newID is the id of a run, which is part of the name of everything that the run makes.
func newID() string { return strings.ToLower(rand.Text()[:8]) }

// inspectHost finds out which arms of an experiment this host and user can have. volumes are the words of
// --volume, whose directories must be there. podNode is the node of the pods if tare controls them from
// this host; "": none is named.
func inspectHost(e *experiment.Experiment, volumes []string, on *pods.Target, podNode string) (h facts.Host, err error) {
	var access kube.Access
	if on != nil {
		access = on.Access
	}
	pods := podsOf(e, on)
	if err := checkPodFlags(access, len(pods) > 0); err != nil {
		return h, err
	}
	if len(pods) == 0 && podNode != "" {
		return h, &usageError{hint.New(errors.New("--nodes needs an arm that is a pod"),
			"name some: --arms besteffort,guaranteed; or measure the node itself: --node-helper"), ""}
	}
	if e.Scratch == "" {
		h = inspect.Host("/")
	} else {
		if e.Scratch, err = scratchAt(e.Scratch); err != nil {
			return h, err
		}
		h = inspect.HostAt("/", e.Scratch)
	}
	h.Volumes = volume.Supports(h, e.Volumes()...)
	if len(pods) > 0 {
		on.PodNode = podNode
		on.Ask(h, pods...)
		h.PodNode = on.Elsewhere()
	}
	if h.PodNode != "" {
		return h, nil // the volumes are on that node
	}
	if err := notContainer(h, on); err != nil {
		return h, err
	}
	for _, f := range []struct{ flag, value string }{{"--namespace", access.Namespace}, {"--pod-image", access.Image}} {
		if f.value != "" {
			return h, &usageError{hint.New(fmt.Errorf("%s is for pods whose node tare is not on", f.flag),
				"name that node: --nodes NAME; or leave "+f.flag+" out"), ""}
		}
	}
	return h, checkVolumeDirs(append([]string{e.Volume}, volumes...))
}

// checkVolumeDirs returns an error if the directory of a volume is missing or not writable. An arm of an
// experiment whose directory is missing is skipped instead: a preset has volumes that some hosts lack.
func checkVolumeDirs(volumes []string) error {
	for _, word := range volumes {
		v, err := volume.Parse(word)
		if err != nil {
			continue // plan.Build returns this error
		}
		if err := v.There(); err != nil {
			return &usageError{fmt.Errorf("volume %s: %w", word, err), ""}
		}
	}
	return nil
}

// manifest is the manifest before the run; the run adds the settings that it reads back.
func manifest(host facts.Host, started time.Time) record.Manifest {
	m := record.Manifest{Schema: record.ManifestSchema, Started: started.UTC(),
		Tare: version(), Statistics: analysis.Statistics, Versions: map[string]string{}, Host: doctor.Facts("/")}
	if u, err := user.Current(); err == nil {
		m.User = u.Username
	}
	m.Calibrated, _ = lastCalibration(m.Host) // openingLines prints the error
	for name, tool := range host.Tools {
		if tool.Version != "" {
			m.Versions[name] = tool.Version
		}
	}
	return m
}
