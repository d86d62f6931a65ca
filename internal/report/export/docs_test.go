package export

import (
	"bytes"
	"encoding/csv"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/record"
)

var quoted = regexp.MustCompile("`([a-z][a-z0-9_]*)`")

// fields are the names of fields in the first column, or in all columns, of the tables below a heading of docs/output.md.
func fields(t *testing.T, heading string, everywhere bool) (all []string) {
	t.Helper()
	b, err := os.ReadFile("../../../docs/output.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(b), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("docs/output.md has no heading %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	for _, line := range strings.Split(text, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		if !everywhere {
			cells = cells[:2]
		}
		for _, m := range quoted.FindAllStringSubmatch(strings.Join(cells, "|"), -1) {
			all = append(all, m[1])
		}
	}
	return all
}

// docs/output.md has every column of CSV, in order.
func TestColumnsAreDocumented(t *testing.T) {
	var b bytes.Buffer
	if err := CSV(&b, &record.Effects{}); err != nil {
		t.Fatal(err)
	}
	header, err := csv.NewReader(&b).Read()
	if err != nil {
		t.Fatal(err)
	}
	if got := fields(t, "CSV", false); !slices.Equal(got, header) {
		t.Errorf("docs/output.md has\n%v\nwant\n%v", got, header)
	}
}

// docs/output.md has every field of JSON and no other, and every verdict.
func TestFieldsAreDocumented(t *testing.T) {
	want := map[string]bool{}
	seen := map[reflect.Type]bool{}
	var walk func(x reflect.Type)
	walk = func(x reflect.Type) {
		for x.Kind() == reflect.Pointer || x.Kind() == reflect.Slice || x.Kind() == reflect.Map {
			x = x.Elem()
		}
		if x.Kind() != reflect.Struct || seen[x] {
			return
		}
		seen[x] = true
		for i := range x.NumField() {
			f := x.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" || name == "-" || !f.IsExported() {
				continue
			}
			want[name] = true
			walk(f.Type)
		}
	}
	walk(reflect.TypeOf(record.Effects{}))
	got := fields(t, "JSON", true)
	for name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("docs/output.md has no field %s", name)
		}
	}
	for _, name := range got {
		if !want[name] {
			t.Errorf("docs/output.md has %s, which is no field", name)
		}
	}
	b, err := os.ReadFile("../../../docs/output.md")
	if err != nil {
		t.Fatal(err)
	}
	for v := record.Undecided; v <= record.NoLoss; v++ {
		if !bytes.Contains(b, []byte("`"+v.String()+"`")) {
			t.Errorf("docs/output.md has no verdict %s", v)
		}
	}
}
