package sysbench

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/testing/testneed"
)

func TestIdentify(t *testing.T) {
	for text, want := range map[string]string{
		"sysbench 1.0.20\n":                                 "1.0.20",
		"sysbench 1.1.0\n":                                  "1.1.0",
		"sysbench 1.1.0-3ceba0b\n":                          "1.1.0-3ceba0b",
		"sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)": "1.0.20",
		"sysbench 0.5":                                      "",
		"sysbench 0.4.12:  multi-threaded system evaluation benchmark": "",
		"":                                  "",
		"bash: sysbench: command not found": "",
	} {
		v, err := Identify(text)
		if v.Text != want && err == nil || (err == nil) != (want != "") {
			t.Errorf("%q: %+v, %v; want %q", text, v, err, want)
		}
	}
	out, err := exec.Command(testneed.Tool(t, Program), "--version").Output()
	if v, e := Identify(string(out)); err != nil || e != nil || v.Major < 1 {
		t.Errorf("the installed one says %q (%v): %+v, %v", out, err, v, e)
	}
}

func TestThePasswordIsInNoArgument(t *testing.T) {
	s := Server{Driver: "mysql", Host: "127.0.0.1", Port: 3307, User: "sbtest", Database: "sbtest", Secret: "geheim"}
	config := string(s.Config())
	for _, want := range []string{"mysql-password=geheim\n", "mysql-port=3307\n", "db-driver=mysql\n", "mysql-db=sbtest\n"} {
		if !strings.Contains(config, want) {
			t.Errorf("no %q in %q", want, config)
		}
	}
	s.Socket = "run/sock"
	if config = string(s.Config()); !strings.Contains(config, "mysql-socket=run/sock\n") || strings.Contains(config, "3307") {
		t.Errorf("with a socket: %q", config)
	}
	r := Command{Data: Data{Script: "oltp_read_only", Tables: 2, Rows: 10, Options: []string{"--point-selects=1"}}, Threads: 3, RandType: "uniform"}
	args := r.Args("/proc/self/fd/4", "/proc/self/fd/5", true)
	want := []string{"/proc/self/fd/4", "--config-file=/proc/self/fd/5", "--threads=3", "--time=0", "--events=0", "--report-interval=1",
		"--tables=2", "--table-size=10", "--rand-type=uniform", "--point-selects=1", "run"}
	if !slices.Equal(args, want) {
		t.Errorf("%q\nwant %q", args, want)
	}
}

func TestCheckOption(t *testing.T) {
	for option, ok := range map[string]bool{
		"--point-selects=5": true, "--skip_trx": true, "--rand-pareto-h=0.3": true, "--mysql-ignore-errors=all": true, "--db-ps-mode=disable": true,
		"--threads=4": false, "--mysql-password=x": false, "--mysql_password=x": false, "--table_size=5": false, "--time=1": false,
		"point-selects=5": false, "run": false, "--": false, "-x": false, "--help": false, "--rate=5": false,
	} {
		if err := CheckOption(option); (err == nil) != ok {
			t.Errorf("%s: %v", option, err)
		}
	}
}

func TestDataScript(t *testing.T) {
	for script, want := range map[string]string{
		"oltp_read_only": "oltp_read_write", "select_random_points": "oltp_read_write", "bulk_insert": "bulk_insert", "/x/mine.lua": "/x/mine.lua",
	} {
		if got := DataScript(script); got != want {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
	}
	for script, text := range map[string]string{"oltp_insert": "", "/x/a.lua": `require("oltp_common")`} {
		if !SharesTables(script, []byte(text)) {
			t.Errorf("%s has tables", script)
		}
	}
	for script, text := range map[string]string{"bulk_insert": "", "/x/a.lua": `function event() end`} {
		if SharesTables(script, []byte(text)) {
			t.Errorf("%s has no tables", script)
		}
	}
}
