package stat_test

import (
	"fmt"

	"github.com/tarelab/tare/internal/stat"
)

// Differences of logarithms in pairs, one of which met a hiccup.
func Example() {
	d := []float64{-0.021, -0.018, -0.025, -0.016, -0.019, -0.022, -0.31, -0.020, -0.017, -0.024, -0.023, -0.018}
	total, typical := stat.Mean(d), stat.Trimmed(d, 0.1)
	fmt.Printf("total   %.3f, 95 %% %.3f to %.3f\n", total.Mean, total.At(0.95).Lo, total.At(0.95).Hi)
	fmt.Printf("typical %.3f, 95 %% %.3f to %.3f\n", typical.Mean, typical.At(0.95).Lo, typical.At(0.95).Hi)
	fmt.Println("excludes 0:", total.At(0.95).Beyond(0), typical.At(0.95).Beyond(0))
	fmt.Println("done:", stat.Rows(0.01).Done(typical), "for want of rows")
	// Output:
	// total   -0.044, 95 % -0.098 to 0.009
	// typical -0.021, 95 % -0.023 to -0.018
	// excludes 0: false true
	// done: false for want of rows
}

// Eight generations of two columns against the same control.
func ExampleFamily() {
	j := stat.Family([][]float64{
		{-0.021, -0.030, -0.018, -0.026, -0.022, -0.035, -0.019, -0.027},
		{0.004, -0.006, 0.002, -0.001, 0.005, -0.003, 0.001, -0.002},
	})
	for i, e := range j.Columns {
		interval := j.Interval(i, 0.95)
		fmt.Printf("%.4f, together 95 %% %.4f to %.4f, p %.2g\n", e.Mean, interval.Lo, interval.Hi, j.PValue(i))
	}
	// Output:
	// -0.0247, together 95 % -0.0306 to -0.0189, p 1.3e-05
	// 0.0000, together 95 % -0.0037 to 0.0037, p 1
}
