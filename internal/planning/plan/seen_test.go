package plan

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/record"
)

// made is a record that is made from known times.
type made struct {
	result record.Result
	at     float64
}

// launch adds a launch of a load after so much time, with blocks whose windows take slot seconds.
func (m *made) launch(load string, number int, after float64, blocks int, slot float64, arms ...string) {
	m.at += after
	for b := range blocks {
		block := record.Block{Workload: load, Generation: number, Number: b}
		for _, a := range arms {
			block.Windows = append(block.Windows, record.Window{Arm: a, Start: m.at, Seconds: slot, Ops: 10})
			m.at += slot
		}
		m.result.Lines = append(m.result.Lines, record.Line{Block: &block})
	}
}

func (m *made) load(name string, arms ...string) {
	w := record.Workload{Name: name, Primary: "throughput", Params: map[string]string{"threads": "4"}}
	for _, a := range arms {
		w.Arms = append(w.Arms, record.Arm{Name: a, Environment: a})
	}
	m.result.Plan.Workloads = append(m.result.Plan.Workloads, w)
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, math.Abs(b)) }

// The times that made a record are found in it: until the first window without the making of data, from launch to launch,
// and of a window. Where there are launches of all arms, those of a first pass, which have fewer, do not count, nor does the
// time between two runs.
func TestSeenInFindsTheTimes(t *testing.T) {
	all, few := []string{"host", "twin", "container"}, []string{"host", "twin"}
	rapid.Check(t, func(t *rapid.T) {
		second := func(name string) float64 { return rapid.Float64Range(0.01, 90).Draw(t, name) }
		m := &made{}
		m.load("a", all...)
		m.load("b", all...)
		m.load("never", few...)
		m.result.Manifest.Started = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		m.result.Lines = append(m.result.Lines, record.Line{Run: &record.Run{}})
		begin, data, slot, gap, launches := second("begin"), second("data"), second("slot"), second("gap"), rapid.IntRange(1, 5).Draw(t, "launches")
		m.result.Manifest.Data = []record.DataSet{{Workload: "a", Key: "k", Seconds: data, Made: true}, {Workload: "b", Key: "k", Seconds: data}}
		next, span := begin+data, 0.0
		if rapid.Bool().Draw(t, "first pass") {
			m.launch("a", 0, next, 2, slot, few...)
			m.launch("a", 1, 7*gap, 2, slot, few...)
			m.launch("b", 0, begin, 2, slot, all...)
			next, span = 100, 8*slot+7*gap
		}
		m.launch("a", 2, next, 2, slot, all...)
		for n := 1; n < launches; n++ {
			m.launch("a", 2+n, gap, 3, slot, all...)
		}
		m.result.Lines = append(m.result.Lines, record.Line{Run: &record.Run{}})
		m.launch("a", 9, 1000, 1, slot, all...)
		seen, err := SeenIn(&m.result, &record.Effects{})
		if err != nil || len(seen) != 3 {
			t.Fatal(err, seen)
		}
		a, launch := seen[0], gap
		switch {
		case span > 0: // the first launch of the second pass is one of all arms
			launch = (next + float64(launches-1)*gap) / float64(launches)
		case launches == 1:
			launch = begin
		}
		if !near(a.Begin, begin) || !near(a.Launch, launch) || !near(a.Slot, slot) || a.Instances != 3 || a.Newest != "2026-01-02T03:04:05Z" {
			t.Errorf("%+v of begin %v, launch %v, slot %v", a, begin, launch, slot)
		}
		windows := float64(2 + 3*(launches-1) + 1)
		span += 3*windows*slot + float64(launches-1)*gap
		if !near(a.Windows, windows/span) || !near(a.Operations, 10*windows/span) || !near(a.Seconds, span/3) {
			t.Errorf("%+v of %v windows in %v s", a, windows, span)
		}
		if seen[1].Begin != 0 && !near(seen[1].Begin, begin) || seen[2].Begin != 0 {
			t.Errorf("%+v", seen[1:])
		}
	})
}

// A launch of fewer arms is all that is known of a run that ended in its first pass.
func TestSeenInScalesLaunches(t *testing.T) {
	m := &made{}
	m.load("a", "host", "twin", "x", "y")
	m.result.Lines = append(m.result.Lines, record.Line{Run: &record.Run{}})
	m.launch("a", 0, 9, 2, 0.1, "host", "twin")
	m.launch("a", 1, 3, 2, 0.1, "host", "twin")
	seen, err := SeenIn(&m.result, &record.Effects{})
	if err != nil || !near(seen[0].Launch, 6) || seen[0].Operations != 0 {
		t.Errorf("%v %+v", err, seen)
	}
}

// The widths are those of the arms with enough launches for a verdict.
func TestSeenInFindsTheWidths(t *testing.T) {
	m := &made{}
	m.load("a", "host", "container")
	m.result.Lines = append(m.result.Lines, record.Line{Run: &record.Run{}})
	m.launch("a", 0, 3, 2, 0.1, "host", "container")
	effect := func(metric string, launches int, low, high float64) record.Effect {
		return record.Effect{Workload: "a", Metric: metric, Generations: launches, Typical: &record.Ratio{Ratio: 1, Low: low, High: high}}
	}
	e := &record.Effects{Effects: []record.Effect{
		effect("throughput", 4, 0.5, 0.72), effect("throughput", 9, 1, 1.21), effect("throughput", 3, 0.1, 10), effect("p99", 4, 0.1, 10),
		{Workload: "a", Metric: "throughput", Generations: 4},
	}}
	seen, err := SeenIn(&m.result, e)
	if err != nil || !near(seen[0].Narrowest, 0.1) || !near(seen[0].Widest, 0.2) {
		t.Errorf("%v %+v", err, seen)
	}
	m.result.Plan.Workloads[0].Question, e.Effects[1].Arm = "container", "container"
	if seen, err = SeenIn(&m.result, e); err != nil || !near(seen[0].Narrowest, 0.1) || !near(seen[0].Widest, 0.1) {
		t.Errorf("with a question: %v %+v", err, seen)
	}
}

// seen is what a run of a load with these places showed.
func seen(launch float64, params string, places ...string) Seen {
	s := Seen{Load: "a", Params: map[string]string{"threads": params}, Places: places, Instances: len(places)}
	s.Known = record.Known{Runs: 1, Newest: fmt.Sprint(launch), Begin: 2 * launch, Launch: launch, Slot: 0.1, Operations: launch, Windows: 1, Narrowest: 0.01, Widest: 0.02, Seconds: 10}
	return s
}

// knowing is a plan of a load with arms in these environments.
func knowing(environments ...string) *Plan {
	p := reaching(len(environments), 100)
	l := &p.Loads[0]
	l.Params = map[string]string{"threads": "4"}
	for _, e := range environments {
		l.Workload.Arms = append(l.Workload.Arms, record.Arm{Name: e, Environment: e})
	}
	return p
}

func TestKnow(t *testing.T) {
	host, runc, docker := "host   ", "runc   ", "docker   "
	nothing := seen(1, "4", host, runc)
	nothing.Begin = 0
	wrong := seen(1, "4", host, runc)
	wrong.Launch = math.NaN()
	for what, c := range map[string]struct {
		runs                     []Seen
		launch, operations, wide float64 // launch 0: nothing is known
	}{
		"none":                      {nil, 0, 0, 0},
		"of one":                    {[]Seen{seen(8, "4", host, runc)}, 8, 8, 0.02},
		"the longest of the newest": {[]Seen{seen(90, "4", host, runc), seen(7, "4", host, runc), seen(9, "4", host, runc), seen(8, "4", host, runc)}, 9, 7, 0.02},
		"an arm that was not there": {[]Seen{seen(8, "4", host, docker)}, 0, 0, 0},
		"more arms":                 {[]Seen{seen(8, "4", host, runc, docker, "x")}, 4, 8, 0.02},
		"other parameters":          {[]Seen{seen(8, "64", host, runc)}, 8, 0, 0},
		"the same before others":    {[]Seen{seen(8, "4", host, runc), seen(90, "64", host, runc)}, 8, 8, 0.02},
		"no window":                 {[]Seen{nothing}, 0, 0, 0},
		"damaged":                   {[]Seen{wrong}, 0, 0, 0},
	} {
		p := knowing("host", "runc")
		p.Know(map[string][]Seen{"a": c.runs}, func(string) bool { return true })
		k := p.Loads[0].Known
		switch {
		case c.launch == 0 && k != nil:
			t.Errorf("%s: %+v", what, k)
		case c.launch == 0:
		case k == nil || !near(k.Launch, c.launch) || !near(k.Operations, c.operations) || !near(k.Widest, c.wide):
			t.Errorf("%s: %+v", what, k)
		case p.Record.Workloads[0].Known != k:
			t.Errorf("%s: plan.json has %+v", what, p.Record.Workloads[0].Known)
		}
	}
}

// Widths of runs of different length are compared as if they had had the same time.
func TestKnowScalesWidths(t *testing.T) {
	old, newer := seen(8, "4", "host   "), seen(8, "4", "host   ")
	old.Narrowest, old.Widest, old.Seconds = 0.1, 0.2, 10
	newer.Narrowest, newer.Widest, newer.Seconds = 0.06, 0.07, 40
	p := knowing("host")
	p.Know(map[string][]Seen{"a": {old, newer}}, func(string) bool { return true })
	if k := p.Loads[0].Known; !near(k.Narrowest, 0.05) || !near(k.Widest, 0.1) || k.Seconds != 40 || k.Runs != 2 {
		t.Errorf("%+v", k)
	}
}

// The time of making data counts where it is not in the cache, once for loads that share it.
func TestKnowCountsDataOnce(t *testing.T) {
	run := seen(8, "4", "host   ")
	run.Data = []record.DataSet{{Key: "k", Seconds: 500}}
	for _, cached := range []bool{false, true} {
		p := knowing("host")
		p.Loads = append(p.Loads, p.Loads[0])
		p.Loads[0].Share, p.Loads[1].Share, p.Loads[1].Name = 1, 1, "b"
		p.Know(map[string][]Seen{"a": {run}, "b": {run}}, func(key string) bool { return cached && key == "k" })
		want := map[bool]float64{false: 500}[cached]
		if a, b := p.Loads[0].Known.Data, p.Loads[1].Known.Data; a != want || b != 0 {
			t.Errorf("cached %v: %v and %v s", cached, a, b)
		}
		least, _ := p.Deciding()
		if (least > 1000*time.Second) == cached { // half of the time is the first load's
			t.Errorf("cached %v: %v", cached, least)
		}
	}
}
