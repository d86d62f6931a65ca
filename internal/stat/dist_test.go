package stat

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// tb is what *testing.T and *rapid.T share.
type tb interface {
	Helper()
	Errorf(format string, args ...any)
}

// near fails unless got is within tol of want, absolutely or relatively.
func near(t tb, what string, got, want, tol float64) {
	t.Helper()
	if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > tol*math.Max(1, math.Abs(want)) {
		t.Errorf("%s = %.12g, want %.12g", what, got, want)
	}
}

func TestBetaIncVectors(t *testing.T) {
	for _, c := range readVectors(t).BetaInc {
		near(t, fmt.Sprintf("I_%v(%v, %v)", c.X, c.A, c.B), betaInc(c.A, c.B, c.X, 1-c.X), c.Value, 1e-9)
	}
	for _, bad := range []float64{betaInc(0, 1, 0.5, 0.5), betaInc(1, math.NaN(), 0.5, 0.5), betaInc(1, 1, math.NaN(), 0.5)} {
		if !math.IsNaN(bad) {
			t.Errorf("out of range gives %v, want NaN", bad)
		}
	}
}

func TestStudentShapeVectors(t *testing.T) {
	for _, c := range readVectors(t).StudentShape {
		near(t, fmt.Sprintf("CDF %v df %v", c.T, c.DF), studentCDF(c.T, c.DF), c.CDF, 1e-9)
		near(t, fmt.Sprintf("PDF %v df %v", c.T, c.DF), studentPDF(c.T, c.DF), c.PDF, 1e-9)
	}
}

func TestStudentKnownValues(t *testing.T) {
	for _, c := range []struct{ p, df, want float64 }{
		{0.975, 1, 12.706204736432095},
		{0.975, 2, 4.302652729911275},
		{0.975, 4, 2.7764451051977987},
		{0.975, 1e8, 1.9599640},
		{0.975, math.Inf(1), 1.959963984540054},
		{0.5, 3, 0},
		{1, 3, math.Inf(1)},
		{0.25, 1, -1},
	} {
		if got := StudentQuantile(c.p, c.df); math.Abs(got-c.want) > 1e-7 {
			t.Errorf("StudentQuantile(%v, %v) = %v, want %v", c.p, c.df, got, c.want)
		}
	}
	if p := studentTail(1e200, 1e8); p != 0 {
		t.Errorf("the tail beyond 1e200 is %v", p)
	}
	near(t, "large df", 2*studentTail(1, 9.9e6), 0.31731053230, 1e-10)
	for _, bad := range []float64{StudentQuantile(1.1, 3), StudentQuantile(0.5, 0), StudentQuantile(0.5, math.NaN()), studentCDF(1, -1)} {
		if !math.IsNaN(bad) {
			t.Errorf("out of range gives %v, want NaN", bad)
		}
	}
}

func TestStudentQuantileInvertsCDF(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		df := math.Exp(rapid.Float64Range(-1, 25).Draw(t, "ln df"))
		p := math.Exp(rapid.Float64Range(-25, -0.7).Draw(t, "ln p"))
		q := StudentQuantile(p, df)
		near(t, "CDF of quantile / p", studentCDF(q, df)/p, 1, 1e-9)
		near(t, "symmetry", StudentQuantile(1-p, df), -StudentQuantile(1-(1-p), df), 1e-12)
		if wider := StudentQuantile(p, df/1.5); wider > q {
			t.Errorf("fewer df must be wider: %v > %v", wider, q)
		}
	})
}

// studentCDF is P(T <= t).
func studentCDF(t, df float64) float64 {
	if t > 0 {
		return 1 - studentTail(t, df)
	}
	return studentTail(-t, df)
}

func TestNormal(t *testing.T) {
	near(t, "quantile", normalQuantile(0.975), 1.959963984540054, 1e-12)
	for _, c := range readVectors(t).Normal {
		near(t, "CDF", normalCDF(c.Z), c.CDF, 1e-12)
	}
}

func BenchmarkStudentQuantile(b *testing.B) {
	for b.Loop() {
		StudentQuantile(0.98, 31)
	}
}
