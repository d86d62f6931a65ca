package stat

import "math"

// mixture is the distribution of a contrast about its estimate: Student's t with
// the variance, and the degrees of freedom, that go with each launch variance,
// weighed by how probable that is.
type mixture []component

// component is a Student's t with a scale and the probability p.
type component struct {
	student
	p, scale float64
}

// around is the mixture of a contrast: V = window + gain sd^2, df = V^2 df_w /
// window^2 (Satterthwaite 1946, Biometrics Bull. 2, p. 110).
func (p launchVariance) around(s spread) mixture {
	m := make(mixture, 0, len(p.p))
	for i, w := range p.p {
		if w < 1e-10 {
			continue
		}
		v := s.window + s.gain*p.sd[i]*p.sd[i]
		m = append(m, component{studentOf(s.df * (v / s.window) * (v / s.window)), w, math.Sqrt(v)})
	}
	return m
}

// outside is P(|X| > x), and its density there.
func (m mixture) outside(x float64) (p, density float64) {
	for i := range m {
		c := &m[i]
		tail, d := c.tailAndDensity(x / c.scale)
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

// manyDF is from where on Student's t is taken as a normal of another argument.
const manyDF = 200

// student is a Student's t with df degrees of freedom; logBeta is ln B(df/2, 1/2)
// where it is needed, which takes longer than the rest.
type student struct{ df, logBeta float64 }

func studentOf(df float64) student {
	s := student{df: df}
	if df < manyDF {
		s.logBeta = logBeta(df/2, 0.5)
	}
	return s
}

// tailAndDensity is P(T > t) and the density of T at t >= 0. For many degrees of
// freedom by Wallace (1959, Ann. Math. Stat. 30, p. 1124): z = (8 df + 1)/(8 df +
// 3) sqrt(df ln(1 + t^2/df)), within 1e-6 of the tail.
func (s student) tailAndDensity(t float64) (tail, density float64) {
	df := s.df
	if df < manyDF {
		return s.exactly(t)
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

// exactly is studentTail and studentPDF with what they share computed once: with
// x = 1/(1 + t^2/df) and b = B(df/2, 1/2), the density is x^((df+1)/2) / (b
// sqrt(df)) and the tail half of I_x(df/2, 1/2).
func (s student) exactly(t float64) (tail, density float64) {
	if math.IsNaN(t) || !(s.df > 0) {
		return math.NaN(), math.NaN()
	}
	a, r := s.df/2, t/math.Sqrt(s.df)
	x, y := 1/(1+r*r), 1/(1+1/(r*r))
	power := math.Exp(-a*math.Log1p(r*r) - s.logBeta) // x^a / b
	density = power * math.Sqrt(x/s.df)
	front := power * math.Sqrt(y)
	if x <= (a+1)/(a+2.5) {
		return 0.5 * math.Min(1, front*betaFraction(a, 0.5, x)/a), density
	}
	return 0.5 * (1 - math.Min(1, front*betaFraction(0.5, a, y)/0.5)), density
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
