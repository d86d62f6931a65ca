package pgbench

import (
	"slices"
	"strings"
	"testing"
)

// The first was printed by Debian's package, the others are as the sources of
// the versions have it.
func TestIdentify(t *testing.T) {
	for text, want := range map[string]int{
		"pgbench (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n": 15,
		"pgbench (PostgreSQL) 10.23":                            10,
		"pgbench (PostgreSQL) 18devel":                          18,
		"pgbench (PostgreSQL) 17beta1":                          17,
		"pgbench (PostgreSQL) 9.6.24":                           0,
		"sysbench 1.0.20":                                       0,
		"":                                                      0,
	} {
		v, err := Identify(text)
		if (err != nil) != (want == 0) || v.Major != want {
			t.Errorf("%q: %+v, %v", text, v, err)
		}
	}
}

func TestArgs(t *testing.T) {
	r := Run{
		Server: Server{Host: "/proc/self/fd/3", Port: 5432, User: "u", Database: "d"}, Script: SelectOnly, Mode: "prepared",
		Clients: 4, Threads: 2, Seconds: Forever, LogPrefix: "/x/log", Options: []string{"--max-tries=3"},
	}
	args := r.Args()
	for _, want := range []string{"--builtin=select-only", "--protocol=prepared", "--client=4", "--jobs=2", "--log", "--log-prefix=/x/log", "--max-tries=3", "--host=/proc/self/fd/3", "--no-vacuum"} {
		if !slices.Contains(args, want) {
			t.Errorf("no %s in %q", want, args)
		}
	}
	if args[len(args)-1] != "d" {
		t.Errorf("the database is not last: %q", args)
	}
	r.Script, r.LogPrefix = "/my/script", ""
	if args := r.Args(); !slices.Contains(args, "--file=/my/script") || slices.Contains(args, "--log") {
		t.Errorf("%q", args)
	}
	if got := string(PassFile(`a:b\c`)); got != "*:*:*:*:a\\:b\\\\c\n" {
		t.Errorf("%q", got)
	}
}

func TestCheckOption(t *testing.T) {
	for _, good := range []string{"--max-tries=5", "--define=x=1", "--report-per-command", "--verbose-errors"} {
		if err := CheckOption(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "--", "-c", "--client=3", "--cli=3", "--log", "--connect", "--time=1", "-S", "--select-only"} {
		if CheckOption(bad) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// Lines of pgbench 15.18; those that failed, were skipped or have a lag are as
// its documentation shows them.
const sample = `0 1 1205 0 1795251711 123456
1 1 884 0 1795251711 123999
0 199 2241 0 1175850568 995598
3 0 failed 0 1499414498 84905
3 0 deadlock 0 1499414498 84905 9
0 5 skipped 0 1412881037 915578 5000
0 2 1021 1 1412881037 912698 85 0
`

func TestLog(t *testing.T) {
	want := []Transaction{
		{Latency: 1205e3, Ended: 1795251711_123456e3}, {Latency: 884e3, Ended: 1795251711_123999e3}, {Latency: 2241e3, Ended: 1175850568_995598e3},
		{Failed: true, Ended: 1499414498_084905e3}, {Failed: true, Ended: 1499414498_084905e3}, {Skipped: true, Ended: 1412881037_915578e3},
		{Latency: 1021e3, Ended: 1412881037_912698e3},
	}
	for size := 1; size < len(sample); size++ {
		var l Log
		var got []Transaction
		for b := []byte(sample); len(b) > 0; b = b[min(size, len(b)):] {
			if err := l.Feed(b[:min(size, len(b))], func(t Transaction) { got = append(got, t) }); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("in pieces of %d: %v", size, got)
		}
	}
	for _, bad := range []string{"\n", "x\n", "0 1\n", "0 1 2 3\n", "0 1 -2 0 1 2\n", "0 1 99999999999999999999 0 1 2\n", "0 1 gone 0 1 2\n", "0 1 5 0 1\n", "0 1 5 0 1 1000000\n"} {
		var l Log
		if err := l.Feed([]byte(bad), func(Transaction) {}); err == nil || !strings.Contains(err.Error(), "unknown line") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzLog(f *testing.F) {
	f.Add([]byte(sample), 7)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		var whole, split []Transaction
		var one, two Log
		err := one.Feed(b, func(x Transaction) { whole = append(whole, x) })
		cut = min(max(cut, 0), len(b))
		if err2 := two.Feed(b[:cut], func(x Transaction) { split = append(split, x) }); err2 != nil {
			if err == nil {
				t.Fatal(err2)
			}
			return
		}
		err2 := two.Feed(b[cut:], func(x Transaction) { split = append(split, x) })
		if (err != nil) != (err2 != nil) || !slices.Equal(whole, split) {
			t.Fatalf("%v, %v; %v, %v", whole, err, split, err2)
		}
		for _, x := range whole {
			if x.Latency < 0 {
				t.Fatal(x)
			}
		}
	})
}

func BenchmarkLog(b *testing.B) {
	b.SetBytes(int64(len(sample)))
	var l Log
	for b.Loop() {
		l.Feed([]byte(sample), func(Transaction) {})
	}
}
