package redis

import (
	"cmp"
	"fmt"
)

// All sentences of this package for users. The code that reads has none of its own (tools/sentences).

// versions are those whose output is read.
const versions = "Redis 2.2 to 8.0, Valkey 8.1 and 9"

// Names of settings.
const (
	keepAlive    = "keep alive"
	clusterNodes = "cluster nodes"
)

// Warnings and their remedies.
const (
	stoppedOrCut   = "the benchmark was stopped or the log is cut; only what is there counts"
	moreRequests   = "ask for more requests (-n)"
	logChanged     = "look at the log: it was changed, or two were mixed"
	notInOrder     = "the latencies cannot be true and do not count: they are not in the order min, p50, p95, p99, max"
	lookAtLog      = "look at the log: the tool or its clock was wrong"
	latenciesAt3s  = "a latency of 3 s or more is counted as 3 s by the tool: the longest and the mean are too short"
	repeatTheBench = "repeat the benchmark"
)

func toolSays(failure string) string { return "the tool says: " + failure }

// named is the name of a test in a sentence.
func named(test string) string { return cmp.Or(test, "a test") }

func noReport(test string, line int) string {
	return fmt.Sprintf("the report of %s that begins in line %d is missing or incomplete", named(test), line)
}

func noThroughput(test string) string {
	return fmt.Sprintf("%s has no throughput: it was over in less than a millisecond, or did nothing", named(test))
}

func otherRate(requests, seconds, rate float64) string {
	return fmt.Sprintf("throughput cannot be true and does not count: %g requests in %g s are not %g per second", requests, seconds, rate)
}
