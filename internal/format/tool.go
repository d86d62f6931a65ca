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
)

// marks are what only one tool writes at the beginning of a line (blanks left
// out). Order matters where one begins like another.
var marks = []struct {
	text string
	tool Tool
}{
	{"Running the test with following options:", Sysbench},
	{"SQL statistics:", Sysbench},
	{"OLTP test statistics:", Sysbench},
	{"Test execution summary:", Sysbench},
	{"Threads fairness:", Sysbench},
	{"sysbench 0.", Sysbench},
	{"sysbench 1.", Sysbench},
	{"Run status group ", Fio},
	{"fio-2.", Fio},
	{"fio-3.", Fio},
	{"\"fio version\"", Fio},
	{"\"job options\"", Fio},
	{"Loaded ", ClickHouse}, // with " queries." behind it
	{"Queries executed: ", ClickHouse},
	{"\"query_time_percentiles\"", ClickHouse},
	{"transaction type: ", PgBench},
	{"number of transactions actually processed: ", PgBench},
	{"pgbench (", PgBench},
	{"Benchmark 1: ", Hyperfine},
	{"Benchmark #1: ", Hyperfine},
	{"Time (mean ", Hyperfine},
}

// ToolOf names the tool that alone writes such a line, or nothing. A reader
// asks it about lines that it does not know.
func ToolOf(line []byte) Tool {
	b := bytes.TrimLeft(line, " \t")
	if len(b) < 8 {
		return ""
	}
	switch b[0] {
	case '[':
		return ofBracket(b)
	case 'p':
		if bytes.HasPrefix(b, []byte("progress: ")) && bytes.Contains(b, []byte(" tps, lat ")) {
			return PgBench
		}
	case '2', '3', '4', '5':
		if b[1] == ';' && bytes.Count(b, []byte(";")) > 30 {
			return Fio
		}
	case 't':
		if bytes.HasPrefix(b, []byte("tps = ")) {
			return PgBench
		}
	}
	for _, m := range marks {
		if len(b) >= len(m.text) && string(b[:len(m.text)]) == m.text {
			if m.text == "Loaded " && !bytes.HasSuffix(b, []byte(" queries.")) {
				return ""
			}
			return m.tool
		}
	}
	return ofMiddle(b)
}

// ofBracket knows sysbench's report lines.
func ofBracket(b []byte) Tool {
	i := bytes.Index(b, []byte("s ] "))
	if i < 0 {
		i = bytes.Index(b, []byte("s] "))
	}
	if i < 0 || i > 20 {
		return ""
	}
	for _, key := range []string{"thds: ", "threads: ", "reads: ", "queue length: "} {
		if bytes.Contains(b[i:min(len(b), i+24)], []byte(key)) {
			return Sysbench
		}
	}
	return ""
}

// ofMiddle knows lines by what is inside them.
func ofMiddle(b []byte) Tool {
	switch {
	case bytes.Contains(b, []byte(": (groupid=")) && bytes.Contains(b, []byte("): err=")),
		bytes.Contains(b, []byte(": (g=")) && bytes.Contains(b, []byte("): rw=")):
		return Fio
	case bytes.Contains(b, []byte("QPS: ")) && bytes.Contains(b, []byte(", RPS: ")):
		return ClickHouse
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
