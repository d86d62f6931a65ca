package load

import (
	"math"
	"testing"
)

func TestExtract(t *testing.T) {
	const fio = `{"jobs": [{"read": {"iops": 12.5, "a b": "7"}}, {"read": {"iops": 1e3}}]}`
	for _, c := range []struct {
		e      Extract
		output string
		want   float64 // NaN: an error
	}{
		{Extract{Regexp: `mean ([0-9.]+) ms`, Scale: 1e-3}, "mean 1 ms\nmean 2.5 ms\n", 2.5e-3},
		{Extract{Regexp: `[0-9]+`, Scale: 1}, "a 12 b 34", 34},
		{Extract{Regexp: `score: (.*)`, Scale: 1}, "score: -1.5e2 ", -150},
		{Extract{Regexp: `score: (.*)`, Scale: 1}, "score: many", math.NaN()},
		{Extract{Regexp: `score`, Scale: 1}, "", math.NaN()},
		{Extract{Regexp: `(a)|(b)`, Scale: 1}, "b", math.NaN()},
		{Extract{Regexp: `x=(\S+)`, Scale: 1}, "x=NaN", math.NaN()},
		{Extract{JSON: "jobs[0].read.iops", Scale: 2}, fio, 25},
		{Extract{JSON: "$.jobs[-1].read.iops", Scale: 1}, "fio: warning\n" + fio + "\nbye\n", 1000},
		{Extract{JSON: `jobs[0].read["a b"]`, Scale: 1}, fio, 7},
		{Extract{JSON: "jobs[2].read.iops", Scale: 1}, fio, math.NaN()},
		{Extract{JSON: "jobs", Scale: 1}, fio, math.NaN()},
		{Extract{JSON: "jobs.read", Scale: 1}, fio, math.NaN()},
		{Extract{JSON: "x", Scale: 1}, `{"x": 1}{"x": 2}`, math.NaN()},
		{Extract{JSON: "x", Scale: 1}, "{\"x\": 1}\n{\"x\": 2}\n3\n", 2},
		{Extract{JSON: "[1]", Scale: 1}, "[3, 4]", 4},
		{Extract{JSON: "x", Scale: 1}, "", math.NaN()},
		{Extract{JSON: "x", Scale: 1}, `{"x": true}`, math.NaN()},
	} {
		x, err := c.e.compile()
		if err != nil {
			t.Fatal(err)
		}
		got, err := x.number([]byte(c.output))
		if (err != nil) != math.IsNaN(c.want) || err == nil && got != c.want {
			t.Errorf("%+v in %q: %v, %v", c.e, c.output, got, err)
		}
	}
}

func TestExtractThatCannotBe(t *testing.T) {
	for _, e := range []Extract{
		{Regexp: "("}, {}, {JSON: "$"}, {JSON: "a..b"}, {JSON: "a["}, {JSON: "a[x]"}, {JSON: `a["x]`}, {JSON: "a."},
	} {
		if e.Compile() == nil {
			t.Errorf("%+v is accepted", e)
		}
	}
}

func FuzzExtract(f *testing.F) {
	f.Add("jobs[0].read", `{"jobs": [{"read": 1}]}`)
	f.Add(`$["a b"][-1]`, "x\n{\"a b\": [\"2\"]}")
	f.Fuzz(func(t *testing.T, path, output string) {
		x, err := Extract{JSON: path, Scale: 1}.compile()
		if err != nil {
			return
		}
		if n, err := x.number([]byte(output)); err == nil && (math.IsNaN(n) || math.IsInf(n, 0)) {
			t.Errorf("%v", n)
		}
	})
}
