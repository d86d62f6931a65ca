package pgbench

import (
	"slices"
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
	r := Command{
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
