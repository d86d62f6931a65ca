// Package environmenttest is the conformance suite of environments. It tests the contract of package
// environment with real processes on this host, and knows no single environment. A test binary that
// uses it calls Main from its TestMain.
package environmenttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
)

// Options vary the suite.
type Options struct {
	// Bind is Spec.Bind.
	Bind bool
	// Image is Spec.Container.Image.
	Image string
	// Kills is how often the suite kills a process that uses the environment, at random moments.
	Kills int
	// Choice has the options of the container that the test sets.
	Choice Choice
	// Kinds are the kinds of journal steps that the environment writes; nil: those of all arms.
	Kinds journal.Kinds
	// Led says that the arm is on another node than tare. Cases that look at the node are skipped;
	// cases that leave the arm unchanged share one arm.
	Led bool
	// Cases are the names of the cases to run; empty: all.
	Cases []string
}

// bound is how long an event may take before the test fails; no test depends on a shorter time. It
// is long because the last process of a mount namespace ends only when the overlay is unmounted:
// that waits for the disk below the overlay, on a busy disk for minutes.
const bound = 5 * time.Minute

// poll is how often the suite checks for an event.
const poll = time.Millisecond

// Run runs all cases. If this host cannot have the environment, Run checks that it gives a reason and
// then skips it by name.
func Run(t *testing.T, env environment.Environment, host facts.Host, opts Options) {
	s := suite{env: env, host: host, opts: opts}
	t.Run("description", s.description)
	if answer := env.Support(host); answer.Answer != facts.Yes {
		testneed.Feature(t, env.Name(), errors.New(said.English(answer.Reason)))
	}
	for _, name := range opts.Cases {
		if !HasCase(name) {
			t.Fatalf("the suite has no case %q", name)
		}
	}
	if opts.Led {
		s.led(t)
	} else {
		s.runShared(t)
		s.runApart(t)
	}
	for _, c := range openingCases {
		if s.wants(c.name) {
			t.Run(c.name, func(t *testing.T) { c.try(s, t) })
		}
	}
	if opts.Kills > 0 {
		t.Run("killed", s.killed)
	}
}

type suite struct {
	env  environment.Environment
	host facts.Host
	opts Options
}

func (s suite) wants(name string) bool {
	return len(s.opts.Cases) == 0 || slices.Contains(s.opts.Cases, name)
}

// runApart runs the cases that share no arm, each on an arm of its own.
func (s suite) runApart(t *testing.T) {
	for _, c := range cases {
		if c.shares || !s.wants(c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			before := TakeSnapshot(t)
			f := s.open(t)
			c.try(t, f)
			f.close(t)
			before.MustEqual(t, f.spec.Run)
		})
	}
}

// runShared runs on one arm the cases that leave neither processes nor changed settings behind.
func (s suite) runShared(t *testing.T) {
	if !slices.ContainsFunc(cases, func(c testCase) bool { return c.shares && s.wants(c.name) }) {
		return
	}
	t.Run("one arm", func(t *testing.T) {
		before := TakeSnapshot(t)
		f := s.open(t)
		for _, c := range cases {
			if c.shares && s.wants(c.name) {
				t.Run(c.name, func(t *testing.T) { c.try(t, f) })
			}
		}
		f.close(t)
		before.MustEqual(t, f.spec.Run)
	})
}

// testCase tests one promise of the contract, on an arm of its own or on an arm that it shares with
// earlier cases.
type testCase struct {
	name   string
	try    func(*testing.T, *fixture)
	shares bool
}

// cases are all cases. Cases that share an arm run in this order: the data set is changed after the
// cases that read it.
var cases = []testCase{
	{"start is cancelled", startCancelled, true},
	{"exit codes", exitCodes, true},
	{"ended by a fault", fault, true},
	{"killed from outside", killedFromOutside, true},
	{"deaf to signals", deaf, true},
	{"what a process is given", given, true},
	{"log and descriptors", logAndFiles, true},
	{"killed while frozen", killedWhileFrozen, true},
	{"data", data, true},
	{"out of memory", outOfMemory, false},
	{"freeze and thaw", freezeAndThaw, false},
	{"closed while frozen", closedWhileFrozen, false},
	{"children that outlive their parent", orphans, false},
	{"server and client", serverAndClient, false},
	{"settings", settings, false},
	{"settings changed behind its back", settingsChanged, false},
	{"a session of its own", ownSession, false},
	{"closed while in use", closedWhileInUse, false},
}

// openingCases are cases that open their arms themselves.
var openingCases = []struct {
	name string
	try  func(suite, *testing.T)
}{
	{"open is cancelled", suite.cancelled},
	{"two arms", suite.twoArms},
}

// description checks the methods of an Environment that change nothing.
func (s suite) description(t *testing.T) {
	before := TakeSnapshot(t)
	if s.env.Name() == "" || strings.ContainsAny(s.env.Name(), " /\n") || s.env.Title().IsZero() {
		t.Errorf("name %q, title %v", s.env.Name(), s.env.Title())
	}
	answer := s.env.Support(s.host)
	if answer.Answer != facts.Yes && answer.Reason.IsZero() {
		t.Errorf("support is %v without a reason", answer.Answer)
	}
	if answer.Answer == facts.No && answer.Remedy.IsZero() {
		t.Errorf("no, because %s, without a remedy", answer.Reason)
	}
	spec := newSpec(t, s, nil)
	for _, c := range s.env.Changes(spec) {
		if c.What.Key == "" {
			t.Errorf("a change without a name: %+v", c)
		}
	}
	before.MustEqual(t, spec.Run)
}

// fixture is an opened arm with its environment, Spec and journal.
type fixture struct {
	suite
	arm   environment.OpenArm
	spec  environment.Spec
	state string   // directory of the journal
	token string   // in the arguments of all processes
	words []*words // shared memory of all processes
}

// kinds are the steps that the suite can read and undo.
func (s suite) kinds() journal.Kinds {
	if s.opts.Kinds == nil {
		return steps.Kinds()
	}
	return s.opts.Kinds
}

var runs atomic.Int64

// newSpec is the Spec of a new run, with a data set and a journal in the directory state.
func newSpec(t *testing.T, s suite, j *journal.Journal) environment.Spec {
	t.Helper()
	run := fmt.Sprintf("e%dx%d", os.Getpid(), runs.Add(1))
	if j != nil {
		run = j.Run()
	}
	spec := environment.Spec{
		Run: run, Arm: s.env.Name(), Data: dataSet(t), Scratch: t.TempDir(),
		Bind: s.opts.Bind, Port: testneed.Port(t), Journal: j, Groups: s.host.Groups,
		Container: environment.Container{Image: s.opts.Image},
	}
	s.opts.Choice.apply(t, &spec)
	return spec
}

// open opens an arm. The caller closes it.
func (s suite) open(t *testing.T) *fixture {
	t.Helper()
	state := t.TempDir()
	j, err := journal.Open(state, fmt.Sprintf("e%dx%d", os.Getpid(), runs.Add(1)))
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{suite: s, spec: newSpec(t, s, j), state: state, token: "token-" + j.Run()}
	if f.arm, err = s.env.Open(t.Context(), f.spec); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.arm.Close(); j.Close(); f.release() }) // if the test ends early
	return f
}

// close closes the arm twice, which must do no harm, and checks that all changes were undone.
func (f *fixture) close(t *testing.T) {
	t.Helper()
	for i := range 2 {
		if err := f.arm.Close(); err != nil {
			t.Errorf("close number %d: %v", i+1, err)
		}
	}
	left, err := journal.Leftovers(f.state, f.kinds())
	if err != nil || len(left) != 1 {
		t.Errorf("journals: %+v %v", left, err)
	}
	for _, l := range left {
		for _, s := range l.Steps {
			t.Errorf("not taken back, as the journal says: %+v", s)
		}
	}
	if err := f.spec.Journal.Close(); err != nil {
		t.Error(err)
	}
	if names, err := os.ReadDir(f.spec.Scratch); err != nil || len(names) > 0 {
		t.Errorf("left in the scratch directory: %v %v", names, err)
	}
	await(t, "every process to be gone", func() bool { return len(withToken(f.token)) == 0 })
	f.release()
}

// process is a started process of the suite.
type process struct {
	environment.Running
	words *words
	log   string // file name
}

// start starts a process of the suite in the arm.
func (f *fixture) start(t *testing.T, mode string, args ...string) process {
	t.Helper()
	p, err := f.tryStart(t, t.Context(), false, mode, args...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// startOutside starts a process of the suite beside the arm.
func (f *fixture) startOutside(t *testing.T, mode string, args ...string) process {
	t.Helper()
	p, err := f.tryStart(t, t.Context(), true, mode, args...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (f *fixture) tryStart(t *testing.T, ctx context.Context, outside bool, mode string, args ...string) (process, error) {
	t.Helper()
	return f.tryProcess(t, ctx, environment.Process{Outside: outside}, mode, args...)
}

func (f *fixture) tryProcess(t *testing.T, ctx context.Context, p environment.Process, mode string, args ...string) (process, error) {
	t.Helper()
	file, w := f.newWords(t)
	defer file.Close()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	second, err := os.Open(filepath.Join(f.spec.Data, "table"))
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	p.Args, p.Files, p.Log = append([]string{Command, f.token, mode}, args...), []*os.File{file, second}, log
	running, err := f.arm.Start(ctx, p)
	return process{running, w, log.Name()}, err
}

// wait waits until the process has ended.
func (p process) wait(t *testing.T) environment.Exit {
	t.Helper()
	await(t, fmt.Sprintf("process %d to end", p.Pid()), func() bool {
		select {
		case <-p.Done():
			return true
		default:
			return false
		}
	})
	return p.Exit()
}

// said is the text of the process's log.
func (p process) said(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(p.log)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

// ready waits until the process is ready.
func (p process) ready(t *testing.T) {
	t.Helper()
	await(t, "the process to get ready", func() bool {
		select {
		case <-p.Done():
			t.Fatalf("ended before it was ready: %+v; its log: %s", p.Exit(), p.said(t))
		default:
		}
		return p.words.isReady()
	})
}

// moves says whether a counting process makes progress. The test cannot read the counter of a remote
// process; for it moves says whether the process still runs.
func (p process) moves() bool {
	if p.words.counted != nil { // remote
		return !environment.Ended(p.Running)
	}
	before := p.words.ticks()
	time.Sleep(20 * time.Millisecond)
	return p.words.ticks() != before
}

// await waits for an event. It counts its sleeps instead of reading a clock, so that time in which this
// process is stopped or gets no CPU does not count.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	began, pause := time.Now(), poll
	for slept := time.Duration(0); slept < bound && time.Since(began) < 2*bound; slept += pause {
		if ok() {
			return
		}
		time.Sleep(pause)
		pause = min(pause*5/4, 50*poll) // some checks read all of /proc
	}
	t.Fatalf("waited %v for %s", bound, what)
}
