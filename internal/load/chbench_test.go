package load_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/chbench"
	"github.com/tarelab/tare/internal/counter"
	"github.com/tarelab/tare/internal/load"
	"github.com/tarelab/tare/internal/serve"
	"github.com/tarelab/tare/internal/service"
	"github.com/tarelab/tare/internal/testneed"
	"github.com/tarelab/tare/internal/workload/workloadtest"
)

func chBenchmark(t *testing.T, queries ...string) load.ClickHouseBenchmark {
	t.Helper()
	p := load.ClickHouseBenchmark{ClickHouse: clickhouse(t, queries...), Clients: 2}
	p.TCP = true
	return p
}

func startBenchmark(t *testing.T, p load.ClickHouseBenchmark) (*workloadtest.Process, *counter.Memory) {
	t.Helper()
	m := workloadtest.Counters(t, 1)
	return workloadtest.Start(t, task(t, load.KindClickHouseBenchmark, p), m), m
}

// oneWindow asks for a window; ok is false when the load gave up.
func oneWindow(t *testing.T, p *workloadtest.Process, m *counter.Memory) (a counter.Answer, ok bool) {
	t.Helper()
	r := m.Ask(500*time.Millisecond, 0)
	workloadtest.Eventually(t, "answered or failed", func() bool {
		state, _ := m.State()
		a, ok = m.Answered(r, 0)
		return ok || state == counter.Failed || p.Ended()
	})
	return a, ok
}

// The real tool of Debian, 18.16: its password is in no argument, not even
// while it runs.
func TestClickHouseBenchmarkConcealsThePassword(t *testing.T) {
	testneed.Tool(t, "clickhouse-benchmark")
	params := chBenchmark(t, "SELECT count() FROM hits", `SELECT 'a\\b'`)
	p, m := startBenchmark(t, params)
	r := m.Ask(2*time.Second, 0)
	workloadtest.Eventually(t, "began", func() bool { return m.Began(r, 0) || p.Ended() })
	secret, err := serve.Secret(params.Server.Dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := ""
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		b, _ := os.ReadFile(path)
		if text := string(b); strings.Contains(text, secret) {
			t.Errorf("%s shows the password: %q", path, text)
		} else if strings.Contains(text, chbench.Placeholder) {
			seen = text
		}
	}
	if seen == "" {
		t.Errorf("clickhouse-benchmark is not seen running: %s", p.Said())
	}
	if _, ok := oneWindow(t, p, m); !ok {
		t.Fatal(p.Said())
	}
	p.Signal(t, unix.SIGTERM)
	if code := p.Exit(t); code != 0 || strings.Contains(p.Said(), secret) {
		t.Errorf("ended with %d: %s", code, p.Said())
	}
}

func TestClickHouseBenchmarkFaults(t *testing.T) {
	testneed.Tool(t, "clickhouse-benchmark")
	for _, c := range []struct {
		name   string
		change func(t *testing.T, p *load.ClickHouseBenchmark)
		later  func(t *testing.T, p load.ClickHouseBenchmark) // when it is ready
		want   string
	}{
		{"tool missing", func(_ *testing.T, p *load.ClickHouseBenchmark) { p.Program = "/nowhere/clickhouse-benchmark" }, nil, "apt-get install clickhouse-tools"},
		{"another tool", func(_ *testing.T, p *load.ClickHouseBenchmark) { p.Program = "/bin/true" }, nil, "it is no clickhouse-benchmark"},
		{"cannot reconnect", func(_ *testing.T, p *load.ClickHouseBenchmark) { p.Reconnect = 1 }, nil, "want reconnect=0"},
		{"option unknown", func(_ *testing.T, p *load.ClickHouseBenchmark) { p.Options = []string{"--no-such=1"} }, nil, "no-such"},
		{"query wrong", func(_ *testing.T, p *load.ClickHouseBenchmark) { p.Queries = []string{"SELECT nothing FROM hits"} }, nil, "nothing"},
		{"server cannot start", func(_ *testing.T, p *load.ClickHouseBenchmark) { p.Server.Options = []string{"--users_config=no.xml"} }, nil, "no.xml"},
		{"server dies", nil, func(t *testing.T, p load.ClickHouseBenchmark) {
			if err := unix.Kill(runsIn(t, p.Server.Dir), unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}, "the server was ended by SIGKILL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			params := chBenchmark(t, "SELECT count() FROM hits")
			if c.change != nil {
				c.change(t, &params)
			}
			p, m := startBenchmark(t, params)
			if c.later != nil {
				if _, ok := oneWindow(t, p, m); !ok {
					t.Fatal(p.Said())
				}
				c.later(t, params)
			}
			oneWindow(t, p, m)
			if code := p.Exit(t); code != 1 {
				t.Errorf("ended with %d", code)
			}
			if state, note := m.State(); state != counter.Failed || !strings.Contains(note, c.want) {
				t.Errorf("state %d, note %q; want %q\n%s", state, note, c.want, p.Said())
			}
		})
	}
}

// standIn is a program that prints what clickhouse-benchmark of another era
// prints, for the tool of that era cannot be had here: its help lists these
// options. It leaves its arguments, with the password that it got, in a file.
const standIn = `#!/bin/sh
case "$*" in *--help*)
	printf ' -c [ --concurrency ] arg\n -i [ --iterations ] arg\n -t [ --timelimit ] arg\n -d [ --delay ] arg\n%%s\n' '%s'
	exit 1 ;;
esac
cat >/dev/null
for a; do echo "$a"; case $a in --json=*) [ -z '%s' ] || cat '%s' >"${a#--json=}" ;; esac; done >%s
cat %s >&2
`

// A wrapped tool of every era: each is asked for the client's time and for
// connections that are kept, in its own words, and what it prints is counted.
func TestClickHouseBenchmarkOfEveryEra(t *testing.T) {
	for _, c := range []struct {
		name, help, log, json string
		wants, wantsNot       []string
		ops                   uint64
	}{
		{"1.1", "", "1.1.log", "", nil, []string{"--client-side-time", "--reconnect=0", "--reconnect"}, 0},
		{"18.16", "  --json arg", "18.16-1-printed.log", "18.16-1-printed.json", nil, []string{"--client-side-time"}, 1592},
		{"20", "  --json arg\n  --continue_on_errors  go on\n  --reconnect  anew", "20.log", "21.json", []string{"--continue_on_errors"}, []string{"--reconnect", "--reconnect=0", "--client-side-time"}, 80},
		{"23.8", "  --client-side-time  x\n  --reconnect arg (=1)  y\n  --continue_on_errors", "23.8.log", "", []string{"--client-side-time", "--reconnect=0"}, []string{"--json"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			params := chBenchmark(t, "SELECT count() FROM hits")
			dir := t.TempDir()
			data, err := filepath.Abs("../format/clickhouse/testdata")
			if err != nil {
				t.Fatal(err)
			}
			json := ""
			if c.json != "" {
				json = filepath.Join(data, c.json)
			}
			asked := filepath.Join(dir, "asked")
			params.Program = filepath.Join(dir, "clickhouse-benchmark")
			text := fmt.Sprintf(standIn, c.help, json, json, asked, filepath.Join(data, c.log))
			if err := os.WriteFile(params.Program, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
			p, m := startBenchmark(t, params)
			a, ok := oneWindow(t, p, m)
			if !ok || a.Seconds <= 0 || m.Ops() == 0 || c.ops != 0 && m.Ops() != c.ops {
				t.Fatalf("%+v, %d operations: %s", a, m.Ops(), p.Said())
			}
			b, err := os.ReadFile(asked)
			if err != nil {
				t.Fatal(err)
			}
			args := "\n" + string(b)
			secret, err := serve.Secret(params.Server.Dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range append(c.wants, "--concurrency=2", "--delay=0", "--timelimit=0.5", "--user="+service.User, "--password\n"+secret) {
				if !strings.Contains(args, "\n"+want+"\n") {
					t.Errorf("no %s in %s", want, args)
				}
			}
			for _, no := range c.wantsNot {
				if strings.Contains(args, "\n"+no+"\n") {
					t.Errorf("%s in %s", no, args)
				}
			}
			p.Signal(t, unix.SIGTERM)
			p.Exit(t)
		})
	}
}
