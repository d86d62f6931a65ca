package csv

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/base/said"
)

// importAs reads a table with --column options and returns its runs as text, or the error.
func importAs(table string, columns ...string) string {
	c, err := NewColumns(columns)
	if err != nil {
		return err.Error()
	}
	runs, warnings, err := c.Import("", strings.NewReader(table))
	if err != nil {
		return "error: " + err.Error()
	}
	out := arms(runs)
	for _, w := range warnings {
		out += " | " + said.English(w.Text)
	}
	return out
}

// Names of figures that people use, with their metric and the factor to base units.
func TestNamesOfFigures(t *testing.T) {
	for list, want := range map[string]string{
		"tps|TPS|qps|IOPS|ops/s|ops/sec|ops/second|req/s|req/sec|Requests per second|requests/second|RPS|Throughput (requests/second)|Throughput (ops/sec)|TPS (txn/s)|TPS (mean)|" +
			"tps (excluding connections establishing)|mean tps|avg_tps|Transactions per sec|throughput [1/s]|吞吐量|平均TPS|吞吐量(次/秒)|每秒事务数|QPS（平均）|operations per second": "throughput 1",
		"kIOPS|kops": "throughput 1000",
		"IOPS (read)|IOPS read|Read IOPS|read_iops":                          "read_iops 1",
		"MB/s|BW (MB/s)|Bandwidth MB/s|带宽(MB/s)|吞吐量(MB/s)|Throughput (MB/s)": "bandwidth 1e+06",
		"KB/sec|bw kb/s": "bandwidth 1000", "BW MiB/s|bw_mib|Bandwidth [MiB/s]": "bandwidth 1.049e+06",
		"Time (s)|seconds|耗时(s)|elapsed (sec)|duration_s|总时间（秒）":                                                                                             "time 1",
		"Avg Lat (ms)|avg. latency [ms]|latency (ms)|Latency ms|mean (ms)|latency_ms_avg|平均延迟(ms)|平均响应时间(毫秒)|lat avg, ms|Mean response time (ms)|RT (ms)":    "latency_mean 0.001",
		"P99 ms|p99 (ms)|rt-p99 (ms)|99th (ms)|P99延迟(ms)|latency p99 [ms]|p(99), ms|99% latency (ms)|99分位延迟(ms)|p99_latency_ms|99th percentile latency (ms)": "p99 0.001",
		"p99 (μs)|p99 (µs)|p99 us|P99（微秒）":          "p99 1e-06",
		"P95(毫秒)|P(95), ms|lat (ms,95%)|lat95 (ms)": "p95 0.001",
		"median latency (ms)|p50 (ms)|延迟中位数(ms)":    "p50 0.001",
		"max latency (ms)|最大延迟(ms)":                 "max_latency 0.001",
		"rt-p99":                                    "p99 1",
	} {
		for name := range strings.SplitSeq(list, "|") {
			f, c := figureOf(name), column(name)
			if got := fmt.Sprintf("%s %.4g", f.metric(false).Name, c.scale); got != want || f.arm != "" {
				t.Errorf("%q: %s (%+v), want %s", name, got, f, want)
			}
		}
	}
	for name, arm := range map[string]string{"Host IOPS": "host", "host tps": "host", "TPS on the host": "host", "TPS in the pod": "pod", "Docker p95 (ms)": "docker", "bare metal tps": "bare metal", "容器TPS": "容器", "物理机 延迟(ms)": "物理机"} {
		if f := figureOf(name); f.arm != arm || f.metric(false).Name == "" {
			t.Errorf("%q: %+v", name, f)
		}
	}
}

// Words that are no figure of a mean stay unknown: a statistic of a rate is no latency.
func TestNamesThatSayNothing(t *testing.T) {
	for _, name := range []string{"mean", "median", "p95", "avg", "平均", "tps_p50", "throughput p99", "stddev", "cv", "memory", "CPU", "cpu (%)", "pod name", "95% CI", "95% CI (ms)",
		"errors", "total ops", "score", "latency stddev (ms)", "p95 (ops/s)", "median (1/s)", "iops p99", "latency tps", "p1 (ms)", "p100 (ms)", "", "()", "[ms", "ms", "s", "h", "min", "Mb/s"} {
		if m := figureOf(name).metric(false); m.Name != "" {
			t.Errorf("%q: %+v", name, m)
		}
	}
}

// Names of settings that people use; a column that they name tells loads apart.
func TestNamesOfSettings(t *testing.T) {
	for _, name := range strings.Split("threads|Threads|num_threads|# threads|#threads|thread count|thread_count|number of threads|nthreads|n_threads|no. of threads|Threads (n)|worker threads|VUs|vusers|virtual users|"+
		"conns|conn|connections|num_connections|connection count|clients|num clients|# of clients|client count|concurrent clients|concurrency|concurrency level|parallelism|users|concurrent users|sessions|terminals|"+
		"nodes|number of nodes|vCPU|vCPUs|cpus|cores|CPU cores|cpu limit|memory limit|table size|table_size|tables|rows|rows per table|batch size|block size|bs|iodepth|queue depth|QD|numjobs|jobs|processes|"+
		"payload (bytes)|value size|message size|scale factor|warehouses|shards|partitions|replicas|fillfactor|goroutines|streams|"+
		"线程数|线程|并发数|并发|并发度|连接数|客户端数|用户数|表大小|表数量|块大小|队列深度|核数|CPU核数|数据量|потоки", "|") {
		name = strings.Replace(name, "# of", "#", 1)
		if role := roleOf(name); role != roleSetting {
			t.Errorf("%q is %q", name, role)
		}
		table := "arm," + name + ",tps\nhost,1,120\nhost,8,800\npod,1,110\npod,8,600\n"
		if got := importAs(table); strings.Count(got, ":8 ") != 2 || strings.Contains(got, "error") {
			t.Errorf("%q: %s", name, got)
		}
	}
}

func TestOtherRoles(t *testing.T) {
	for role, names := range map[string]string{
		roleRun: "run|Run #|run no.|#|trial|iteration|轮次|序号|第几次|run_id", roleHost: "host|node|vm|machine|instance|主机|节点|hostname|Node Name",
		roleArm: "arm|config|Environment|runtime|storage class|环境|配置", roleLoad: "workload|test|job|测试项|Test Name",
		roleRemark: "vs host|差异|change|ratio|diff|Δ|% of host|comment|备注|损耗|vs. host",
	} {
		for name := range strings.SplitSeq(names, "|") {
			if got := roleOf(name); got != role {
				t.Errorf("%q: %q, want %q", name, got, role)
			}
		}
	}
}

// Each input of the report on tables, in other words and with other figures.
func TestTables(t *testing.T) {
	const unknown = "unknown column"
	for name, c := range map[string]struct {
		table   string
		columns string // joined by |
		want    string // parts, joined by &
	}{
		"a mean among runs": {"arm,run,tps\na,1,300\na,2,320\na,mean,310\nb,1,200\nb,2,220\nb,mean,210\n", "", "a throughput=300; a throughput=320; b throughput=200; b throughput=220 | 2 rows are statistics"},
		"a row Avg below runs, arms in headings": {"| Run | TPS on the host | TPS in the pod |\n|---|---|---|\n| Run 1 | 110 | 90 |\n| Run 2 | 120 | 80 |\n| Avg | 115 | 85 |\n", "",
			"host throughput=110; host throughput=120; pod throughput=80; pod throughput=90 | 1 rows are"},
		"statistics of a rate": {"### Inserts (ops/s)\n\n| Runtime | mean | median | p95 | stddev |\n|---|---|---|---|---|\n| host | 900 | 905 | 950 | 9 |\n| pod | 700 | 710 | 720 | 8 |\n", "",
			unknown + "&--column 'mean=throughput'&--column 'p95=ignore'"},
		"the same, named": {"### Inserts (ops/s)\n\n| Runtime | mean | median | p95 | stddev |\n|---|---|---|---|---|\n| host | 900 | 905 | 950 | 9 |\n| pod | 700 | 710 | 720 | 8 |\n", "mean=throughput|*=ignore",
			"host throughput=900; pod throughput=700 | the column \"median\" was not read"},
		"a column of text":               {"arm,run,tps,cv\na,1,10,4%\na,2,20,2%\nb,1,5,4%\nb,2,6,9%\n", "", unknown + "&cv  4%, 2%, 9%&--column 'cv=ignore'"},
		"left out by name":               {"arm,run,tps,cv\na,1,10,4%\na,2,20,2%\nb,1,5,4%\nb,2,6,9%\n", "cv=ignore", "a throughput=10; a throughput=20; b throughput=5; b throughput=6"},
		"a statistic of a rate is named": {"arm,tps,tps_p50\na,10,9\nb,20,19\n", "", `a throughput=10; b throughput=20 | the column "tps_p50" was not read`},
		"memory":                         {"arm,tps,memory\na,10,1.2 GiB\nb,20,1.2 GiB\n", "", "--column 'memory=ignore'"},
		"cpu":                            {"arm,tps,cpu\na,10,97 %\nb,20,98 %\n", "", "--column 'cpu=ignore'"},
		"a derived column is no part of an arm": {"| Runtime | tps | vs host |\n|---|---|---|\n| host | 90 | — |\n| runc | 91 | 101% of host |\n| vm | 50 | 55% |\n", "",
			"host throughput=90; runc throughput=91; vm throughput=50"},
		"a setting that is not known":           {"arm,gizmos,tps\na,1,12\na,8,80\nb,1,11\nb,8,60\n", "", "--column 'gizmos=setting'"},
		"a setting that the user names":         {"arm,gizmos,tps\na,1,12\na,8,80\nb,1,11\nb,8,60\n", "gizmos=setting", "a gizmos:1 throughput=12; a gizmos:8 throughput=80"},
		"a metric that the user names":          {"arm,widgets\na,5\nb,6\n", "widgets=throughput", "a throughput=5; b throughput=6"},
		"a metric with its unit":                {"arm,slow\na,5\nb,6\n", "slow=p95 (ms)", "a p95=0.005; b p95=0.006"},
		"a metric of an arm":                    {"run,BLUE tps,RED tps\n1,5,6\n2,7,8\n", "BLUE tps=blue:throughput|RED tps=red:throughput", "blue throughput=5; blue throughput=7; red throughput=6; red throughput=8"},
		"it is proposed":                        {"run,BLUE tps,RED tps\n1,5,6\n2,7,8\n", "", "--column 'BLUE tps=blue:throughput'&--column 'RED tps=red:throughput'"},
		"an unknown arm in a turned table":      {"| metric | host | longhorn |\n|---|---|---|\n| tps | 10 | 5 |\n", "", "--column 'longhorn=arm'"},
		"an arm that the user names":            {"| metric | host | longhorn |\n|---|---|---|\n| tps | 10 | 5 |\n", "longhorn=arm", "host throughput=10; longhorn throughput=5"},
		"an unknown row of a turned table":      {"| metric | host | pod |\n|---|---|---|\n| tps | 10 | 5 |\n| stddev | 1 | 2 |\n", "", "--column 'stddev=ignore'"},
		"units in turned tables":                {"| metric | unit | host | pod |\n|---|---|---|---|\n| tps | 1/s | 10 | 5 |\n| p95 | ms | 1 | 2 |\n", "", "host throughput=10 p95=0.001; pod throughput=5 p95=0.002"},
		"no unit in a turned table":             {"| metric | host | pod |\n|---|---|---|\n| tps | 10 | 5 |\n| p95 | 1 | 2 |\n", "", "has no unit"},
		"one figure a row":                      {"runtime,test,metric,value,unit\nhost,add,throughput,50,1/s\npod,add,throughput,40,1/s\nhost,add,p99,3,ms\npod,add,p99,4,ms\n", "", "host add throughput=50 p99=0.003; pod add throughput=40 p99=0.004"},
		"one figure a row, repeated":            {"arm,metric,value\nhost,tps,50\nhost,tps,51\npod,tps,40\npod,tps,41\n", "", "host throughput=50; host throughput=51; pod throughput=40; pod throughput=41"},
		"one figure a row, unknown":             {"arm,metric,value\nhost,faults,50\npod,faults,41\n", "", "--column 'faults=ignore'"},
		"Chinese":                               {"环境,线程数,TPS,平均延迟(ms),P99延迟(ms)\n物理机,4,52,0.7,2\n物理机,32,91,3.5,9\n容器,4,47,0.8,3\n容器,32,76,4,14\n", "", "容器 线程数:32 throughput=76 latency_mean=0.004 p99=0.014&物理机 线程数:4 throughput=52 latency_mean=0.0007 p99=0.002"},
		"thousands that another field proves":   {"arm,tps,p95 (ms)\na,\"2,450\",3.25\nb,\"2,100\",4.1\n", "", "a throughput=2450 p95=0.00325; b throughput=2100 p95=0.0041"},
		"thousands that another number proves":  {"arm,tps\na,\"2,450\"\nb,\"1,232,100\"\n", "", "a throughput=2450; b throughput=1.232e+06"},
		"thousands that nothing proves":         {"arm,tps,p95 (ms)\na,\"2,450\",3\nb,\"2,100\",4\n", "", "can be a decimal sign or a thousands separator"},
		"a decimal comma proves points":         {"arm;tps;p95 (ms)\na;2.450;3,25\nb;2.100;4,1\n", "", "a throughput=2450 p95=0.00325; b throughput=2100 p95=0.0041"},
		"a range":                               {"| Hardware | TPS | Latency p99 |\n|---|---|---|\n| host | 200-300 | 4-6ms |\n", "Hardware=arm", "is a range of unknown meaning"},
		"two columns of one metric":             {"arm,throughput,iops\na,1,2\n", "", "are both throughput"},
		"a column that no table has":            {"arm,tps\na,1\n", "nope=ignore", "a throughput=1"},
		"what a column cannot be":               {"arm,tps\na,1\n", "x=colour", "nothing that a column can be"},
		"the rest can only be ignored":          {"arm,tps\na,1\n", "*=setting", "only be ignored"},
		"a statistic in the column of the arms": {"arm,tps\nhost,10\nhost,12\nhost avg,11\npod,5\npod,6\npod avg,5.5\n", "", "host throughput=10; host throughput=12; pod throughput=5; pod throughput=6 | 2 rows"},
		"all rows are statistics":               {"arm,run,tps\nhost,mean,10\npod,mean,11\n", "", "none is a run"},
		"a sign of a mean in a column of runs":  {"arm,run,tps\nhost,1,10\nhost,2,14\nhost,⌀,12\n", "", "host throughput=10; host throughput=14 | 1 rows"},
	} {
		var columns []string
		if c.columns != "" {
			columns = strings.Split(c.columns, "|")
		}
		got := importAs(c.table, columns...)
		for part := range strings.SplitSeq(c.want, "&") {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %s\nwant %s", name, got, part)
			}
		}
	}
}

// The command with the proposals reads the table, whatever its unknown columns are called.
func TestProposalsReadTheTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{3,8}( [a-z]{2,5})?`), 1, 4, rapid.ID).Draw(t, "names")
		names = slices.DeleteFunc(names, func(n string) bool {
			return roleOf(n) != "" || figureOf(n).metric(true).Name != "" || len(figureOf(n).rest) == 0 || figureOf(n).kind != ""
		})
		table := "arm,tps"
		for _, n := range names {
			table += "," + n
		}
		table += "\n"
		for i := range 6 {
			table += []string{"host", "pod"}[i%2] + fmt.Sprintf(",%d", 100+i)
			for range names {
				table += "," + rapid.SampledFrom([]string{"1", "2.5", "4%", "x", "y z", "1.2 GiB", ""}).Draw(t, "field")
			}
			table += "\n"
		}
		c, _ := NewColumns(nil)
		_, _, err := c.Import("", strings.NewReader(table))
		var unknown *UnknownColumns
		switch {
		case len(names) == 0 && err == nil:
			return
		case !errors.As(err, &unknown) || len(unknown.Tables[0].Columns) != len(names):
			t.Fatalf("%v\n%s", err, table)
		}
		if again := importAs(table, unknown.Proposals()...); strings.Contains(again, "error") {
			t.Fatalf("%s\n%s", again, table)
		}
		if again := importAs(table, "*=ignore"); strings.Count(again, "throughput") != 6 {
			t.Fatalf("%s\n%s", again, table)
		}
	})
}

// A row with a statistic's word in any column that says what rows are is no run.
func TestStatisticsAreNoRuns(t *testing.T) {
	k := known()
	for word := range k.meaning[rowStatistic] {
		for _, form := range []string{word, strings.ReplaceAll(word, "µ", "μ"), strings.ToUpper(word), "**" + word + "**", word + ":", word + " (3 runs)", word + " of 3"} {
			if unicodeOnly := strings.ToUpper(word); form == unicodeOnly && strings.ToLower(unicodeOnly) != word {
				continue // σ has two small letters
			}
			for _, heading := range []string{"run", "arm", "test", "note", "host"} {
				cells := map[string]string{"arm": "host", "run": "1", "test": "x", "note": "", "host": "m"}
				row := func(tps string) string {
					return cells["arm"] + "|" + cells["run"] + "|" + cells["test"] + "|" + cells["note"] + "|" + cells["host"] + "|" + tps + "\n"
				}
				table := "arm|run|test|note|host|tps\n" + row("10")
				cells["run"] = "2"
				table += row("20")
				cells[heading] = form
				table += row("15")
				if got := importAs(table); strings.Contains(got, "=15") || !strings.Contains(got, "=10") || !strings.Contains(got, "1 rows are statistics") {
					t.Errorf("%q in %s: %s", form, heading, got)
				}
			}
		}
	}
}

// known.txt names no column twice in roles that exclude each other.
func TestKnownNamesAreUnique(t *testing.T) {
	seen := map[string]string{}
	for _, role := range []string{roleArm, roleLoad, roleSetting, roleRun, roleHost, roleRemark, roleMetric, roleValue, roleUnit} {
		if len(known().meaning[role]) == 0 {
			t.Errorf("no column is %q", role)
		}
		for name := range known().meaning[role] {
			if seen[name] != "" {
				t.Errorf("%q is %q and %q", name, seen[name], role)
			}
			seen[name] = role
		}
	}
	for _, m := range append(slices.Clone(figureWords), rowStatistic) {
		if len(known().meaning[m]) == 0 {
			t.Errorf("no word is %q", m)
		}
	}
}
