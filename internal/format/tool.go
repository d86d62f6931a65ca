package format

import "bytes"

// Tool is a benchmark tool whose output is known.
type Tool string

// The tools.
const (
	Sysbench   Tool = "sysbench"
	Fio        Tool = "fio"
	ClickHouse Tool = "clickhouse-benchmark"
	PgBench    Tool = "pgbench"
	Hyperfine  Tool = "hyperfine"
	Redis      Tool = "redis-benchmark" // and valkey-benchmark, which prints the same
)

// tools are how the output of each tool is told: a tool that is read has its line
// here, its folder, and its line in package importer. Order matters where one
// line begins like another.
var tools = []struct {
	tool   Tool
	kind   Kind
	begins []string                 // what only it writes at the beginning of a line, blanks left out
	is     func(line []byte) bool   // other lines that only it writes
	keys   [][]string               // of its JSON: one of these sets is there
	era    func(text []byte) string // of a line or the JSON; empty when it does not tell
}{
	{Sysbench, SysbenchLog, []string{"Running the test with following options:", "SQL statistics:", "OLTP test statistics:",
		"Test execution summary:", "Threads fairness:", "sysbench 0.", "sysbench 1.", "General statistics:"},
		sysbenchReport, [][]string{{"time", "threads", "tps", "qps"}}, sysbenchEra},
	{Fio, FioOutput, []string{"Run status group ", "fio-2.", "fio-3.", `"fio version"`, `"job options"`, "read: IOPS=", "write: IOPS=",
		"issued rwts: ", "clat percentiles ("},
		fioJob, [][]string{{"fio version"}, {"jobname", "groupid"}}, fioEra},
	{ClickHouse, ClickHouseLog, []string{"Queries executed: ", `"query_time_percentiles"`},
		clickhouseLine, [][]string{{"statistics", "QPS"}, {"query_time_percentiles"}}, clickhouseEra},
	{PgBench, PgBenchOutput, []string{"transaction type: ", "number of transactions actually processed: ", "pgbench (", "tps = ",
		"query mode: ", "number of clients: ", "number of transactions per client: "},
		func(b []byte) bool { return begins(b, "progress: ") && has(b, " tps, lat ") }, nil, pgbenchEra},
	{Hyperfine, HyperfineJSON, []string{"Benchmark 1: ", "Benchmark #1: ", "Time (mean "},
		func([]byte) bool { return false }, [][]string{{"results", "command", "mean"}}, func([]byte) string { return "" }},
	{Redis, RedisLog, []string{"Latency by percentile distribution:", "Cumulative distribution of latencies:", "throughput summary: ",
		"latency summary (msec):", `host configuration "save": `, redisHeading, "test,rps,avg_latency_ms,",
		"keep alive: ", "Could not connect to Redis at "}, redisLine, nil, redisEra},
}

func begins(b []byte, s string) bool { return len(b) >= len(s) && string(b[:len(s)]) == s }
func has(b []byte, s string) bool    { return bytes.Contains(b, []byte(s)) }

// indexOf is which of the tools alone writes such a line; -1 for none.
func indexOf(line []byte) int {
	b := bytes.TrimLeft(line, " \t")
	if len(b) < 8 {
		return -1
	}
	for i := range tools {
		for _, s := range tools[i].begins {
			if begins(b, s) {
				return i
			}
		}
	}
	for i := range tools {
		if tools[i].is(b) {
			return i
		}
	}
	return -1
}

// ToolOf names the tool that alone writes such a line, or nothing. A reader
// asks it about lines that it does not know.
func ToolOf(line []byte) Tool {
	if i := indexOf(line); i >= 0 {
		return tools[i].tool
	}
	return ""
}

// sysbenchReport knows report lines.
func sysbenchReport(b []byte) bool {
	if b[0] != '[' {
		return false
	}
	i := bytes.Index(b, []byte("s ] "))
	if i < 0 {
		i = bytes.Index(b, []byte("s] "))
	}
	if i < 0 || i > 20 {
		return false
	}
	b = b[i:min(len(b), i+24)]
	return has(b, "thds: ") || has(b, "threads: ") || has(b, "reads: ") || has(b, "queue length: ")
}

func fioJob(b []byte) bool {
	return has(b, ": (groupid=") && has(b, "): err=") || has(b, ": (g=") && has(b, "): rw=") ||
		b[0] >= '2' && b[0] <= '5' && b[1] == ';' && bytes.Count(b, []byte(";")) > 30 // terse
}

func clickhouseLine(b []byte) bool {
	return begins(b, "Loaded ") && bytes.HasSuffix(b, []byte(" queries.")) || has(b, "QPS: ") && has(b, ", RPS: ")
}

// redisHeading is that of redis-benchmark --csv since 6.2.
const redisHeading = `"test","rps","avg_latency_ms",`

// redisLine knows what begins with a number or the name of a test. The progress may
// be many on one line, with CR between them.
func redisLine(b []byte) bool {
	const rate = " requests per second"
	end := bytes.TrimRight(b, " \t\r")
	if at := bytes.LastIndex(end, []byte(rate)); at > 0 && (at+len(rate) == len(end) || has(end[at:], rate+", p50=")) {
		word := end[bytes.LastIndexByte(end[:at], ' ')+1 : at] // two decimals, or inf
		return len(word) > 3 && word[len(word)-3] == '.' && Leading(word).Known() || string(word) == "inf"
	}
	switch {
	case has(b, "milliseconds") && b[0]-'0' <= 9:
		return has(b[:min(len(b), 16)], "% <= ")
	case bytes.HasSuffix(end, []byte(" parallel clients")), bytes.HasSuffix(end, []byte(" bytes payload")):
		return b[0]-'0' <= 9
	}
	return has(b, ": rps=") && has(b, " (overall: ") && has(b, ") avg_msec=") ||
		has(b, " requests completed in ") && b[0]-'0' <= 9
}

// RedisRow says that a line is one of redis-benchmark --csv before 6.2, which had no
// heading: "SET","85034.02".
func RedisRow(b []byte) bool {
	at := bytes.LastIndex(b, []byte(`","`))
	if at < 1 || at+3 >= len(b) || b[0] != '"' || b[len(b)-1] != '"' {
		return false
	}
	rate := b[at+3 : len(b)-1]
	return len(rate) > 3 && rate[len(rate)-3] == '.' && Whole(rate).Known()
}

func redisEra(b []byte) string {
	switch {
	case has(b, ", p50="), has(b, "avg_msec="), has(b, "(cumulative count "), begins(b, "Latency by "), has(b, "avg_latency_ms"), has(b, " summary"):
		return "6.2 or later"
	case has(b, "% <= "), has(b, " requests per second"):
		return "before 6.2"
	}
	return ""
}

func sysbenchEra(b []byte) string {
	switch {
	case begins(b, "sysbench "):
		b = b[len("sysbench "):]
		return string(bytes.TrimRight(b[:blank(b)], ":"))
	case has(b, "threads: "):
		return "0.4 or 0.5"
	case has(b, "thds: "):
		return "1.0 or 1.1"
	case has(b, `"tps"`): // the hook report_json
		return "1.0.14 or later"
	}
	return ""
}

func fioEra(b []byte) string {
	if i := bytes.Index(b, []byte("fio-")); i >= 0 {
		return string(b[i+4 : i+4+version(b[i+4:])])
	}
	return ""
}

func clickhouseEra(b []byte) string {
	switch {
	case has(b, ", queries: "):
		return "23.8 or later"
	case has(b, "connection ") && has(b, ", queries "):
		return "19.x"
	case has(b, ", queries "):
		return "20 to 23.7"
	case has(b, "QPS: "):
		return "1.1 to 18.x"
	}
	return ""
}

func pgbenchEra(b []byte) string {
	if begins(b, "pgbench (") {
		b = b[len("pgbench ("):]
		return string(b[:version(b)])
	}
	return ""
}

// Mine says that the line is not one that only another tool writes.
func Mine(line []byte, own Tool) bool {
	t := ToolOf(line)
	return t == "" || t == own
}

// Foreign watches for lines of other tools in a file: the zero value with its
// own tool set is ready. It warns once about each other tool.
type Foreign struct {
	Own Tool
	// First is the first other tool and where it begins.
	First Tool
	Line  int
}

// Look is called with every line that the reader does not know.
func (f *Foreign) Look(line []byte, number int, w *Warnings) {
	t := ToolOf(line)
	if t == "" || t == f.Own {
		return
	}
	if f.First == "" {
		f.First, f.Line = t, number
	}
	w.Once(number, "output of "+string(t)+" begins here; it was not read",
		"give each tool's output a file of its own")
}
