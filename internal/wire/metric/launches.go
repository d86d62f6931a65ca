package metric

// LeastLaunches is the least number of launches of an arm for a verdict on it: three or fewer show too
// little of how launches differ.
const LeastLaunches = 4

// MoreLaunches returns how many more seconds an arm that has windows in launches of the made launches
// needs to have LeastLaunches, if these took seconds; 0: it has them, or no launch was made.
func MoreLaunches(launches, made int, seconds float64) float64 {
	if launches >= LeastLaunches || made < 1 {
		return 0
	}
	return float64(LeastLaunches-launches) * seconds / float64(made)
}
