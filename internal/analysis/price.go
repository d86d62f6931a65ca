package analysis

import (
	"maps"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// market is the arms of one workload beside one neighbour that differ in
// nothing but the isolation, with the arm alone.
type market struct {
	*table
	pairs       map[string]map[string]pair
	effects     []record.Effect
	margin      float64
	neighbour   record.Neighbour
	unprotected string
	beside      []string // the arms with the neighbour, the unprotected one first
	alone       []string // those without it, beside which each of them stands
	classes     bool     // they differ in the environment, and not in the isolation
}

// prices are the price matrices of a workload: one for each neighbour, and for
// each environment, volume and set of parameters that it stands beside.
func prices(t *table, pairs map[string]map[string]pair, out *record.Effects, invalid string) []record.Price {
	var all []record.Price
	for _, m := range markets(t) {
		m.pairs, m.effects, m.margin = pairs, out.Effects, out.Margin
		p := m.price()
		if p.Invalid = invalid; invalid != "" {
			p.Explained = []record.Explanation{}
			for i := range p.Rows {
				p.Rows[i].Standing, p.Rows[i].By = record.StandingOpen, nil
			}
		}
		all = append(all, p)
	}
	return all
}

// markets groups the arms. One without both ends of the loss, or without any
// mechanism, is none.
func markets(t *table) []market {
	var all []market
	for _, a := range t.load.Arms {
		if !bare(a) || a.Neighbour == "" || a.Twin {
			continue
		}
		m := market{table: t, unprotected: a.Name, beside: []string{a.Name}, neighbour: neighbourOf(t.load, a)}
		for _, b := range t.load.Arms {
			if !b.Twin && sameGround(a, b) && b.Neighbour == a.Neighbour && !bare(b) {
				m.beside = append(m.beside, b.Name)
			}
		}
		alone, ok := without(t.load, a)
		for range m.beside {
			m.alone = append(m.alone, alone)
		}
		if ok && len(m.beside) > 1 {
			all = append(all, m)
		}
	}
	return append(all, classMarkets(t)...)
}

// classMarkets groups the arms beside each neighbour in a pod: what protects from
// that is what the node's kubelet sets, the environments. The first arm is what
// the others are measured by.
func classMarkets(t *table) []market {
	var all []market
	for _, n := range t.load.Neighbours {
		if n.Environment == "" {
			continue
		}
		m := market{table: t, neighbour: n, classes: true}
		for _, a := range t.load.Arms {
			alone, ok := without(t.load, a)
			if a.Neighbour == n.Name && !a.Twin && bare(a) && ok {
				m.beside, m.alone = append(m.beside, a.Name), append(m.alone, alone)
			}
		}
		if len(m.beside) > 0 {
			m.unprotected = m.beside[0]
			all = append(all, m)
		}
	}
	return all
}

// without is the arm that differs from one in having no neighbour.
func without(load record.Workload, a record.Arm) (string, bool) {
	for _, b := range load.Arms {
		if !b.Twin && b.Neighbour == "" && bare(b) && sameGround(a, b) {
			return b.Name, true
		}
	}
	return "", false
}

func neighbourOf(load record.Workload, a record.Arm) record.Neighbour {
	for _, n := range load.Neighbours {
		if n.Name == a.Neighbour {
			return n
		}
	}
	return record.Neighbour{}
}

// bare says that nothing protects the arm.
func bare(a record.Arm) bool {
	return !slices.ContainsFunc(a.Isolation, func(name string) bool { return name != "none" })
}

func sameGround(a, b record.Arm) bool {
	return a.Environment == b.Environment && a.Volume == b.Volume && a.Network == b.Network &&
		a.Seccomp == b.Seccomp && a.Capabilities == b.Capabilities && a.Image == b.Image && maps.Equal(a.Set, b.Set)
}

func (m market) price() record.Price {
	p := record.Price{
		Workload: m.load.Name, Neighbour: m.neighbour, Alone: m.alone[0], Unprotected: m.unprotected,
		Primary: m.load.Primary, Metrics: []string{m.load.Primary},
	}
	for _, name := range m.load.Metrics {
		if name == m.load.Primary {
			continue
		}
		if metrics[name].quantile > 0 || name == "throughput" {
			p.Metrics = append(p.Metrics, name)
		}
	}
	for i, name := range m.beside {
		row := record.PriceRow{Arm: name, Isolation: append([]string{}, m.arm(name).Isolation...)}
		if m.classes {
			row.Environment, row.Alone = m.arm(name).Environment, m.alone[i]
		}
		p.Rows = append(p.Rows, row)
	}
	for _, name := range p.Metrics {
		for i, r := range m.regained(name) {
			p.Rows[i].Back = append(p.Rows[i].Back, r)
		}
	}
	work := m.work()
	for i := range p.Rows {
		row := &p.Rows[i]
		row.Work, row.Kept, row.Reason = work.did(i), work.kept(i, m.level()), work.why[i]
	}
	m.stand(p.Rows, work)
	p.Explained = m.explain()
	return p
}

// toBaseline is the typical pseudo-values of an arm against the baseline of the
// workload; the baseline itself differs by nothing.
func (m market) toBaseline(metric, arm string) (pseudo, string) {
	if arm == m.load.Baseline {
		return make(pseudo, m.units), ""
	}
	p := m.pairs[metric][arm]
	return p.typical, p.why
}

// between is the typical pseudo-values of one arm against another.
func (m market) between(metric, arm, base string) (pseudo, string) {
	a, why := m.toBaseline(metric, arm)
	if a == nil {
		return nil, why
	}
	b, why := m.toBaseline(metric, base)
	if b == nil {
		return nil, why
	}
	return a.less(b), ""
}

// regained is one metric of all rows.
func (m market) regained(name string) []record.Regained {
	out := make([]record.Regained, len(m.beside))
	kind, _ := metricOf(m.load, name)
	loss := make([]pseudo, len(m.beside))
	for i, arm := range m.beside {
		out[i].Metric = name
		loss[i], out[i].Reason = m.between(name, arm, m.alone[i])
	}
	m.ratios(out, name, m.alone, func(r *record.Regained) **record.Ratio { return &r.Alone })
	unprotected := slices.Repeat([]string{m.unprotected}, len(m.beside))
	m.ratios(out, name, unprotected, func(r *record.Regained) **record.Ratio { return &r.Unprotected })
	m.shares(out, loss, kind)
	return out
}

// ratios fills one column of the rows, each against a base of its own. What the
// ladder shows already is taken from there: the same number twice, with other
// intervals, would be a riddle.
func (m market) ratios(out []record.Regained, name string, base []string, at func(*record.Regained) **record.Ratio) {
	var columns [][]float64
	var rows []int
	for i, arm := range m.beside {
		if base[i] == m.load.Baseline {
			*at(&out[i]) = m.onLadder(name, arm)
			continue
		}
		if p, _ := m.between(name, arm, base[i]); p != nil && arm != base[i] {
			columns, rows = append(columns, p.known()), append(rows, i)
		}
	}
	joint := stat.Family(columns)
	for c, i := range rows {
		interval := joint.Interval(c, m.level())
		if name != m.load.Primary {
			interval = joint.Columns[c].At(m.level())
		}
		*at(&out[i]) = shown(joint.Columns[c], interval)
	}
}

// onLadder is the typical effect of an arm against the baseline.
func (m market) onLadder(metric, arm string) *record.Ratio {
	for _, e := range m.effects {
		if e.Workload == m.load.Name && e.Metric == metric && e.Arm == arm && e.Baseline == m.load.Baseline {
			return e.Typical
		}
	}
	return nil
}

// shares fills in the part of the loss that each mechanism gives back.
func (m market) shares(out []record.Regained, loss []pseudo, kind metric) {
	plain := loss[0]
	if plain == nil {
		return
	}
	e := stat.Mean(plain.known())
	if i := e.At(m.level()); !i.Beyond(0) || (e.Mean > 0) == (kind.better > 0) {
		for r := range out[1:] {
			if out[r+1].Reason == "" {
				out[r+1].Reason = "no loss without isolation is shown"
			}
		}
		return
	}
	var columns [][]float64
	var rows []int
	for i := 1; i < len(loss); i++ {
		if loss[i] != nil {
			columns, rows = append(columns, linear(loss[i])), append(rows, i)
		}
	}
	whole := linear(plain)
	for c, i := range rows {
		if s := regain(columns, whole, c, m.level()); s != nil {
			out[i].Share = s
		} else {
			out[i].Reason = "the noise is too large for a share"
		}
	}
}

// linear turns pseudo-values of ln(arm/alone) into those of the loss itself, 1 -
// arm/alone: shares are of operations and of seconds, not of their logarithms.
// First order (the delta method).
func linear(p pseudo) []float64 {
	known := p.known()
	mean := stat.Mean(known).Mean
	ratio := math.Exp(mean)
	out := make([]float64, len(p))
	for i, x := range p {
		out[i] = 1 - ratio*(1+x-mean)
	}
	return out
}

// farthest is the largest share, either way, to which an interval is followed:
// beyond 1000 % it says nothing.
const farthest = 10

// regain is 1 - loss[c]/whole with the interval of Fieller (1954, J. R. Stat.
// Soc. B 16:175): every share that a test of loss[c] - share*whole = 0 does not
// refuse. The variance is moderated over the columns, see stat.Family. nil when
// the interval has no end.
func regain(loss [][]float64, whole []float64, c int, level float64) *record.Share {
	test := func(theta float64) (e stat.Estimate) {
		columns := make([][]float64, len(loss))
		for i := range loss {
			for u, x := range loss[i] {
				if d := x - theta*whole[u]; !math.IsNaN(d) {
					columns[i] = append(columns[i], d)
				}
			}
		}
		return stat.Family(columns).Columns[c]
	}
	kept := func(theta float64) bool {
		e := test(theta)
		return !e.Known() || math.Abs(e.Mean) <= e.Crit(level)*e.SE
	}
	top, bottom := test(0), stat.Mean(pseudo(whole).known())
	if !top.Known() || !bottom.Known() {
		return nil
	}
	theta := top.Mean / bottom.Mean
	step := max(math.Abs(top.SE/bottom.Mean), 1e-4)
	low, ok := end(kept, theta, -step)
	high, also := end(kept, theta, step)
	if !ok || !also {
		return nil
	}
	return &record.Share{Share: 1 - theta, Low: 1 - high, High: 1 - low}
}

// end is where a range that holds at from ends in the direction of step.
func end(holds func(float64) bool, from, step float64) (float64, bool) {
	in, out := from, from+step
	for ; holds(out); step *= 2 {
		if math.Abs(out-from) > farthest {
			return 0, false
		}
		in, out = out, out+2*step
	}
	for math.Abs(out-in) > 1e-4 {
		if middle := (in + out) / 2; holds(middle) {
			in = middle
		} else {
			out = middle
		}
	}
	return in, true
}
