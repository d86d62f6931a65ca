package chbench

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The help of 18.16 was printed by Debian's package, cut at the settings of
// queries. The others are the options of Benchmark.cpp of 2022 (e15933f), and
// of later, in the layout of the first: no such version runs here.
const (
	help2022 = `Usage: clickhouse-benchmark [options] < queries.txt
Allowed options:
  --help                                produce help message
  --query arg                           query to execute
  -c [ --concurrency ] arg (=1)         number of parallel queries
  -d [ --delay ] arg (=1)               delay between intermediate reports in
  -i [ --iterations ] arg (=0)          amount of queries to be executed
  -t [ --timelimit ] arg (=0)           stop launch of queries after specified
  --json arg                            write final report to specified file in
  --continue_on_errors                  continue testing even if a query fails
  --reconnect                           establish new connection for every query
`
	helpLater = `Usage: clickhouse benchmark [options] < queries.txt
Allowed options:
  -c [ --concurrency ] arg (=1)         number of parallel queries
  -C [ --max_concurrency ] arg (=0)     gradually increase number of parallel
  -d [ --delay ] arg (=1)               delay between intermediate reports in
  -i [ --iterations ] arg (=0)          amount of queries to be executed
  -t [ --timelimit ] arg (=0)           stop launch of queries after specified
  --max-consecutive-errors arg (=0)     set number of allowed consecutive errors
  --ignore-error                        continue testing even if a query fails
  --reconnect [=arg(=1)] (=0)           control reconnection behaviour
  --client-side-time                    display the time including network
`
)

func versions(t *testing.T) map[string]Can {
	t.Helper()
	old, err := os.ReadFile("testdata/18.16-help.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]Can{}
	for name, help := range map[string]string{"18.16": string(old), "2022": help2022, "later": helpLater} {
		if all[name], err = Identify(help); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	return all
}

func TestIdentify(t *testing.T) {
	got := versions(t)
	for name, want := range map[string]Can{
		"18.16": {JSON: true},
		"2022":  {JSON: true, GoOn: "--continue_on_errors", Reconnect: "flag"},
		"later": {ClientTime: true, GoOn: "--ignore-error", Reconnect: "number"},
	} {
		if got[name] != want {
			t.Errorf("%s: %+v, want %+v", name, got[name], want)
		}
	}
	for _, bad := range []string{"", "Usage: clickhouse-client\n  --host arg\n", "Use one of the following commands:\nclickhouse local [args]"} {
		if _, err := Identify(bad); err == nil {
			t.Errorf("%q was taken for it", bad)
		}
	}
}

func TestArgs(t *testing.T) {
	can := versions(t)
	r := Run{Host: "127.0.0.1", Port: 9000, User: "u", Database: "d", Concurrency: 10, Iterations: 10000, Seconds: 30, JSON: "/j", Options: []string{"--max_threads=1"}}
	for name, want := range map[string]struct {
		with, without []string
	}{
		"18.16": {[]string{"--json=/j"}, []string{"--client-side-time", "--reconnect"}},
		"2022":  {[]string{"--json=/j", "--continue_on_errors"}, []string{"--client-side-time", "--reconnect"}},
		"later": {[]string{"--client-side-time", "--reconnect=0", "--ignore-error"}, []string{"--json=/j"}},
	} {
		got, err := r.Args(can[name])
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range append(want.with, "--host=127.0.0.1", "--port=9000", "--user=u", "--database=d", "--concurrency=10", "--iterations=10000", "--timelimit=30", "--delay=0", "--password", Placeholder) {
			if !slices.Contains(got, a) {
				t.Errorf("%s: no %s in %q", name, a, got)
			}
		}
		for _, a := range want.without {
			if slices.Contains(got, a) {
				t.Errorf("%s: %s in %q", name, a, got)
			}
		}
		if got[len(got)-1] != "--max_threads=1" {
			t.Errorf("%s: %q", name, got)
		}
	}
	for name, want := range map[string]map[int]string{
		"18.16": {1: "error", 5: "error"},
		"2022":  {1: "--reconnect", 5: "error"},
		"later": {1: "--reconnect=1", 5: "--reconnect=5"},
	} {
		for n, flag := range want {
			r.Reconnect = n
			got, err := r.Args(can[name])
			if (err != nil) != (flag == "error") || err == nil && !slices.Contains(got, flag) {
				t.Errorf("%s, %d: %q, %v", name, n, got, err)
			}
		}
	}
}

func TestInput(t *testing.T) {
	got := string(Input([]string{"SELECT 1", "SELECT 'a\\tb\tc'"}))
	if want := "SELECT 1\nSELECT 'a\\\\tb\\tc'\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCheckOption(t *testing.T) {
	for _, good := range []string{"--max_threads=1", "--randomize=1", "--stage=fetch_columns"} {
		if err := CheckOption(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"max_threads=1", "--", "--password=x", "--host=example.org", "--cumulative", "-c"} {
		if err := CheckOption(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
