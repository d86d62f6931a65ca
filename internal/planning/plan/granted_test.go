package plan

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/isolation"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/record"
)

// granted models the kernel's bandwidth control (kernel/sched/fair.c). It returns the CPU time, in
// ticks of 0.1 ms, that one thread which always wants to run has in a window after a thaw, under a
// quota with a period of 100 ms. The runtime is full at the thaw and refilled by the timer of the
// group, whose phase the thaw does not change. The thread draws from it in slices of 5 ms, the rest
// of which outlives a period.
func granted(quota, phase int, discard, window time.Duration) int {
	const period, slice = 1000, 50
	tick := func(d time.Duration) int { return int(d / (100 * time.Microsecond)) }
	account, held, got := quota, 0, 0
	for t := range tick(discard + window) {
		if t%period == phase {
			account = quota
		}
		if held == 0 {
			held = min(slice, account)
			account -= held
		}
		if held > 0 {
			held--
			if t >= tick(discard) {
				got++
			}
		}
	}
	return got
}

// A window that opens soon after a thaw has more CPU time than the quota grants. A window that
// opens after Settle has what it grants, whatever the phase.
func TestAQuotaHasItsShare(t *testing.T) {
	l := Load{Arms: []PlannedArm{{}, {Limits: cgroup.Limits{CPUs: 0.5}}}}
	share := func(quota int, discard, window time.Duration) float64 {
		rng, sum := rand.New(rand.NewPCG(1, uint64(quota))), 0
		const times = 2000
		for range times {
			sum += granted(quota, rng.IntN(1000), discard, window)
		}
		return float64(sum) / times / float64(window/(100*time.Microsecond))
	}
	for _, quota := range []int{100, 250, 500, 750, 900, 950, 980} {
		want := float64(quota) / 1000
		if got := share(quota, l.Settle(), l.Shortest()); math.Abs(got-want) > 0.005 {
			t.Errorf("a quota of %.2f has %.3f in windows of %s after %s", want, got, l.Shortest(), l.Settle())
		}
	}
	if got := share(500, 20*time.Millisecond, 100*time.Millisecond); got < 0.62 || got > 0.68 {
		t.Errorf("after 20 ms a quota of 0.5 has %.3f in windows of 100 ms; measured were 0.66", got)
	}
}

func TestWhatIsGrantedByThePeriod(t *testing.T) {
	for name, c := range map[string]struct {
		arm            PlannedArm
		settle, window time.Duration
	}{
		"nothing":            {PlannedArm{}, 0, 10 * time.Millisecond},
		"memory":             {PlannedArm{Limits: cgroup.Limits{Memory: 1 << 30}}, 0, 10 * time.Millisecond},
		"cpus":               {PlannedArm{Limits: cgroup.Limits{CPUs: 2}}, 200 * time.Millisecond, 200 * time.Millisecond},
		"an environment's":   {PlannedArm{Env: limited{}}, 200 * time.Millisecond, 200 * time.Millisecond},
		"a neighbour's":      {PlannedArm{Neighbour: &Neighbour{Env: limited{}}}, 200 * time.Millisecond, 200 * time.Millisecond},
		"a neighbour":        {PlannedArm{Neighbour: &Neighbour{}}, 96 * time.Millisecond, 100 * time.Millisecond},
		"a mechanism's":      {PlannedArm{Neighbour: &Neighbour{}, Isolation: settingsOf(t, "cpu.quota", "25%")}, 200 * time.Millisecond, 200 * time.Millisecond},
		"a mechanism's, I/O": {PlannedArm{Neighbour: &Neighbour{}, Isolation: settingsOf(t, "io.max", "1MiB/s")}, 200 * time.Millisecond, 200 * time.Millisecond},
		"a weight":           {PlannedArm{Neighbour: &Neighbour{}, Isolation: settingsOf(t, "cpu.weight", "10")}, 96 * time.Millisecond, 100 * time.Millisecond},
	} {
		l := Load{Arms: []PlannedArm{{}, c.arm}}
		if l.Settle() != c.settle || l.Shortest() != c.window {
			t.Errorf("%s: settle time %s, window %s; want %s, %s", name, l.Settle(), l.Shortest(), c.settle, c.window)
		}
	}
}

type limited struct{ environment.Environment }

func (limited) Capabilities() environment.Capabilities { return environment.Capabilities{Quota: true} }

func settingsOf(t *testing.T, name, level string) []isolation.Settings {
	t.Helper()
	for _, m := range isolation.All() {
		if m.Describe().Name == name {
			s, err := m.Settings(level, facts.Host{Control: facts.Control{CPUs: []int{0, 1}, Disk: "8:0"}})
			if err != nil {
				t.Fatal(err)
			}
			return []isolation.Settings{s}
		}
	}
	t.Fatalf("no mechanism %s", name)
	return nil
}

// With a quota the pilot takes that settle time and whole periods, whatever it saw. Fixed lengths
// stay, and longer windows keep the settle time.
func TestTuneForAQuota(t *testing.T) {
	l := Load{Arms: []PlannedArm{{}, {Limits: cgroup.Limits{CPUs: 0.5}}}}
	for _, budget := range []time.Duration{8 * time.Second, time.Minute, 10 * time.Minute} {
		o := observed(budget, traces(1, 4, 20e3, 0.01, 0, 0.5, 60*time.Millisecond))
		o.Least, o.Settle = l.Shortest(), l.Settle()
		got, p := Tune(o, Lengths{})
		if got.Discard != l.Settle() || got.Window < l.Shortest() || got.Window%quotaPeriod != 0 || !strings.Contains(said.English(p.Why), "200 ms of settle time") {
			t.Errorf("%s: %+v: %s", budget, got, p.Why)
		}
		if longer, ok := Longer(o, got); ok && (longer.Discard < l.Settle() || longer.Window <= got.Window) {
			t.Errorf("%s: longer than %+v is %+v", budget, got, longer)
		}
		if got, _ := Tune(o, Lengths{Discard: 20 * time.Millisecond, Window: 50 * time.Millisecond}); got.Discard != 20*time.Millisecond || got.Window != 50*time.Millisecond {
			t.Errorf("fixed lengths became %+v", got)
		}
		w, _ := TuneWindowed(o, workload.Windowed{Usual: time.Second, Least: 200 * time.Millisecond, Discard: 50 * time.Millisecond}, Lengths{})
		if w.Discard != l.Settle() {
			t.Errorf("a tool's window has a settle time of %s", w.Discard)
		}
	}
}

// Beside a neighbour the pilot still looks for a transient, and the settle time is no shorter than
// the load averages need.
func TestTuneBesideANeighbour(t *testing.T) {
	l := Load{Arms: []PlannedArm{{}, {Neighbour: &Neighbour{}}}}
	for _, c := range []struct {
		own float64 // transient of one arm
		tau time.Duration
	}{{0, time.Millisecond}, {0.5, 60 * time.Millisecond}} {
		o := observed(time.Minute, traces(1, 4, 20e3, 0.01, 0, c.own, c.tau))
		o.Least, o.Settle = l.Shortest(), l.Settle()
		got, p := Tune(o, Lengths{})
		if got.Discard < l.Settle() || got.Window < l.Shortest() || len(p.Thaws) == 0 {
			t.Errorf("a transient of %.1f: %+v, %d looks: %s", c.own, got, len(p.Thaws), p.Why)
		}
		if beside := strings.Contains(said.English(p.Why), "96 ms of settle time beside a neighbour"); beside != (c.own == 0) {
			t.Errorf("a transient of %.1f: %s", c.own, p.Why)
		}
	}
}

// A tool's window that the budget makes shorter still holds whole periods.
// Beside other processes arms that compete in different ways wait for the kernel's load averages.
// Arms that compete alike do not: the transient is the same in all.
func TestSettleBesideOtherWork(t *testing.T) {
	arm := func(runsAs string, mechanisms int) PlannedArm {
		return PlannedArm{Arm: record.Arm{RunsAs: runsAs}, Isolation: make([]isolation.Settings, mechanisms)}
	}
	for _, c := range []struct {
		arms []PlannedArm
		want time.Duration
	}{
		{[]PlannedArm{arm(record.AsService, 0), arm(record.AsService, 0), arm("", 0)}, 0},
		{[]PlannedArm{arm(record.AsSession, 0), arm(record.AsSession, 0)}, 0},
		{[]PlannedArm{arm(record.AsService, 0), arm(record.AsProcess, 0)}, 96 * time.Millisecond},
		{[]PlannedArm{arm(record.AsSession, 0), arm("", 0)}, 96 * time.Millisecond},
		{[]PlannedArm{arm(record.AsService, 0), arm(record.AsService, 1)}, 96 * time.Millisecond},
	} {
		l := Load{Arms: c.arms}
		if got := l.SettleBesideWork(); got != c.want {
			t.Errorf("%+v: %v, want %v", c.arms, got, c.want)
		}
	}
	for share, want := range map[float64]bool{0.05: false, 0.5: true} {
		o := observed(time.Minute, traces(5, 3, 40000, 0.01, 0, 0, time.Millisecond))
		o.BesideWork = 96 * time.Millisecond
		for i := range o.Traces {
			o.Traces[i].OtherWork = share
		}
		l, p := Tune(o, Lengths{})
		if longer := l.Discard >= o.BesideWork; longer != want || strings.Contains(said.English(p.Why), "other processes") != want {
			t.Errorf("other processes use %v of the CPUs: %v, %q", share, l.Discard, p.Why)
		}
	}
}

func TestToolsWindowsAreWholePeriods(t *testing.T) {
	asked := workload.Windowed{Usual: 500 * time.Millisecond, Least: 100 * time.Millisecond, Discard: 50 * time.Millisecond}
	o := observed(20*time.Second, traces(1, 4, 20e3, 0.01, 0, 0, time.Millisecond))
	l := Load{Arms: []PlannedArm{{}, {Limits: cgroup.Limits{CPUs: 0.5}}}}
	o.Least, o.Settle = l.Shortest(), l.Settle()
	if got, _ := TuneWindowed(o, asked, Lengths{}); got.Window != 200*time.Millisecond {
		t.Errorf("a window of %s", got.Window)
	}
}

// The least budget has room for a window of every arm with its settle time.
func TestLeastWithAQuota(t *testing.T) {
	with := Plan{Loads: []Load{{Arms: []PlannedArm{{}, {Limits: cgroup.Limits{CPUs: 0.5}}}}}}
	without := Plan{Loads: []Load{{Arms: []PlannedArm{{}, {}}}}}
	if more := with.Least() - without.Least(); more != 2*400*time.Millisecond {
		t.Errorf("two arms with a quota need %s more", more)
	}
}
