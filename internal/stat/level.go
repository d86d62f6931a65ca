package stat

import "math"

// Level is the confidence at which to compute what is shown as 95 %. A run that
// its budget ended pays nothing. One that stopped on the width of its interval
// stopped where its error was small by luck, too: 97 %. A record that is continued
// after it was read was continued because of what it said: at its second look
// 98.5 %, and half the error at each further one; looks is how often it was read,
// the last time included.
//
// Simulated with what FitWindows makes of equal arms (TestStoppingOnWidth,
// TestContinuing).
func Level(stoppedOnWidth bool, looks int) float64 {
	alpha := 0.05
	if looks > 1 {
		alpha = 0.015 * math.Pow(0.5, float64(min(looks, 12)-2))
	}
	if stoppedOnWidth {
		alpha *= 0.6
	}
	return 1 - alpha
}
