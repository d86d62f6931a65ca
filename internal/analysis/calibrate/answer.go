package calibrate

import (
	"cmp"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Judge compares the measured losses with the planted ones.
func Judge(e *record.Effects, planted []Planted) *record.Calibration {
	c := &record.Calibration{
		Schema: record.CalibrationSchema, Host: e.Host, Ended: e.Ended, Seed: e.Seed,
		Losses: []record.PlantedLoss{}, Left: e.Left,
	}
	for _, p := range planted {
		for _, name := range p.metrics() {
			if x := effect(e, p.Arm, name); x != nil {
				c.Losses = append(c.Losses, loss(p, *x))
			}
		}
	}
	for _, x := range e.Twin {
		if x.Metric == metric.Throughput.Name || x.Metric == metric.CPUPerOp.Name {
			c.Losses = append(c.Losses, loss(Planted{Arm: x.Arm, How: None}, x))
		}
	}
	slices.SortStableFunc(c.Losses, func(a, b record.PlantedLoss) int {
		return cmp.Or(cmp.Compare(b.Metric, a.Metric), cmp.Compare(a.How, b.How), cmp.Compare(a.Planted, b.Planted))
	})
	for _, l := range c.Losses {
		count(c, l)
	}
	if len(e.Workloads) == 1 {
		c.Seconds, c.Blocks = e.Workloads[0].Seconds, e.Workloads[0].Blocks
		c.Smallest = smallest(c.Losses, c.Seconds, len(e.Arms))
	}
	return c
}

// metrics returns the metrics whose loss is known: pauses and quotas need a little CPU time of
// their own, so that theirs per operation is not known.
func (p Planted) metrics() []string {
	if p.How == Work || p.How == None {
		return []string{metric.Throughput.Name, metric.CPUPerOp.Name}
	}
	return []string{metric.Throughput.Name}
}

func effect(e *record.Effects, arm, name string) *record.Effect {
	for i, x := range e.Effects {
		if x.Arm == arm && x.Metric == name {
			return &e.Effects[i]
		}
	}
	return nil
}

// loss judges a loss by the interval of its arm alone.
func loss(p Planted, x record.Effect) record.PlantedLoss {
	l := record.PlantedLoss{Arm: p.Arm, Metric: x.Metric, How: p.How, Planted: p.Loss}
	if x.Own == nil || !x.Own.Known() || x.Verdict == record.Invalid {
		l.Reason = cmp.Or(x.Reason, record.Say("no_window_of_it"))
		return l
	}
	own := *x.Own
	if x.Metric == metric.CPUPerOp.Name { // a loss of operations for the same CPU time
		own = own.Inverse()
	}
	m := record.Worsening{Cost: 1 - own.Ratio, Low: 1 - own.High, High: 1 - own.Low}
	l.Measured = &m
	l.Covered, l.Found = own.Holds(1-p.Loss), own.Side() != 0
	return l
}

// count adds a loss to the two shares.
func count(c *record.Calibration, l record.PlantedLoss) {
	if l.Measured == nil {
		return
	}
	c.Covered.Of++
	if l.Covered {
		c.Covered.Count++
	}
	if l.Planted != 0 {
		return
	}
	c.FalsePositives.Of++
	if l.Found {
		c.FalsePositives.Count++
	}
}

// smallest returns the smallest losses that are found in 1, 3 and 10 minutes with the host, its
// twin and one arm, with a power of 80 % (stat.MDE). The half-width, of which it takes the
// median over the planted arms, shrinks with the square root of the time of each arm.
func smallest(losses []record.PlantedLoss, seconds float64, arms int) []record.SmallestLoss {
	const alone = 3
	var halves []float64
	for _, l := range losses {
		if m := l.Measured; m != nil && l.Metric == metric.Throughput.Name {
			halves = append(halves, (math.Log1p(-m.Low)-math.Log1p(-m.High))/2)
		}
	}
	if len(halves) == 0 || !(seconds > 0) || arms < alone {
		return nil
	}
	half := stat.Median(halves)
	var out []record.SmallestLoss
	for _, minutes := range []float64{1, 3, 10} {
		h := half * math.Sqrt(seconds*alone/float64(arms)/(60*minutes))
		out = append(out, record.SmallestLoss{Seconds: 60 * minutes, Loss: -math.Expm1(-stat.MDE(h, 0.8))})
	}
	return out
}
