package analysis

import (
	"math"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// What the probes say about the rows of a price matrix. A rule speaks only
// where the difference that it names is shown, by the same blocks and launches
// as the effects are, and is large enough to matter.

// scene is one arm against another, as a rule sees it.
type scene struct {
	m            *market
	arm, against string
	// slower and faster say that the arm is shown to be so in the primary metric,
	// by the margin or more.
	slower, faster bool
	shifts         map[string]shift
}

// shift is one observation in both arms, per second of window or per operation.
type shift struct {
	arm, against float64
	more, less   bool // shown
}

// rule is one kind of explanation. It says nothing (an empty text) where the
// probes do not support it. Of the rules for a pair of arms all are asked.
type rule struct {
	name string
	// needs are the observations that it reads; without one of them it is not
	// asked. They are cited with it.
	needs []string
	says  func(s *scene) string
}

// Observations are values of probes; those of the neighbour have a name of
// their own, and those ending in perOp are per operation of the workload.
const (
	neighbourCPU = "neighbour cpu.time"
	perOp        = " per op"
)

// explain asks the rules about the loss without isolation, and about every
// mechanism against that.
func (m market) explain() []record.Explanation {
	out := []record.Explanation{}
	ask := func(arm, against string, rules []rule) {
		s := m.scene(arm, against)
		for _, r := range rules {
			if text := s.ask(r); text != "" {
				out = append(out, record.Explanation{Arm: arm, Against: against, Rule: r.name, Text: text, Evidence: s.cite(r.needs)})
			}
		}
	}
	ask(m.unprotected, m.alone[0], lossRules)
	for i, arm := range m.beside {
		switch {
		case i == 0:
			continue
		case m.classes:
			ask(arm, m.alone[i], lossRules)
			continue
		}
		ask(arm, m.unprotected, mechanismRules)
		ask(arm, m.alone[0], remainingRules)
	}
	return out
}

func (m market) scene(arm, against string) *scene {
	s := &scene{m: &m, arm: arm, against: against, shifts: map[string]shift{}}
	kind, _ := metricOf(m.load, m.load.Primary)
	if p, _ := m.between(m.load.Primary, arm, against); p != nil {
		e := stat.Mean(p.known())
		if e.At(m.level()).Beyond(0) && math.Abs(e.Mean) >= math.Log1p(m.margin) {
			s.faster = (e.Mean > 0) == (kind.better > 0)
			s.slower = !s.faster
		}
	}
	return s
}

func (s *scene) ask(r rule) string {
	for _, name := range r.needs {
		if _, ok := s.shifts[name]; ok {
			continue
		}
		x, ok := s.m.shift(name, s.arm, s.against)
		if !ok {
			return ""
		}
		s.shifts[name] = x
	}
	return r.says(s)
}

func (s *scene) cite(names []string) []record.Evidence {
	var all []record.Evidence
	for _, n := range names {
		e := record.Evidence{Metric: n, Unit: "s", Per: "second", Arm: s.shifts[n].arm, Against: s.shifts[n].against}
		if base, ok := cutPerOp(n); ok {
			e.Metric, e.Per = base, "operation"
		}
		if n == migrations || n == preempted {
			e.Unit = "1"
		}
		all = append(all, e)
	}
	return all
}

func cutPerOp(name string) (string, bool) {
	if n := len(name) - len(perOp); n > 0 && name[n:] == perOp {
		return name[:n], true
	}
	return name, false
}

// shift compares an observation between two arms, block by block. Its error is
// counted over launches, as that of an effect. not ok: it is not known.
func (m market) shift(name, arm, against string) (s shift, ok bool) {
	sums := make([]float64, m.units)
	counts := make([]float64, m.units)
	n := 0.0
	for _, r := range m.rows {
		a, b := observed(r.windows[arm], name), observed(r.windows[against], name)
		if math.IsNaN(a) || math.IsNaN(b) {
			continue
		}
		s.arm, s.against, n = s.arm+a, s.against+b, n+1
		sums[r.unit] += a - b
		counts[r.unit]++
	}
	if n == 0 {
		return s, false
	}
	s.arm, s.against = s.arm/n, s.against/n
	var means []float64
	for u := range sums {
		if counts[u] > 0 {
			means = append(means, sums[u]/counts[u])
		}
	}
	i := stat.Mean(means).At(m.level())
	s.more, s.less = i.Lo > 0, i.Hi < 0
	return s, true
}

// observed is one observation of a window; NaN where there is none. A neighbour
// that is not there used nothing.
func observed(w *record.Window, name string) float64 {
	if w == nil || !(w.Seconds > 0) {
		return math.NaN()
	}
	if name == neighbourCPU {
		if w.Neighbour == nil {
			return 0
		}
		x, ok := w.Neighbour[record.NeighbourCPU].Get()
		if !ok {
			return math.NaN()
		}
		return x / w.Seconds
	}
	base, each := cutPerOp(name)
	x, ok := w.Probes[base].Get()
	switch {
	case !ok || each && w.Ops == 0:
		return math.NaN()
	case each:
		return x / float64(w.Ops)
	}
	return x / w.Seconds
}
