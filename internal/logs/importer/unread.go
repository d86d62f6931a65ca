package importer

import (
	"regexp/syntax"
	"sync"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
)

// unread lists common tools without a reader, so that an error can name them, by lines that only they
// write.
var unread = []observed.Reader{
	named(aggregatedLogs, `^1\d{9} \d+ \d+ \d+ \d+ \d+(?: \d+)*$`),
	named("JMeter", `^(?i:"?timeStamp"?[,;\t]"?elapsed"?[,;\t]"?label"?)|^<testResults version=|^<httpSample t="`),
	named(gatlingRequests, `^(?:RUN|REQUEST|USER)\t\S+\t.*\t\d{13}`),
	named(heyRequests, `^response-time,DNS\+dialup,`),
	named(k6Requests, `^metric_name,timestamp,metric_value|^\{"type":"(?:Metric|Point)","data":\{|^\{"metric":"\w+","type":"(?:Metric|Point)"`),
	named(abRequests, `^starttime\tseconds\tctime\tdtime|^Percentage served,Time in ms`),
	keyed(named("vegeta", `^Requests\s+\[total, rate, throughput\]|^Latencies\s+\[min, mean, 50, |^Requests\s+\[total, rate\]`), []string{"latencies", "bytes_in", "status_codes"}),
	named("YCSB", `^\[(?:OVERALL|READ|UPDATE|INSERT|SCAN|DELETE|CLEANUP|READ-MODIFY-WRITE|TOTAL_GC\w*)\], |^YCSB Client \d`),
	named("go-ycsb", `^[A-Z_]+\s+- Takes\(s\): [\d.]+, Count: `),
	keyed(named("memtier_benchmark", `^\[RUN #\d+|^ALL STATS$|^Type\s+Ops/sec\s+Hits/sec|^(?:Sets|Gets|Waits|Totals)\s+[\d.-]+\s+[\d.-]+\s+[\d.-]+\s`), []string{"ALL STATS"}, []string{"run information", "configuration"}),
	keyed(named("k6", `^(?:http_req\w*|iteration_duration|iterations|vus|vus_max|data_received|data_sent|checks\w*)\.{3,}\s*:|^execution: local$|^running \(\d+m\d|^█ TOTAL RESULTS`), []string{"http_req_duration", "root_group"}, []string{"http_reqs", "iterations", "metrics"}, []string{"root_group", "metrics"}),
	named(wrkOrWrk2, `^Running \d+\w* test @ |^Thread Stats\s+Avg\s+Stdev|^Thread calibration: mean lat|^Requests/sec:\s+[\d.]+$|^Latency Distribution \(HdrHistogram`),
	named(apacheBench, `^This is ApacheBench, |^Requests per second:\s+[\d.]+ \[#/sec\]|^Time per request:\s+[\d.]+ \[ms\]|^Concurrency Level:\s+\d`),
	{Tool: &format.Tool{Name: "iperf", Keys: [][]string{{"connected", "test_start"}, {"connected", "system_info"}},
		IsLine: matches(`^\[ ?ID\] Interval\s+Transfer|^Connecting to host .*, port \d+|^\[\s*\d+\] local \S+ port \d+ connected|^iperf Done\.|^Client connecting to .*, TCP port|^iperf 3\.`)}},
	named("netperf", `^(?:MIGRATED )?(?:TCP|UDP)[ _](?:STREAM|REQUEST/RESPONSE|RR|CRR|MAERTS|SENDFILE)\w* TEST from |^(?:MIGRATED )?TCP (?:Connect/)?(?:STREAM|REQUEST/RESPONSE|Request/Response|MAERTS) TEST`),
	named("dd", `^\d+\+\d+ (?:records (?:in|out)|Datensätze|enregistrements|registros|записей)|^记录了\d+\+\d+|^\d+ bytes (?:\([^)]*\) ?)*(?:copied|transferred)`),
	named("rados bench", `^Maintaining \d+ concurrent (?:writes|reads)|^sec Cur ops\s+started\s+finished|^Total (?:writes|reads) made:\s+\d|^Bandwidth \(MB/sec\):\s`),
	named("rbd bench", `^bench\s+type (?:write|read|readwrite|rw) io_size |^SEC\s+OPS\s+OPS/SEC|^elapsed:\s+\d+\s+ops:\s+\d+\s+ops/sec:`),
	named("stress-ng", `^stress-ng: (?:info|metrc|debug|warn|fail|error): `),
	named("mysqlslap", `^(?:Average|Minimum|Maximum) number of seconds to run all queries: |^Number of clients running queries: |^Running for engine `),
	named("HammerDB", `^Vuser \d+:|^HammerDB (?:CLI )?v\d|^TEST RESULT : System achieved \d`),
	named("cassandra-stress", `^\*+ Stress Settings \*+|^Op rate\s+: |^Partition rate\s+: |^type,?\s+total ops,\s+op/s,|^Running (?:WRITE|READ|MIXED) with `),
	named("go-tpc", `^\[(?:Current|Summary)\] [A-Z_0-9]+ ?- (?:Takes\(s\)|Count)|^\[(?:Current|Summary)\] Q\d+|^tpmC: [\d.]+`),
	named(dbenchOfSamba, `^dbench version \d|^Throughput [\d.]+ MB/sec\s+(?:\(sync \w+\)\s+)?\d+ clients|^Operation\s+Count\s+AvgLat\s+MaxLat`),
	named("iozone", `^Iozone: Performance Test of File I/O|^Command line used: \S*iozone|^kB\s+reclen\s+write\s+rewrite`),
	named(etcdCheckPerf, `^(?:PASS|FAIL): (?:Throughput|Slowest request|Stddev|PASS|FAIL)|^\d+ / \d+ B[o.]+!?`),
	named(etcdMetrics, `^(?:# (?:HELP|TYPE) )?etcd_disk_\w+_seconds`),
}

// named describes a tool without a reader; lines is a regular expression that begins with ^.
func named(name, lines string) observed.Reader {
	return observed.Reader{Tool: &format.Tool{Name: name, IsLine: matches(lines)}}
}

// keyed adds the keys of a tool's JSON.
func keyed(r observed.Reader, keys ...[]string) observed.Reader {
	r.Keys = keys
	return r
}

// matches returns a function that matches lines. It checks the first byte before the expression, because
// every line that no reader knows is matched.
func matches(lines string) func([]byte) bool {
	expr, first := lazily(lines), sync.OnceValue(func() *[256]bool { set := firstBytes(lines); return &set })
	return func(b []byte) bool { return first()[b[0]] && expr().Match(b) }
}

// firstBytes returns the bytes with which a match of an anchored expression can begin.
func firstBytes(lines string) (set [256]bool) {
	tree, err := syntax.Parse(lines, syntax.Perl)
	if err != nil {
		panic(err)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		panic(err)
	}
	seen := map[uint32]bool{}
	var walk func(pc uint32)
	walk = func(pc uint32) {
		if seen[pc] {
			return
		}
		seen[pc] = true
		switch i := &prog.Inst[pc]; i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			walk(i.Out)
			walk(i.Arg)
		case syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstNop:
			walk(i.Out)
		default:
			for c := range set {
				set[c] = set[c] || c >= 0x80 || i.MatchRune(rune(c))
			}
		}
	}
	walk(uint32(prog.Start))
	return set
}
