package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os/user"
	"path/filepath"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/arms/pods"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
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
	"github.com/tarelab/tare/internal/undo/hostlock"
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

Flags for pods and nodes: tare help kubernetes.`
}

func (runCommand) exits() []codeMeaning {
	return exitCodes("measured, and every limit passes", exitError, exitUsage, exitExceeded, exitUndecided, exitUnsupported, exitInvalid, exitBusy, exitInterrupted, exitTerminated)
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
	dir, lock, held := aloneInto(r.Output, r.Beside)
	if held != nil && !r.mayBeElsewhere(e, held) {
		if errors.Is(held, hostlock.ErrHeld) {
			return cmp.Or(r.misused(e), held)
		}
		return held
	}
	defer lock.Release()
	c.warnOfPrograms()
	host, err := inspectHost(e, r.Volume, r.cluster(), r.podNode())
	if err != nil {
		return err
	}
	if err := c.heldHere(lock, host, held); err != nil {
		return err
	}
	p, err := r.plan(e, host)
	if err != nil {
		return err
	}
	if err := r.ready(p, dir, host.Groups, fewer); err != nil {
		return err
	}
	p.Record.Command = helper.command(r.nodeFlags.command(r.experimentFlags.command(p.Record.Seed)), p.Record.Seed)
	if helper == nil {
		c.noteLeftovers()
	}
	return r.measure(c, p, host, helper, dir)
}

// measure runs a plan on this host, with the display of progress, and prints the result in dir.
func (r *runCommand) measure(c *console, p *plan.Plan, host facts.Host, helper *helperRun, dir string) error {
	m := manifest(host, time.Now())
	first, err := r.openingLines(c, p, m, helper != nil)
	if err != nil {
		return err
	}
	show := c.progress(p, r.progressFlags)
	show.start(p, helper.resultDir(dir))
	shared := sharedLines(p)
	for _, line := range slices.Concat(c.notesOf(p, host, shared), first) {
		show.say(line)
	}
	r.cluster().Told(func(m messages.Message) { show.say(c.in.Say(m)) })
	out, err := measure(run.Config{Warnings: withShared(shared, r.cluster().Warnings), Plan: p, Dir: dir, Groups: host.Groups, Manifest: helper.manifest(m), Progress: show.event}, show, c.in)
	if helper != nil {
		return helper.finish(c, out, err)
	}
	return r.finish(c, out, err)
}

// notesOf are the lines about a plan on this host: the user's program, what --like took, volumes that arms share, and a
// limit around tare.
func (c *console) notesOf(p *plan.Plan, host facts.Host, shared []record.Said) []string {
	said := slices.Concat(analysis.AdoptedLines(p.Record.Adopted), shared)
	if limit := doctor.OwnLimit(host); !limit.IsZero() {
		said = append(said, limit)
	}
	return slices.Concat(codeLines(p, c.in), eachSaid(said, c.in))
}

// misused is the error of an experiment that no host can run, found without a look at this one: another run measures.
func (r *runCommand) misused(e *experiment.Experiment) error {
	p, err := r.plan(e, facts.Host{})
	if err == nil {
		err = cmp.Or(limitable(p), checkSQL(p))
	}
	if exitCode(err) != exitUsage {
		return nil
	}
	return err
}

// mayBeElsewhere says that another run on this host does not matter if the pods of an experiment are on
// another node, which only the cluster knows.
func (r *runCommand) mayBeElsewhere(e *experiment.Experiment, held error) bool {
	return errors.Is(held, hostlock.ErrHeld) && len(podsOf(e, r.cluster())) > 0
}

// heldHere returns held, the error about this host's lock, unless the arms are on another node: then the lock
// is released.
func (c *console) heldHere(lock *hostlock.Lock, host facts.Host, held error) error {
	switch {
	case host.PodNode != "":
		lock.Release()
	case held != nil:
		return held
	default:
		c.warnOfUsers()
	}
	return nil
}

// measure runs, after it has set the fields of the configuration that are the same for all runs.
func measure(c run.Config, show progress, in messages.Catalog) (run.Outcome, error) {
	watch := func(w record.Workload, lines []record.Line) { show.measured(&c.Manifest, w, lines) }
	c.ID, c.StateDir, c.Probes = newID(), journal.StateDir(), catalog.Probes()
	c.Decide, c.Decided, c.Condense = decide(c.Plan.Record, c.Manifest.Host.CPUs, watch), untilDecided(c.Plan.Record, c.Dir), analysis.Kept
	defer show.end()
	return execute(c, show, in)
}

// openingLines are the lines that the progress display begins with: the last calibration of this host, the launches that
// the budget has room for, and the outlook. A run that a node helper started has none.
func (r *runCommand) openingLines(c *console, p *plan.Plan, m record.Manifest, helped bool) (lines []string, err error) {
	if r.quiet() || helped {
		return nil, nil
	}
	switch last, err := lastCalibration(m.Host); {
	case err != nil:
		lines = append(lines, err.Error())
	case last != nil:
		lines = append(lines, c.text("progress.calibrated", "what", c.reports().Calibrated(last, m.Host.Kernel)))
	}
	if notice := launchNotice(p, c.in); notice != "" {
		lines = append(lines, notice)
	}
	ctx, stop := untilSignal()
	defer stop()
	o, err := lookAhead(ctx, p, c.in)
	if o != nil {
		lines = append(lines, o.line(c.in))
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
	r.remember(result, effects)
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
	if err := keepEffects(r.Dir, e); err != nil {
		return err
	}
	_, err := c.writePage(r.Dir, r, e)
	return err
}

// keepEffects writes the effects into a result directory, as --format json prints them.
func keepEffects(dir string, e *record.Effects) error {
	var b bytes.Buffer
	if err := export.JSON(&b, e); err != nil {
		return err
	}
	return record.WriteFile(dir, record.EffectsFile, b.Bytes())
}

// finished says that the measurement ended by itself, not by a signal or an error.
func finished(out run.Outcome) bool {
	return slices.Contains([]string{"precision", record.EndedDecided, "budget"}, out.Reason)
}

// decide returns the function that decides when a run may stop, from the effects measured so far. show gets the
// lines first.
func decide(p record.Plan, cpus int, show func(record.Workload, []record.Line)) (
	decides func(record.Workload, []record.Line) run.Decision,
) {
	return func(w record.Workload, lines []record.Line) run.Decision {
		show(w, lines)
		s := analysis.Running(&p, cpus, w, lines)
		d := run.Decision{Stop: s.Done, Lengthen: s.Opaque, Why: s.Why, LaunchSD: s.LaunchSD}
		for _, a := range s.Arms {
			d.Arms = append(d.Arms, run.Running(a))
		}
		for _, f := range s.Shown {
			d.Shown = append(d.Shown, run.Found(f))
		}
		return d
	}
}

// inspectHost finds out which arms of an experiment this host and user can have. volumes are the words of
// --volume, whose directories must be there. podNode is the node of the pods if tare controls them from
// this host; "": none is named.
func inspectHost(e *experiment.Experiment, volumes []string, on *pods.Target, podNode string) (h facts.Host, err error) {
	if err := procHere("/proc"); err != nil {
		return h, err
	}
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
	if err := ownDirsOutsideData(); err != nil {
		return h, err
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
	if err := cmp.Or(volumesOutsideData(e), checkVolumeDirs(append([]string{e.Volume}, volumes...))); err != nil {
		return h, err
	}
	return h, checkWays(e, volumes)
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
