package redis

import "github.com/tarelab/tare/record"

// All sentences of this package for users. The code that reads has none of its own (tools/sentences).

// versions are those whose output is read.
const versions = "Redis 2.2 to 8.0, Valkey 8.1 and 9"

// Names of settings.
const (
	keepAlive    = "keep alive"
	clusterNodes = "cluster nodes"
)

// Warnings and their remedies.
var (
	stoppedOrCut  = record.Say("benchmark_stopped_or_cut")
	moreRequests  = record.Say("ask_more_requests")
	logChanged    = record.Say("log_changed")
	notInOrder    = record.Say("latencies_unordered")
	lookAtLog     = record.Say("clock_or_tool_wrong")
	latenciesAt3s = record.Say("latencies_above_3s")
)

// repeatTheBench is the remedy of an error.
const repeatTheBench = "repeat the benchmark"

func toolSays(failure string) string { return "the tool says: " + failure }

// named is the name of a test in a sentence.
func named(test string) any {
	if test == "" {
		return record.Say("a_test")
	}
	return test
}

func noReport(test string, line int) record.Said {
	return record.Say("report_of_test_missing", "test", named(test), "line", line)
}

func noThroughput(test string) record.Said { return record.Say("no_throughput", "test", named(test)) }

func otherRate(requests, seconds, rate float64) record.Said {
	return record.Say("other_rate", "requests", requests, "seconds", seconds, "rate", rate)
}
