package importer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/logs/importer"
)

// redisReport is a report of redis-benchmark without the name of its test.
func redisReport(rate int) string {
	return fmt.Sprintf("Summary:\n  throughput summary: %d.00 requests per second\n  latency summary (msec):\n"+
		"          avg       min       p50       p95       p99       max\n        0.100     0.050     0.100     0.200     0.300     1.000\n", rate)
}

// pgbenchReport is the end of a report of pgbench.
func pgbenchReport(rate int) string {
	return fmt.Sprintf("scaling factor: 1\nquery mode: simple\nnumber of clients: 8\nnumber of transactions actually processed: 1000\n"+
		"latency average = 2.000 ms\ninitial connection time = 5.000 ms\ntps = %d.000000 (without initial connection time)\n", rate)
}

// fioReport is a report of fio without the lines above it.
func fioReport(iops int, bandwidth string) string {
	return fmt.Sprintf("test: (groupid=0, jobs=1): err= 0: pid=%d: Mon Feb 17 11:19:21 2020\n  read: IOPS=%d, BW=%s (1MB/s)(100MiB/10000msec)\n"+
		"    clat (usec): min=1, max=20, avg=10.00, stdev= 1.00\n\nRun status group 0 (all jobs):\n   READ: bw=%s, io=100MiB, run=10000-10000msec\n", iops, iops, bandwidth, bandwidth)
}

// Several reports on a page are repeats of one load if the headings above them differ only in numbers of runs, dates
// and times. Other differences make them different loads. Prose says nothing.
func TestReportsOfOnePage(t *testing.T) {
	type page struct {
		name, one, two string
		loads          int
		names          string // what the second load is called after
	}
	for _, c := range []page{
		{"commands", "$ redis-benchmark -t set\n", "$ redis-benchmark -t get\n", 2, "get"},
		{"options with numbers", "$ redis-benchmark -d 10 -n 1000\n", "$ redis-benchmark -d 1000 -n 1000\n", 2, "-d 1000"},
		{"a prompt of root", "[root@db1 ~]# redis-benchmark -q -c 10\n", "[root@db1 ~]# redis-benchmark -q -c 20\n", 2, "-c 20"},
		{"a prompt with a path", "bob@x:~/src$ ./redis-benchmark -c 10\n", "bob@x:~/src$ ./redis-benchmark -c 10 -P 16\n", 2, "-P 16"},
		{"another runner", "$ redis-benchmark -c 10\n", "$ docker run --rm redis redis-benchmark -c 10\n", 2, "docker"},
		{"in backticks", "`redis-benchmark -c 10 --threads 2`\n", "`redis-benchmark -c 10 --threads 4`\n", 2, "--threads 4"},
		{"headings", "## Original Redis\n", "## Redka\n", 2, "redka"},
		{"headings of HTML", "<h2>noop</h2>\n", "<h2>mq-deadline</h2>\n", 2, "mq-deadline"},
		{"bold", "**sync**\n", "**async**\n", 2, "async"},
		{"a colon", "Graviton:\n", "x64:\n", 2, "x64"},
		{"a wide colon", "主机：\n", "容器：\n", 2, "容器"},
		{"bare words", "host\n", "docker\n", 2, "docker"},
		{"a rule", "====== bare metal\n", "====== with docker\n", 2, "with docker"},
		{"a comment", "# echo, 10 bytes\n", "# echo, 5000 bytes\n", 2, "5000"},
		{"numbers with units", "payload 10 B\n", "payload 5000 B\n", 2, "5000"},
		{"threads", "threads=16\n", "threads=32\n", 2, "threads=32"},
		{"only the second says it", "", "With Docker:\n", 2, "docker"},
		{"other languages", "### Контейнер\n", "### Железо\n", 2, "железо"},
		{"accents", "Mit Verschlüsselung:\n", "Ohne Verschlüsselung:\n", 2, "ohne"},

		{"nothing", "", "", 1, ""},
		{"prose between", "", "Then I did it once more inside of a container, with the default seccomp profile.\n", 1, ""},
		{"fences", "```\n", "```\n\n```text\n", 1, ""},
		{"runs", "## Run 1\n", "## Run 2\n", 1, ""},
		{"runs, glued", "run1:\n", "run2:\n", 1, ""},
		{"runs of", "Test 1/3\n", "Test 2/3\n", 1, ""},
		{"words that count", "First run:\n", "Second run:\n", 1, ""},
		{"ordinals", "1st attempt\n", "2nd attempt\n", 1, ""},
		{"bare numbers", "(1)\n", "(2)\n", 1, ""},
		{"numbers with a dot", "1.\n", "2.\n", 1, ""},
		{"Chinese", "第一次测试\n", "第二次测试\n", 1, ""},
		{"Russian", "Запуск 1\n", "Запуск 2\n", 1, ""},
		{"German", "Durchlauf 1:\n", "Durchlauf 2:\n", 1, ""},
		{"dates", "2024-03-01 10:00:01\n", "2024-03-02 11:00:07\n", 1, ""},
		{"date(1)", "Mon Mar  4 10:00:01 UTC 2024\n", "Tue Mar  5 10:02:01 UTC 2024\n", 1, ""},
		{"prompts of two hosts", "ann@db1:~$ redis-benchmark -c 10\n", "bob@db2:/tmp$ redis-benchmark -c 10\n", 1, ""},
		{"servers", "$ redis-benchmark -h 10.0.0.7 -p 6379 -c 10\n", "$ redis-benchmark -h 10.0.0.8 -p 6380 -c 10\n", 1, ""},
		{"one command", "$ redis-benchmark -c 10\n", "$ redis-benchmark -c 10\n", 1, ""},
		{"one heading, two runs", "## noop\nRun 1:\n", "Run 2:\n", 1, ""},
		{"one heading", "## noop\n", "", 1, ""},
		{"prose about the page", "We tried it on our biggest machine last week, and this is what we saw.\n", "", 1, ""},
	} {
		for tool, report := range map[string]func(int) string{"redis": redisReport, "pgbench": pgbenchReport, "fio": func(x int) string { return fioReport(x, "4MiB/s") }} {
			one, two := c.one, c.two
			if tool != "redis" {
				one, two = strings.ReplaceAll(one, "redis-benchmark", tool), strings.ReplaceAll(two, "redis-benchmark", tool)
			}
			for _, end := range []string{"\n", "\r\n"} {
				text := strings.ReplaceAll(one+report(1000)+"\n"+two+report(1010), "\n", end)
				r, err := alone(t, put(t, "page.md", text))
				if err != nil {
					t.Errorf("%s, %s: %v", c.name, tool, err)
					continue
				}
				if len(r.Workloads) != c.loads || len(r.Runs) != 2 {
					t.Errorf("%s, %s: %d loads of %d runs, want %d", c.name, tool, len(r.Workloads), len(r.Runs), c.loads)
				}
				if last := r.Workloads[len(r.Workloads)-1].Name; !strings.Contains(last, c.names) {
					t.Errorf("%s, %s: %q, want %q in it", c.name, tool, last, c.names)
				}
				if said := strings.Contains(printed(r.Warnings), "differ in the headings"); said != (c.loads == 2) {
					t.Errorf("%s, %s: %v", c.name, tool, r.Warnings)
				}
			}
		}
	}
}

// A heading holds for all text below it.
func TestHeadingsAreNested(t *testing.T) {
	text := ""
	for i, h := range []string{"# Host\n## small\n", "## large\n", "# Docker\n## small\n", "## large\n"} {
		text += h + redisReport(1000*(i+1))
	}
	r, err := alone(t, put(t, "page.md", text))
	if err != nil || len(r.Workloads) != 4 {
		t.Errorf("%v %+v", err, r)
	}
}

// Pages of two arms are compared heading by heading.
func TestPagesOfTwoArms(t *testing.T) {
	page := func(arm string, rate int) string {
		return put(t, arm+".md", "## SET on "+arm+"\n"+redisReport(rate)+"## GET on "+arm+"\n"+redisReport(3*rate))
	}
	r, err := compared(page("bare", 1000), page("docker", 500))
	if err != nil || len(r.Workloads) != 2 || len(r.Runs) != 4 {
		t.Fatalf("%v %+v", err, r)
	}
	for _, x := range r.Runs {
		want := map[string]float64{"bare set": 1000, "bare get": 3000, "docker set": 500, "docker get": 1500}[x.Arm+" "+x.Workload[strings.LastIndexByte(x.Workload, ' ')+1:]]
		if figure(x, "throughput") != want {
			t.Errorf("%s of %s: %v, want %v", x.Workload, x.Arm, figure(x, "throughput"), want)
		}
	}
}

func compared(bare, docker string) (*importer.Result, error) {
	return importer.Read(importer.Options{Arms: []importer.ArmFiles{{Name: "bare", Files: []string{bare}}, {Name: "docker", Files: []string{docker}}}})
}

// Reports under numbered headings are repeats only if their figures agree.
func TestNumberedHeadings(t *testing.T) {
	page := func(name string, rates ...int) string {
		text := ""
		for i, r := range rates {
			text += fmt.Sprintf("=== benchmark%d ===\n", i+1) + pgbenchReport(r)
		}
		return put(t, name, text)
	}
	r, err := alone(t, page("a.txt", 3000, 5, 310))
	if err != nil || len(r.Workloads) != 3 || !strings.Contains(printed(r.Warnings), "from 5 to 3000") {
		t.Errorf("%v %+v", err, r)
	}
	r, err = alone(t, page("a.txt", 519, 878, 700))
	if err != nil || len(r.Workloads) != 1 || len(r.Runs) != 3 {
		t.Errorf("%v %+v", err, r)
	}
	r, err = compared(page("a.txt", 3000, 5, 310), page("b.txt", 290, 280, 300)) // one arm decides for all
	if err != nil || len(r.Workloads) != 3 || len(r.Runs) != 6 {
		t.Errorf("%v %+v", err, r)
	}
}
