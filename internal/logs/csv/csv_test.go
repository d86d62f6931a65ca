package csv

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/testing/formattest"
)

type result struct {
	*Table
	Text   [][]string
	Number [][]format.Num
	Error  string `json:",omitempty"`
}

func read(b []byte) result {
	r := result{}
	t, err := Parse(bytes.NewReader(b), func(_ *Table, row Row) error {
		r.Text = append(r.Text, slices.Clone(row.Text))
		return nil
	})
	n := numbers{Warnings: &format.Warnings{}}
	for _, row := range r.Text {
		for _, field := range row {
			n.see(field)
		}
	}
	for _, row := range r.Text {
		var list []format.Num
		for i, field := range row {
			list = append(list, n.figure(field, &t.Columns[min(i, len(t.Columns)-1)]))
		}
		r.Number = append(r.Number, list)
	}
	if r.Table = t; err != nil {
		r.Error = err.Error()
	}
	r.Warnings = append(r.Warnings, n.List()...)
	return r
}

func TestGolden(t *testing.T) {
	for _, name := range formattest.Files(t, "*.csv") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			formattest.Golden(t, name, read(formattest.Read(t, name)))
		})
	}
}

func TestNumbers(t *testing.T) {
	for in, want := range map[string]string{
		"a,b\n1,2.5\n":       "[[1 2.5]]",
		"a;b\n1;2,5\n":       "[[1 2.5]] decimal comma",
		"a;b\n1;2,500\n":     "[[1 -]] thousands separator",
		"a;b\n1;0,500\n":     "[[1 0.5]] decimal comma",
		"a,b\n1,2,5\n":       "[] the row has 3 fields, the heading 2; if the numbers have decimal commas",
		"a,b (ms)\n1,250\n":  "[[1 0.25]]",
		"a,b (%)\n1,50%\n":   "[[1 0.5]]",
		"a,b\r\n1,2\r\n":     "[[1 2]]",
		"a,b\n1,\n":          "[[1 -]]",
		"a,b\n1,nan\n":       "[[1 -]]",
		"a,b\n1,2\n3":        "[[1 2]] fewer fields",
		"a,b\n1,2\n3,4":      "[[1 2] [3 4]] lost digits",
		"1,2\n3,4\n":         "[] does not name the columns",
		"a,b\n":              "[] no row",
		"":                   "[] the input is empty",
		"a,b\n\"x,2\n":       "[] quotation mark is open",
		"a,b\n\"1\",\"2\"\n": "[[1 2]]",
		"a|b\n1|2\n":         "[[1 2]]",
		"name\n5\n":          "[[5]]",
		"at,of\n1,sysbench 1.0.20\n2,sysbench 1.0.20\n": "[[1 -] [2 -]]",
	} {
		r := read([]byte(in))
		values, text, _ := strings.Cut(want, "]] ")
		if text != "" {
			values += "]]"
		} else if v, e, ok := strings.Cut(want, "[] "); ok && v == "" {
			values, text = "[]", e
		}
		if got := fmt.Sprint(r.Number); got != values || !strings.Contains(r.Error+fmt.Sprint(r.Warnings), text) {
			t.Errorf("%q: %s %s %v, want %s", in, got, r.Error, r.Warnings, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range formattest.Files(f, "*.csv") {
		f.Add(formattest.Read(f, name))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		formattest.Same(t, func() any { return read(in) })
		formattest.CutLines(t, in, func(b []byte) int { return read(b).Rows })
		for _, row := range read(in).Number {
			for _, n := range row {
				if x, ok := n.Get(); ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
					t.Fatal(x)
				}
			}
		}
	})
}
