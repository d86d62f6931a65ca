package stat

import "math"

// mixture is the distribution of a contrast about its estimate: Student's t with
// the variance, and the degrees of freedom, that go with each launch variance,
// weighed by how probable that is.
type mixture []component

// component is a Student's t with df degrees of freedom, a scale and the probability p.
type component struct{ df, p, scale float64 }

// around is the mixture of a contrast: V = window + gain sd^2, df = V^2 df_w /
// window^2 (Satterthwaite 1946, Biometrics Bull. 2, p. 110).
func (p launchVariance) around(s spread) mixture {
	m := make(mixture, 0, len(p.p))
	for i, w := range p.p {
		if w < 1e-10 {
			continue
		}
		v := s.window + s.gain*p.sd[i]*p.sd[i]
		m = append(m, component{s.df * (v / s.window) * (v / s.window), w, math.Sqrt(v)})
	}
	return m
}

// outside is P(|X| > x), and its density there.
func (m mixture) outside(x float64) (p, density float64) {
	for i := range m {
		c := &m[i]
		tail, d := tailAndDensity(x/c.scale, c.df)
		p, density = p+2*c.p*tail, density+2*c.p*d/c.scale
	}
	return p, density
}

// half is the x with P(|X| > x) = alpha, by Newton's method on the logarithm with
// bisection where a step would leave the bracket.
func (m mixture) half(alpha float64) float64 {
	lo, hi, square := 0.0, math.Inf(1), 0.0
	for _, c := range m {
		square += c.p * c.scale * c.scale
	}
	x := -NormalQuantile(alpha/2) * math.Sqrt(square)
	for range 100 {
		p, density := m.outside(x)
		if p > alpha {
			lo = x
		} else {
			hi = x
		}
		next := x + math.Log(p/alpha)*p/density
		if !(next >= lo && next <= hi) {
			next = math.Min((lo+hi)/2, 2*x)
		}
		if math.Abs(next-x) <= 1e-12*x {
			return next
		}
		x = next
	}
	return x
}

// manyDF is from where on Student's t is taken as a normal of another argument,
// which takes a tenth of the time.
const manyDF = 200

// tailAndDensity is P(T > t) and the density of T at t >= 0. For many degrees of
// freedom by Wallace (1959, Ann. Math. Stat. 30, p. 1124): z = (8 df + 1)/(8 df +
// 3) sqrt(df ln(1 + t^2/df)), within 1e-6 of the tail.
func tailAndDensity(t, df float64) (tail, density float64) {
	if df < manyDF {
		return studentTail(t, df), studentPDF(t, df)
	}
	u := math.Sqrt(df * math.Log1p(t/df*t))
	part := (8*df + 1) / (8*df + 3)
	slope := part
	if u > 0 {
		slope = part * t / (u * (1 + t/df*t))
	}
	z := part * u
	return NormalCDF(-z), slope * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
}

// Interval is the interval of one contrast alone; the whole line when it is not
// known.
func (f *Fit) Interval(c []float64, level float64) Interval {
	return f.interval(c, 1-level)
}

func (f *Fit) interval(c []float64, alpha float64) Interval {
	if m, ok := f.mixture(c); ok && alpha > 0 && alpha < 1 {
		if half := m.half(alpha); !math.IsNaN(half) {
			mean := f.mean(c)
			return Interval{mean - half, mean + half}
		}
	}
	return Interval{math.Inf(-1), math.Inf(1)}
}

func (f *Fit) mixture(c []float64) (mixture, bool) {
	if !f.estimable(c) {
		return mixture{}, false
	}
	v := f.variance(c)
	if !v.known() {
		return mixture{}, false
	}
	return f.launch.around(v), true
}

// PValue is the two-sided p-value of a contrast alone: its Interval at level 1-p
// just touches 0. NaN when it is not known.
func (f *Fit) PValue(c []float64) float64 {
	m, ok := f.mixture(c)
	if !ok {
		return math.NaN()
	}
	p, _ := m.outside(math.Abs(f.mean(c)))
	return math.Min(p, 1)
}
