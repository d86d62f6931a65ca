package run_test

import (
	"context"
	"math"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/environment/layers"
	"github.com/tarelab/tare/internal/experiment"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/plan"
	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/testneed"
	"github.com/tarelab/tare/record"
)

// Ground truth on this host: losses whose size is known by construction are
// measured as what they are.

// injured is an environment that loses something of known size. hurt is called
// with every opened arm and returns what to do when it closes.
type injured struct {
	environment.Environment
	name string
	hurt func(environment.Arm) (environment.Arm, error)
}

func (i injured) Name() string { return i.name }

func (i injured) Open(ctx context.Context, s environment.Spec) (environment.Arm, error) {
	a, err := i.Environment.Open(ctx, s)
	if err != nil {
		return nil, err
	}
	return i.hurt(a)
}

// TestTruthQuota: a quota of 90 % of one CPU takes 10 % from one thread that
// calculates.
func TestTruthQuota(t *testing.T) {
	testneed.Long(t, "truth")
	testneed.Root(t)
	quota := injured{layers.Cgroup, "quota", func(a environment.Arm) (environment.Arm, error) {
		q := quotaArm{a}
		_, err := q.Settings()
		return q, err
	}}
	e := spinExperiment(70 * time.Second)
	// Whole periods of 100 ms: the quota is granted by the period.
	e.Window, e.Discard = time.Second, 200*time.Millisecond
	truth(t, e, layers.Cgroup, quota, math.Log(0.9))
}

// quotaArm is limited to 90 % of one CPU.
type quotaArm struct{ environment.Arm }

func (q quotaArm) Settings() ([]record.Setting, error) {
	return q.Place().Group.Apply(cgroup.Limits{CPUs: 0.9})
}

// TestTruthDuty: being stopped for one part in a hundred takes 1 %.
func TestTruthDuty(t *testing.T) {
	testneed.Long(t, "truth")
	testneed.Root(t)
	duty := injured{layers.Host, "duty", func(a environment.Arm) (environment.Arm, error) {
		return newDutyArm(a), nil
	}}
	e := spinExperiment(70 * time.Second)
	e.Window, e.Discard = 400*time.Millisecond, 50*time.Millisecond
	truth(t, e, layers.Host, duty, math.Log(0.99))
}

// truth measures the injured arm and wants the true effect in the interval.
// One interval in twenty misses it; the test fails only beyond twice its width,
// or when the interval is too wide to say anything.
func truth(t *testing.T, e *experiment.Experiment, base, hurt environment.Environment, want float64) {
	t.Helper()
	c := catalog(plan.Rung{Environment: base}, plan.Rung{Environment: hurt, On: base.Name()})
	e.Workloads[0].Baseline = base.Name()
	r, out, err := execute(context.Background(), t, e, c)
	if err != nil {
		t.Fatalf("ended by %q: %v", out.Reason, err)
	}
	effects, err := analysis.Analyse(r)
	if err != nil {
		t.Fatal(err)
	}
	x := effects.Effects[0]
	if x.Own == nil {
		t.Fatalf("no interval: %+v", x)
	}
	low, high := math.Log(x.Own.Low), math.Log(x.Own.High)
	t.Logf("pilot: %s; dropped: %+v", effects.Workloads[0].Pilot.Why, effects.Dropped)
	t.Logf("%s: truth %+.2f %%, measured %+.2f %% [%+.2f, %+.2f], %d blocks in %d generations, twin %+v, within its interval: %v",
		hurt.Name(), 100*math.Expm1(want), 100*(x.Own.Ratio-1), 100*(x.Own.Low-1), 100*(x.Own.High-1),
		x.Blocks, x.Generations, effects.Twin[0].Own, low <= want && want <= high)
	half, centre := (high-low)/2, (low+high)/2
	if math.Abs(want-centre) > 2*half {
		t.Errorf("the truth is %.2f half-widths away", math.Abs(want-centre)/half)
	}
	if half > 0.05 {
		t.Errorf("an interval of ±%.1f %% says nothing", 100*half)
	}
}

// dutyArm stops its processes for 1 % of the time in which it is thawed.
type dutyArm struct {
	environment.Arm
	mu   sync.Mutex
	pids []int
	gate *dutyGate
}

func newDutyArm(a environment.Arm) *dutyArm {
	d := &dutyArm{Arm: a}
	d.gate = &dutyGate{Freezer: a.Place().Pause, arm: d, stop: make(chan struct{})}
	return d
}

func (d *dutyArm) Start(ctx context.Context, p environment.Process) (environment.Running, error) {
	r, err := d.Arm.Start(ctx, p)
	if err == nil {
		d.mu.Lock()
		d.pids = append(d.pids, r.Pid())
		d.mu.Unlock()
	}
	return r, err
}

func (d *dutyArm) Place() environment.Place {
	p := d.Arm.Place()
	p.Pause = d.gate
	return p
}

// dutyGate is a freezer that also begins and ends the duty cycle.
type dutyGate struct {
	environment.Freezer
	arm  *dutyArm
	stop chan struct{}
	done chan struct{}
}

func (g *dutyGate) Thaw() error {
	g.stop, g.done = make(chan struct{}), make(chan struct{})
	go g.cycle(g.stop, g.done)
	return g.Freezer.Thaw()
}

func (g *dutyGate) Freeze(timeout time.Duration) error {
	if g.done != nil {
		close(g.stop)
		<-g.done
		g.done = nil
	}
	return g.Freezer.Freeze(timeout)
}

// cycle keeps the stopped share of the elapsed time at 1 in 100, in stops of
// about 1 ms.
func (g *dutyGate) cycle(stop, done chan struct{}) {
	defer close(done)
	_, undo, _ := sched.Protect()
	defer undo()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := sched.Monotonic()
	stopped := int64(0)
	for {
		select {
		case <-stop:
			return
		default:
		}
		sched.SleepUntil(sched.Monotonic() + int64(20*time.Millisecond))
		owed := (sched.Monotonic()-begin)/100 - stopped
		if owed < int64(900*time.Microsecond) {
			continue
		}
		from := sched.Monotonic()
		g.signal(syscall.SIGSTOP)
		sched.SleepUntil(from + owed)
		g.signal(syscall.SIGCONT)
		stopped += sched.Monotonic() - from
	}
}

func (g *dutyGate) signal(s syscall.Signal) {
	g.arm.mu.Lock()
	defer g.arm.mu.Unlock()
	for _, pid := range g.arm.pids {
		syscall.Kill(pid, s)
	}
}

// TestAA runs the baseline against itself 40 times with a short budget and
// prints how often a difference was claimed. It fails only when that is beyond
// what 5 % can explain.
func TestAA(t *testing.T) {
	testneed.Long(t, "aa")
	testneed.Root(t)
	const runs = 40
	claimed, said := 0, 0
	for i := range runs {
		e := spinExperiment(7 * time.Second)
		e.Seed = uint64(100 + i)
		r, out, err := execute(context.Background(), t, e, catalog(plan.Rung{Environment: layers.Host}))
		if err != nil {
			t.Fatalf("run %d ended by %q: %v", i, out.Reason, err)
		}
		effects, err := analysis.Analyse(r)
		if err != nil {
			t.Fatal(err)
		}
		x := effects.Twin[0]
		if x.Own == nil || x.Verdict == record.Invalid {
			t.Logf("run %2d: no interval: %s", i, x.Reason)
			continue
		}
		said++
		different := x.Own.Low > 1 || x.Own.High < 1
		if different {
			claimed++
		}
		t.Logf("run %2d: twin %+.2f %% [%+.2f, %+.2f] %d blocks in %d generations, different: %v",
			i, 100*(x.Own.Ratio-1), 100*(x.Own.Low-1), 100*(x.Own.High-1), x.Blocks, x.Generations, different)
	}
	interval := falsePositives(claimed, said)
	t.Logf("A/A: %d of %d runs claimed a difference: %.1f %% [%.1f, %.1f] at a nominal 5 %%",
		claimed, said, 100*float64(claimed)/float64(said), 100*interval.Lo, 100*interval.Hi)
	if said < runs*3/4 {
		t.Errorf("only %d of %d runs gave an interval", said, runs)
	}
	if interval.Lo > 0.05 {
		t.Errorf("false positives of at least %.1f %% at a nominal 5 %%", 100*interval.Lo)
	}
}

// falsePositives is the exact 99 % interval of their share: forty runs are few,
// and the tier must not fail by chance.
func falsePositives(claimed, of int) stat.Interval { return stat.ClopperPearson(claimed, of, 0.99) }
