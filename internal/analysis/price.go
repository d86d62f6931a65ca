package analysis

import (
	"maps"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// isolationGroup is the arms of one workload beside one neighbour that differ only in the
// isolation, and the arm alone.
type isolationGroup struct {
	*table
	fits        map[string]*fits
	effects     []record.Effect
	judging     compared // of any metric, without its fits
	neighbour   record.Neighbour
	unprotected string
	beside      []string // the arms with the neighbour, the unprotected one first
	alone       []string // for each of beside, the arm without the neighbour
	classes     bool     // the arms differ in the class of their pod instead of the isolation
}

// prices returns the trade-off tables of a workload: one for each neighbour with each environment,
// volume and set of parameters.
func prices(judging compared, all map[string]*fits, effects []record.Effect) []record.Price {
	var list []record.Price
	for _, g := range isolationGroups(judging.table) {
		g.fits, g.effects, g.judging = all, effects, judging
		p := g.price()
		if p.Invalid = g.invalid(); !p.Invalid.IsZero() {
			p.Explained = []record.Explanation{}
		}
		list = append(list, p)
	}
	return list
}

// invalid is the reason of the first invalid effect of an arm beside the neighbour; nothing if no effect
// is invalid.
func (g isolationGroup) invalid() record.Said {
	for _, e := range g.effects {
		if e.Workload == g.load.Name && e.Metric == g.load.Primary && e.Verdict == record.Invalid && slices.Contains(g.beside, e.Arm) {
			return e.Reason
		}
	}
	return record.Said{}
}

// isolationGroups groups the arms. A group needs an arm alone, an unprotected arm and a
// mechanism.
func isolationGroups(t *table) []isolationGroup {
	var all []isolationGroup
	for _, a := range t.load.Arms {
		if !bare(a) || a.Neighbour == "" || a.Twin {
			continue
		}
		g := isolationGroup{table: t, unprotected: a.Name, beside: []string{a.Name}, neighbour: neighbourOf(t.load, a)}
		for _, b := range t.load.Arms {
			if !b.Twin && sameGround(a, b) && b.Neighbour == a.Neighbour && !bare(b) {
				g.beside = append(g.beside, b.Name)
			}
		}
		alone, ok := without(t.load, a)
		for range g.beside {
			g.alone = append(g.alone, alone)
		}
		if ok && len(g.beside) > 1 {
			all = append(all, g)
		}
	}
	return append(all, classGroups(t)...)
}

// classGroups groups the arms beside each neighbour in a pod. There the isolation is what the
// kubelet sets, so arms differ in their environments. The first arm takes the place of the
// unprotected one.
func classGroups(t *table) []isolationGroup {
	var all []isolationGroup
	for _, n := range t.load.Neighbours {
		if n.Environment == "" {
			continue
		}
		g := isolationGroup{table: t, neighbour: n, classes: true}
		for _, a := range t.load.Arms {
			alone, ok := without(t.load, a)
			if a.Neighbour == n.Name && !a.Twin && bare(a) && ok {
				g.beside, g.alone = append(g.beside, a.Name), append(g.alone, alone)
			}
		}
		if len(g.beside) > 0 {
			g.unprotected = g.beside[0]
			all = append(all, g)
		}
	}
	return all
}

// without returns the arm that differs from a only in having no neighbour.
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

// bare reports whether an arm has no isolation.
func bare(a record.Arm) bool {
	return !slices.ContainsFunc(a.Isolation, func(name string) bool { return name != "none" })
}

// sameGround reports whether two arms differ at most in their neighbour and isolation.
func sameGround(a, b record.Arm) bool {
	return slices.Equal(a.Chosen(), b.Chosen()) && maps.Equal(a.Set, b.Set)
}

func (g isolationGroup) price() record.Price {
	p := record.Price{
		Workload: g.load.Name, Neighbour: g.neighbour, Alone: g.alone[0], Unprotected: g.unprotected,
		Primary: g.load.Primary, Metrics: []string{g.load.Primary},
	}
	for _, name := range g.load.Metrics {
		if name == g.load.Primary {
			continue
		}
		if k, _ := g.measureOf(name); k.Quantile > 0 || name == metric.Throughput.Name {
			p.Metrics = append(p.Metrics, name)
		}
	}
	for i, name := range g.beside {
		row := record.PriceRow{Arm: name, Isolation: append([]string{}, g.arm(name).Isolation...)}
		if g.classes {
			row.Environment, row.Alone = g.arm(name).Environment, g.alone[i]
		}
		p.Rows = append(p.Rows, row)
	}
	for _, name := range p.Metrics {
		for i, r := range g.regained(name) {
			p.Rows[i].Back = append(p.Rows[i].Back, r)
		}
	}
	work := g.work()
	for i := range p.Rows {
		row := &p.Rows[i]
		row.Work, row.Kept, row.Reason = work.did(i), work.kept(i, 1-g.alpha), work.why[i]
	}
	p.Explained = g.explain()
	return p
}

// regained returns the cells of one metric, for all rows.
func (g isolationGroup) regained(name string) []record.Regained {
	out := make([]record.Regained, len(g.beside))
	f := g.fits[name]
	for i, arm := range g.beside {
		out[i].Metric = name
		if f == nil {
			out[i].Reason = unknownMetric
			continue
		}
		out[i].Reason = g.whyNot(f, arm, g.alone[i])
	}
	if f == nil {
		return out
	}
	for i, x := range g.against(f, g.alone) {
		out[i].Effect = x
	}
	for i, x := range g.against(f, slices.Repeat([]string{g.unprotected}, len(g.beside))) {
		if x != nil {
			out[i].Unprotected = x.Typical
		}
	}
	g.shares(out, f)
	return out
}

// against returns the effect of each arm against its base; nil: unknown, or the base is the arm. Effects against the
// baseline are those of the result: the same ratio with another interval would confuse.
func (g isolationGroup) against(f *fits, base []string) []*record.Effect {
	out := make([]*record.Effect, len(g.beside))
	c := g.judging
	c.fits, c.share = f, share{}
	if f.Name == g.load.Primary {
		c.share.all = 1
	}
	var pairs []pair
	var rows []int
	for i, arm := range g.beside {
		switch {
		case base[i] == g.load.Baseline:
			at := slices.IndexFunc(g.effects, func(e record.Effect) bool {
				return e.Workload == g.load.Name && e.Metric == f.Name && e.Arm == arm && e.Baseline == base[i]
			})
			if at >= 0 && g.effects[at].Typical != nil {
				out[i] = &g.effects[at]
			}
		case arm != base[i] && g.whyNot(f, arm, base[i]).IsZero():
			pairs, rows = append(pairs, pair{arm, base[i]}), append(rows, i)
		}
	}
	for k, x := range c.judgeAll(pairs) {
		if x.Typical != nil {
			out[rows[k]] = &x
		}
	}
	return out
}

// shares fills in the share of the loss that each mechanism gives back.
func (g isolationGroup) shares(out []record.Regained, f *fits) {
	if !g.whyNot(f, g.beside[0], g.alone[0]).IsZero() {
		return
	}
	plain := g.contrast(f.typical, g.beside[0], g.alone[0])
	mean := f.typical.Contrast(plain).Mean
	if !f.typical.Interval(plain, 1-g.alpha).Beyond(0) || (mean > 0) == (f.Better > 0) {
		for r := range out[1:] {
			if out[r+1].Reason.IsZero() {
				out[r+1].Reason = noLoss
			}
		}
		return
	}
	for i := 1; i < len(out); i++ {
		if !out[i].Reason.IsZero() {
			continue
		}
		if s := regain(f.typical, g.contrast(f.typical, g.beside[i], g.alone[i]), plain, 1-g.alpha); s != nil {
			out[i].Share = s
		} else {
			out[i].Reason = noiseBeyondShare
		}
	}
}

// farthest is the largest share, positive or negative, up to which findEnd searches: 1000 %.
const farthest = 10

// regain is the share of a loss that a mechanism gives back: 1 - loss/whole. loss is the contrast of
// the isolated arm with the arm alone, whole that of the unprotected arm. The interval is Fieller's
// (1954, J. R. Stat. Soc. B 16:175): every share that a test of loss - share*whole = 0 does not reject.
// The contrasts are logarithms, but shares are of operations or seconds; so the test compares
// 1 - arm/alone, by the delta method. nil if the interval has no end.
func regain(f *stat.Fit, loss, whole []float64, level float64) *record.Share {
	a, b := math.Exp(f.Contrast(loss).Mean), math.Exp(f.Contrast(whole).Mean)
	half := func(theta float64) float64 {
		c := make([]float64, len(loss))
		for i := range c {
			c[i] = theta*b*whole[i] - a*loss[i]
		}
		return f.Interval(c, level).Half()
	}
	accepted := func(theta float64) bool { return math.Abs((1-a)-theta*(1-b)) <= half(theta) }
	theta := (1 - a) / (1 - b)
	if math.IsNaN(theta) || math.IsInf(half(theta), 0) {
		return nil
	}
	step := max(math.Abs(half(theta)/(1-b)), 1e-4)
	low, lowOK := findEnd(accepted, theta, -step)
	high, highOK := findEnd(accepted, theta, step)
	if !lowOK || !highOK {
		return nil
	}
	return &record.Share{Share: 1 - theta, Low: 1 - high, High: 1 - low}
}

// findEnd finds the end, in the direction of step, of the range in which holds is true; the range
// contains from. ok is false if the end is farther away than farthest.
func findEnd(holds func(float64) bool, from, step float64) (at float64, ok bool) {
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
