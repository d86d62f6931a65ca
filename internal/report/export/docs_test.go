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

// fieldsPage explains every column and field; package cli makes it.
const fieldsPage = "../../../docs/schema/fields.md"

var quoted = regexp.MustCompile("`([a-z][a-z0-9_]*)`")

// rowsBelow are the names in the first column of the tables below a heading of the page, up to the next heading of that level; ""
// is the whole page.
func rowsBelow(t *testing.T, heading string) (all []string) {
	t.Helper()
	b, err := os.ReadFile(fieldsPage)
	if err != nil {
		t.Fatal(err)
	}
	text, ok := string(b), true
	if heading != "" {
		_, text, ok = strings.Cut(text, "\n## "+heading+"\n")
		text, _, _ = strings.Cut(text, "\n## ")
	}
	if !ok {
		t.Fatalf("%s has no heading %q", fieldsPage, heading)
	}
	for _, line := range strings.Split(text, "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
				all = append(all, m[1])
			}
		}
	}
	return all
}

// The page has every column of CSV, in order.
func TestColumnsAreDocumented(t *testing.T) {
	var b bytes.Buffer
	if err := CSV(&b, &record.Effects{}); err != nil {
		t.Fatal(err)
	}
	header, err := csv.NewReader(&b).Read()
	if err != nil {
		t.Fatal(err)
	}
	if got := rowsBelow(t, "CSV"); !slices.Equal(got, header) {
		t.Errorf("%s has\n%v\nwant\n%v", fieldsPage, got, header)
	}
}

// The page has every field of the effects, and every verdict.
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
	got := rowsBelow(t, "")
	for name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("%s has no field %s", fieldsPage, name)
		}
	}
	b, err := os.ReadFile(fieldsPage)
	if err != nil {
		t.Fatal(err)
	}
	for v := record.Undecided; v <= record.NoLoss; v++ {
		if !bytes.Contains(b, []byte("`"+v.String()+"`")) {
			t.Errorf("%s has no verdict %s", fieldsPage, v)
		}
	}
}
