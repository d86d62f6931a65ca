package format_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const someLog = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nRunning the test with following options:\nNumber of threads: 2\n\n" +
	"[ 1s ] thds: 2 tps: 48.89 qps: 977.74 (r/w/o: 684.42/195.55/97.77) lat (ms,99%): 51.02 err/s: 0.00 reconn/s: 0.00\n" +
	"General statistics:\n    total time:                          2.0072s\n"

// Only text before every line is removed.
func TestPrefix(t *testing.T) {
	for name, mark := range map[string]func(line int) string{
		"none":         func(int) string { return "" },
		"quotation":    func(int) string { return "> " },
		"list":         func(int) string { return "-- " },
		"diff":         func(int) string { return "+    " },
		"event stream": func(int) string { return "data: " },
		"runner":       func(i int) string { return fmt.Sprintf("12:0%d:%d DEBUG| [stdout] ", i, 7*i) },
		"fabric":       func(int) string { return "[db1.example] out: " },
		"compose":      func(int) string { return "bench-1  | " },
		"numbered":     func(i int) string { return fmt.Sprintf("%4d: ", i) },
		"kubectl":      func(i int) string { return fmt.Sprintf("2026-11-21T07:00:0%d.%d5Z [pod/bench/b] ", i, i) },
	} {
		var marked strings.Builder
		for i, line := range strings.Split(strings.TrimSuffix(someLog, "\n"), "\n") {
			marked.WriteString(strings.TrimRight(mark(i+1)+line, " ") + "\n")
		}
		if got, want := known.BareLines(strings.NewReader(marked.String())), known.BareLines(strings.NewReader(someLog)); got != want {
			t.Errorf("%s:\n%s, want\n%s", name, got, want)
		}
		if f := known.Detect("x", []byte(marked.String())); f.Kind != "sysbench" || f.Era != "1.0.20" {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// A repeated beginning of the tools' own lines is no prefix.
func TestToolsHaveNoPrefix(t *testing.T) {
	files, err := filepath.Glob("../*/testdata/*.*")
	if err != nil || len(files) < 150 {
		t.Fatal(err, len(files))
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".golden") || strings.HasSuffix(name, ".md") {
			continue
		}
		if p := known.Learn(bytes.Repeat(b, 3)); len(p) > 0 {
			t.Errorf("%s: %q", name, p)
		}
	}
}

// Text about a log is no prefix of its lines.
func TestNoPrefix(t *testing.T) {
	for _, in := range []string{
		"We got tps = 5 (including connections establishing)\nand more\n",
		"{\"fio version\": \"fio-3.33\",\n \"jobs\": []}\n{\"fio version\": \"fio-3.33\"}\n",
		"hostname=a, fio=fio-3.38, flags=1\nhostname=b, fio=fio-3.38, flags=1\n",
		someLog + "> sysbench 1.0.20\n> Running the test with following options:\n",
	} {
		if p := known.Learn([]byte(in)); len(p) > 0 {
			t.Errorf("%q before the lines of %q", p, in)
		}
	}
}

func TestUnfold(t *testing.T) {
	for in, want := range map[string]string{
		"| tps = 1 | tps = 2 |\n| query mode: a | query mode: b |\n": " tps = 1\n query mode: a\ntps = 2 \nquery mode: b \n",
		"| a | b |\n| 1 | 2 |\n":                                     "| a | b |\n| 1 | 2 |\n",
		"a|b\n1|2\n":                                                 "a|b\n1|2\n",
	} {
		if got := string(known.Unfold([]byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
