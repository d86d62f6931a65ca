package stat

import "math"

const (
	// firstLook is the error of what is looked at once, at a time that was fixed
	// beforehand: nothing to pay.
	firstLook = 0.05
	// secondLook is the error of what is looked at again after it was continued,
	// and nextLook how it goes on.
	secondLook, nextLook = 0.015, 0.5
	// stopShare is what stopping on width leaves of it.
	stopShare = 0.6
)

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
	alpha := firstLook
	if looks > 1 {
		alpha = secondLook * math.Pow(nextLook, float64(min(looks, 12)-2))
	}
	if stoppedOnWidth {
		alpha *= stopShare
	}
	return 1 - alpha
}
