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
	// Output:
	// total   -0.044, 95 % -0.098 to 0.009
	// typical -0.021, 95 % -0.023 to -0.018
	// excludes 0: false true
}
