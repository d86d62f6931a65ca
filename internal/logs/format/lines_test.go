package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tarelab/tare/record"
)

func collect(r io.Reader) (out []string, l *Lines) {
	l = newLines(r)
	for l.Next() {
		s := fmt.Sprintf("%d:%s", l.Number(), l.Bytes())
		if l.Torn() {
			s += "~"
		}
		out = append(out, s)
	}
	return out, l
}

func TestLines(t *testing.T) {
	for in, want := range map[string]string{
		"":                   "[]",
		"a":                  "[1:a~]",
		"a\nb\n":             "[1:a 2:b]",
		"a\r\nb\r\n":         "[1:a 2:b]",
		"\n\nx\n":            "[1: 2: 3:x]",
		"50%\r100%\rdone\nb": "[1:done 2:b~]",
		"2026-11-21T07:00:00.123456789Z a b\n2026-11-21T07:00:00+01:00 c\n2026-11-21T07:00:00Z\n": "[1:a b 2:c 3:]",
		"a\r": "[1:a~]",
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(in), "bytes": iotest.OneByteReader(strings.NewReader(in)),
			"error with data": iotest.DataErrReader(strings.NewReader(in))} {
			if got, l := collect(r); fmt.Sprint(got) != want || l.Err() != nil {
				t.Errorf("%q, %s: %v, want %s", in, name, got, want)
			}
		}
	}
}

// A line longer than the limit is truncated, and the lines around it are complete.
func TestLongLine(t *testing.T) {
	long := strings.Repeat("x", 3*maxLine+17)
	l := newLines(strings.NewReader("a\n" + long + "\nb\n"))
	var got []string
	for l.Next() {
		got = append(got, fmt.Sprint(len(l.Bytes()), l.long, l.Torn()))
	}
	if want := fmt.Sprintf("[1 false false %d true false 1 false false]", maxLine); fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	if l := newLines(strings.NewReader(long)); !l.Next() || !l.long || l.Next() {
		t.Error("a file of one long line")
	}
}

func TestLinesError(t *testing.T) {
	broken := errors.New("broken")
	got, l := collect(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)))
	if fmt.Sprint(got) != "[1:a 2:b~]" || !errors.Is(l.Err(), broken) {
		t.Errorf("%v, %v", got, l.Err())
	}
}

func TestDocument(t *testing.T) {
	for in, want := range map[string]string{
		"{\"a\": 1}\nx\n":                 `{"a": 1} rest [2:x]`,
		"{\n \"a\": \"}\"\n}\nx\n":        `{~ "a": "}"~} rest [4:x]`,
		"{\"a\": \"\\\"}\"} tail\nx\n":    `{"a": "\"}"} rest [1: tail 2:x]`,
		"{\n \"a\": 1":                    `cut`,
		"{\n \"a\": {\n{\n \"b\": 2\n}\n": `cut`,
	} {
		l := newLines(strings.NewReader(in))
		l.Next()
		d, err := l.Document()
		got := "cut"
		if !d.Cut {
			var rest []string
			for l.Next() {
				rest = append(rest, fmt.Sprintf("%d:%s", l.Number(), l.Bytes()))
			}
			got = fmt.Sprintf("%s rest %v", bytes.ReplaceAll(d.Bytes, []byte("\n"), []byte("~")), rest)
		}
		if err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", in, got, err, want)
		}
	}
}

func TestDecode(t *testing.T) {
	for in, want := range map[string]string{
		`{"n": 1.5, "skip": {"x": [1, "]"]}, "n": 2}`:           "2",
		`{"n": nan, "a": [-inf,NaN, -Infinity], "nan": null}`:   "- undefined",
		`{"skip": "\" nan, inf", "n": 1, "b": "\\", "c": -nan}`: "1 undefined",
		`{}`:                         "-",
		`{"n": 1,}`:                  "line 1, column 9: invalid character '}'",
		`{"n" 1}`:                    "line 1, column 6: invalid character '1'",
		"{\"a\": 1,\n \"n\": \"x\"}": "line 2, column 9: n is a string where a number is expected",
		`{"n": 1,5}`:                 "line 1, column 9: invalid character '5' looking for beginning of object key string; a number with a decimal comma",
		`{"n": nano}`:                "line 1, column 8: invalid character 'a'",
		`{"skip": "x}`:               "no end",
	} {
		l := newLines(strings.NewReader(in))
		l.Next()
		d, _ := l.Document()
		var v struct {
			N *float64 `json:"n"`
		}
		undefined, err := d.Decode(&v)
		s := Given(v.N).String()
		if undefined {
			s += " undefined"
		}
		if err != nil {
			s = err.Error()
		}
		if !strings.Contains(s, want) || err == nil && s != want {
			t.Errorf("%s: %s, want %s", in, s, want)
		}
	}
}

func TestWarnings(t *testing.T) {
	var w Warnings
	for i := range 60 {
		w.Add(i+1, record.InProse("x"), record.Said{})
	}
	w.Once(1, record.InProse("once"), record.Said{})
	if l := w.List(); len(l) != 51 || l[50].Text != moreWarnings(11) {
		t.Errorf("%d: %v", len(l), l[len(l)-1])
	}
	if s := (Warning{3, record.InProse("text"), record.InProse("remedy")}).String(); s != "line 3: text (remedy)" {
		t.Error(s)
	}
	if s := (&Error{Line: 3, Column: 4, Text: "text", Remedy: "remedy"}).Error(); s != "line 3, column 4: text; remedy" {
		t.Error(s)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\nb\n\rc"))
	f.Add([]byte("{\n \"a\": [1, {}]\n}\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		a, _ := collect(bytes.NewReader(in))
		b, _ := collect(iotest.OneByteReader(bytes.NewReader(in)))
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Fatalf("%q and %q", a, b)
		}
		l := newLines(bytes.NewReader(in))
		for l.Next() {
			if BeginsJSON(l.Bytes()) {
				if d, err := l.Document(); err == nil && !d.Cut {
					_, _ = d.Decode(&struct{ N *float64 }{})
				}
			}
		}
	})
}

func BenchmarkLines(b *testing.B) {
	in := []byte(strings.Repeat(strings.Repeat("x", 126)+"\n", 100_000))
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		for l := newLines(bytes.NewReader(in)); l.Next(); {
		}
	}
}

// With Returns every CR ends a line with the same number; CR LF is one end.
func TestReturns(t *testing.T) {
	for _, end := range []string{"", strings.Repeat("x", firstBuffer)} {
		l := newLines(strings.NewReader("a\rb\r\nc\n\rd" + end))
		l.Returns()
		var got []string
		for l.Next() {
			if s := string(l.Bytes()); s != "" {
				got = append(got, fmt.Sprintf("%d %s %v", l.Number(), s[:1], l.Torn()))
			}
		}
		if want := "1 a false 1 b false 2 c false 3 d true"; strings.Join(got, " ") != want || l.Number() != 3 {
			t.Errorf("%q, %d lines", got, l.Number())
		}
	}
}

// Lines of dots, which mark an omission in a document, are no mistake.
func TestDots(t *testing.T) {
	l := newLines(strings.NewReader("{\n \"a\": 1,\n ......\n \"n\": 2.5,\n ......\n}\n"))
	l.Next()
	d, err := l.Document()
	var v struct{ N *float64 }
	if _, bad := d.Decode(&v); err != nil || bad != nil || v.N == nil || *v.N != 2.5 {
		t.Errorf("%v %v %v", err, bad, v.N)
	}
}
