package stat

import "math"

// Level is the confidence at which to compute what is shown as 95 %. A run that
// its budget ended pays nothing. One that stopped on the width of its interval
// stopped where its error was small by luck, too: 97 %. A record that is continued
// after it was read was continued because of what it said: at its second look
// 98.5 %, and half the error at each further one; looks is how often it was read,
// the last time included. Where what is measured further depends on what is
// shown of the question by then (layered), it has 95.5 %: a load without a difference gets
// more data, and a difference that was nearly shown is shown more often.
//
// Simulated with what FitWindows makes of equal arms (TestStoppingOnWidth,
// TestContinuing, TestLayersOnLoss).
func Level(stoppedOnWidth, layered bool, looks int) float64 {
	alpha := 0.05
	if looks > 1 {
		alpha = 0.015 * math.Pow(0.5, float64(min(looks, 12)-2))
	}
	if stoppedOnWidth {
		alpha *= 0.6
	}
	if layered {
		alpha *= 0.9
	}
	return 1 - alpha
}

// firstLook is the number of launches before the first look at limits: as many as a verdict needs.
const firstLook = 4

// IsLook says whether a run that ends as soon as its limits are decided looks at them after so many launches.
// The number doubles from look to look, so that few looks fit into a run.
func IsLook(launches int) bool {
	for look := firstLook; look <= launches; look *= 2 {
		if look == launches {
			return true
		}
	}
	return false
}

// Looks is how often such a run was looked at when it ended after so many launches: at its end too, if that is no
// look. Unlike a stop on width, these stops depend on the position of the interval, so each look has an error of
// its own: Level(true, false, look). The sum over all looks is below 5 % (Bonferroni), whatever stops the run.
func Looks(launches int) int {
	n, last := 1, firstLook
	for ; last < launches; last *= 2 {
		n++
	}
	return n
}
