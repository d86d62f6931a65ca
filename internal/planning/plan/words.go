package plan

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/planning/experiment"
)

// Sentences of the planning for users, without its errors: why an arm is left out, with the remedy,
// titles of arms, and why the pilot chose its lengths.

// Reasons why an arm is left out, and remedies.
const (
	notAsked  = "this host was not asked about it"
	runAsRoot = "run as root"
	inCgroup  = "environment: cgroup"
	inPod     = "an arm in a pod: besteffort, burstable or guaranteed"
)

func onlyOfPod(volume, environment string) string {
	return fmt.Sprintf("volume %s is made by a cluster, and %s is no pod", volume, environment)
}

func needsPodNode(what, node string) string {
	return fmt.Sprintf("%s needs tare on node %s, where the pods are", what, node)
}

func toPodNode(node string) string {
	return fmt.Sprintf("--nodes %s --node-helper, or run tare there", node)
}

func neighbourOnHost(neighbour string) string { return "neighbour " + neighbour + " on the host" }

func needsTool(neighbour, tool string) string {
	return fmt.Sprintf("neighbour %s needs %s, which is not in PATH", neighbour, tool)
}

func installPackage(name string) string { return "apt-get install " + name }

func needsLimits(neighbour, why string) string {
	return fmt.Sprintf("neighbour %s needs a control group with limits: %s", neighbour, why)
}

func needsOwnGroup(setting, environment string, controllers []string) string {
	return fmt.Sprintf("%s is set on the arm, and %s has no %s group that can be set", setting, environment, strings.Join(controllers, " or "))
}

func noCPUSet(why error) string { return "cpuset: " + why.Error() }

// Titles.

func twinTitle(baseline string) string { return baseline + " again: the noise floor" }

// titleOf says in a line what an arm is.
func titleOf(a PlannedArm) string {
	var parts []string
	if a.Neighbour != nil {
		parts = append(parts, besideTitle(a))
	}
	for _, chosen := range a.Chosen() {
		switch {
		case chosen.Got == "" || chosen.Name == "environment" && chosen.Got == experiment.Baseline:
		case chosen.Name == "environment":
			parts = append(parts, "in "+chosen.Got)
		case chosen.Name == "volume":
			parts = append(parts, "on "+chosen.Got)
		case chosen.Name == "memory":
			parts = append(parts, "memory "+bytes(a.MemoryBytes))
		default:
			parts = append(parts, chosen.Name+" "+chosen.Got)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Set)) {
		parts = append(parts, name+"="+a.Set[name])
	}
	if len(parts) == 0 {
		return "alone"
	}
	return strings.Join(parts, ", ")
}

// besideTitle says what an arm's neighbour is, and what protects the arm from it.
func besideTitle(a PlannedArm) string {
	name, isolation := a.Neighbour.Name, a.Arm.Isolation
	switch {
	case a.Neighbour.Environment != "":
		return fmt.Sprintf("beside %s: in a pod of its own (%s)", name, a.Neighbour.Environment)
	case len(isolation) == 0:
		return fmt.Sprintf("beside %s, unprotected", name)
	}
	return fmt.Sprintf("beside %s, %s: %s", name, strings.Join(isolation, " and "), strings.Join(mechanismTitles(isolation), "; "))
}

// bytes formats a size in GiB, or in MiB where it is not a multiple of one.
func bytes(n int64) string {
	if n%(1<<30) == 0 {
		return fmt.Sprintf("%d GiB", n>>30)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// Reasons of the settle time (record.Pilot.Why). Ratios and half-widths are 1 for 100 %.
const settleAsked = "settle time as asked"

func settleForQuota(d time.Duration) string { return formatLength(d) + " of settle time for a quota" }

func settleBesideNeighbour(d time.Duration) string {
	return formatLength(d) + " of settle time beside a neighbour"
}

func settleBesideWork(d time.Duration, share float64) string {
	return fmt.Sprintf("%s of settle time beside other processes, which used %.0f %% of the CPUs: the arms compete with them in different ways", formatLength(d), 100*share)
}

func noiseHidesTransient(half float64, taken time.Duration) string {
	return fmt.Sprintf("noise (±%.0f %%) hides the transient after a thaw, %s taken until the windows tell", 100*half, formatLength(taken))
}

func noTransient(after time.Duration, off, half float64, arm string) string {
	return fmt.Sprintf("after %s no arm has a transient of its own (at most %.1f %% ±%.1f %%, %s)", formatLength(after), 100*math.Abs(off), 100*half, arm)
}

func fewForTransient(taken time.Duration) string {
	return fmt.Sprintf("too few operations to see a transient after a thaw, %s taken", formatLength(taken))
}

func transientLeft(after time.Duration, off, half float64, taken time.Duration) string {
	return fmt.Sprintf("%s after a thaw an arm still has a transient of its own (%.1f %% ±%.1f %%), %s taken", formatLength(after), 100*math.Abs(off), 100*half, formatLength(taken))
}

// halvesDiffer is why the windows are too short; off is a ratio less 1, se that of a log ratio.
func halvesDiffer(arm string, off, se float64) string {
	return fmt.Sprintf("the first half of the windows of %s is %+.1f %% off the second, against the baseline (standard error %.1f %%)", arm, 100*off, 100*se)
}

// Reasons of the window.
const (
	windowAsked  = "window as asked"
	lengthsAsked = "lengths as asked"
)

func onlyShortest(taken time.Duration) string {
	return fmt.Sprintf("the budget is too short to compare window lengths, %s taken, the shortest that are possible", formatLength(taken))
}

func notCompared(taken time.Duration) string {
	return fmt.Sprintf("the budget is too short to compare window lengths, %s taken", formatLength(taken))
}

func slowOperations(window time.Duration) string {
	return fmt.Sprintf("operations are slow: %s windows hold some of every arm", formatLength(window))
}

func shortestPossible(window time.Duration) string {
	return fmt.Sprintf("the shortest windows that are possible, %s", formatLength(window))
}

func soonestOnNoise(window time.Duration) string {
	return fmt.Sprintf("%s windows reach a width soonest on this noise", formatLength(window))
}

func toolRunsAnew(window, more time.Duration) string {
	return fmt.Sprintf("the tool runs anew for each window of %s and needs %s more each time", formatLength(window), formatLength(more))
}

// Reasons of launches and blocks; launch and block are in seconds.

func oneLaunch(blocks int) string {
	return fmt.Sprintf("one launch of %d blocks: the budget has no room for more", blocks)
}

func someLaunches(launches, blocks int, launch, block float64) string {
	return fmt.Sprintf("about %d launches of %d blocks (a launch takes %.1f s, a block %.2g s)", launches, blocks, launch, block)
}

// everyReason is the whole of record.Pilot.Why.
func everyReason(reasons ...string) string { return strings.Join(reasons, "; ") }

// length formats a duration as a person writes it: "50 ms", "1.2 s".
func formatLength(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%g s", math.Round(10*d.Seconds())/10)
}
