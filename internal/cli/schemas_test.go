package cli

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/internal/testing/schemas"
	"github.com/tarelab/tare/record"
)

var (
	update    = flag.Bool("update", false, "write those of docs/schema")
	schemasTo = flag.String("schemas", "", "write all schemas into this directory")
)

const (
	schemaDir   = "../../docs/schema"
	fieldsFile  = "fields.md"
	schemasFile = ".json"
)

// dataKind is a kind of JSON that tare writes; file is the name of its schema.
type dataKind struct {
	file, schema, title, intro string
	goType                     reflect.Type
	lines                      []schemas.Kind // of an output whose lines have several types, by event
}

func dataKinds() []dataKind {
	return []dataKind{
		{"effects", record.EffectsSchema, "effects.json", "`tare report DIR --format json`, and the file in a result directory.", reflect.TypeFor[record.Effects](), nil},
		{"plan", record.PlanSchema, "plan.json", "What was asked, and `tare plan --format json`, which has `left_out` and what follows it too.", reflect.TypeFor[planJSON](), nil},
		{"manifest", record.ManifestSchema, "manifest.json", "The host and the arms.", reflect.TypeFor[record.Manifest](), nil},
		{"record", record.RecordSchema, "record.jsonl", "One object a line; exactly one field beside `time`.", reflect.TypeFor[record.Line](), nil},
		{"check", record.GateSchema, "tare check", "`tare check DIR --format json`.", reflect.TypeFor[record.Gate](), nil},
		{"comparison", record.ComparisonSchema, "tare compare", "`tare compare OLD NEW --format json`.", reflect.TypeFor[record.Comparison](), nil},
		{"nodes", record.NodesSchema, "nodes.json", "The same experiment on several nodes.", reflect.TypeFor[record.Nodes](), nil},
		{"advice", record.AdviceSchema, "advice.json", "`tare advise --format json`, and the file in its directory.", reflect.TypeFor[record.Advice](), nil},
		{"calibration", record.CalibrationSchema, "tare calibrate", "`tare calibrate --format json`.", reflect.TypeFor[record.Calibration](), nil},
		{"doctor", doctorSchema, "tare doctor", "`tare doctor --format json`.", reflect.TypeFor[doctorAnswer](), nil},
		{"version", versionSchema, "tare version", "`tare version --format json`.", reflect.TypeFor[build](), nil},
		{"list", listSchema, "tare list", "`tare list --format json`.", reflect.TypeFor[listing](), nil},
		{"config", configSchema, "tare config", "`tare config --format json`.", reflect.TypeFor[configAnswer](), nil},
		{"progress", progressSchema, "--progress json", "A line of `tare run --progress json` with `event` %s. That of another node has `node`, too.", nil, progressLines()},
	}
}

func progressLines() []schemas.Kind {
	return []schemas.Kind{
		{Name: "begin", Type: reflect.TypeFor[beginEvent]()}, {Name: "progress", Type: reflect.TypeFor[progressEvent]()},
		{Name: "note", Type: reflect.TypeFor[noteEvent]()}, {Name: "error", Type: reflect.TypeFor[errorEvent]()},
		{Name: "end", Type: reflect.TypeFor[endEvent]()},
	}
}

// made is the schema of a kind.
func (k dataKind) made(m *schemas.Maker) (schemas.Shape, error) {
	if k.goType != nil {
		return m.Schema(k.goType, k.schema, urn(k.file))
	}
	node := schemas.Shape{"node": schemas.Shape{"type": "string", "description": "name of the other node that measures"}}
	return m.OneOf(k.lines, "event", node, k.schema, urn(k.file))
}

// urn is the $id of a schema that no address has: a release has the file.
func urn(file string) string { return "urn:tare:" + file }

// roots are the sections of a kind on the page of fields.
func (k dataKind) roots() (all []schemas.Root) {
	if k.goType != nil {
		return []schemas.Root{{Title: k.title, Intro: k.intro, Type: k.goType}}
	}
	for _, l := range k.lines {
		all = append(all, schemas.Root{Title: k.title + ": " + l.Name, Intro: fmt.Sprintf(k.intro, l.Name), Type: l.Type})
	}
	return all
}

// maker knows the types that write their JSON themselves, and the rules that Go types do not express.
func maker() *schemas.Maker {
	m := schemas.New("../..", "github.com/tarelab/tare")
	m.Own[reflect.TypeFor[record.Value]()] = schemas.Shape{
		"title": "number, or `{\"missing\": why}`",
		"anyOf": []schemas.Shape{{"type": "number"}, {
			"type": "object", "properties": schemas.Shape{"missing": schemas.Shape{"$ref": "#/$defs/Said", "description": "why there is no number"}},
			"required": []string{"missing"}, "additionalProperties": false,
		}},
	}
	m.Uses[reflect.TypeFor[record.Value]()] = reflect.TypeFor[record.Said]()
	m.Own[reflect.TypeFor[record.Said]()] = saidShape()
	m.Own[reflect.TypeFor[record.Histogram]()] = schemas.Shape{
		"title": "histogram", "type": "string", "pattern": "^[A-Za-z0-9+/]*$",
		"description": "Latencies in nanoseconds: pairs of unsigned varints (distance to the bucket before, count) in base64 without padding. " +
			"Bucket i below 1024 is the latency i; above, with s = i/512-1, it begins at (i%512+512)·2^s and is 2^s wide.",
	}
	var one []schemas.Shape
	for _, f := range m.Fields(reflect.TypeFor[record.Line]()) {
		if f.Optional {
			one = append(one, schemas.Shape{"required": []string{f.Name}})
		}
	}
	m.Besides[reflect.TypeFor[record.Line]()] = schemas.Shape{"oneOf": one}
	var asked []string // the file has no more
	for _, f := range m.Fields(reflect.TypeFor[record.Plan]()) {
		if !f.Optional {
			asked = append(asked, f.Name)
		}
	}
	m.Besides[reflect.TypeFor[planJSON]()] = schemas.Shape{"required": asked}
	return m
}

// codes are what records, effects and answers say, sorted.
func codes() []string {
	all := []string{record.Prose}
	for code := range messages.In(messages.English).Codes() {
		all = append(all, string(code))
	}
	slices.Sort(all)
	return all
}

// sentence is the English sentence of a code with the names of its values, as {name:format}.
func sentence(code string) string {
	if code == record.Prose {
		return "{text}"
	}
	return maps.Collect(messages.In(messages.English).Codes())[messages.Key(code)]
}

// valuesOf are the names of the values in a sentence.
func valuesOf(sentence string) []string {
	names := []string{}
	for _, m := range regexp.MustCompile(`\{(\w+)`).FindAllStringSubmatch(sentence, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// saidShape is a code with values of any code.
func saidShape() schemas.Shape {
	value := []schemas.Shape{{"type": []string{"number", "string", "boolean", "null"}}, {"$ref": "#/$defs/Said"}, {
		"type": "object", "required": []string{"ratio"}, "additionalProperties": false, "properties": schemas.Shape{
			"ratio": schemas.Shape{"type": "number"}, "low": schemas.Shape{"type": "number"}, "high": schemas.Shape{"type": "number"}, "decimals": schemas.Shape{"type": "number"}},
	}}
	one := schemas.Shape{"anyOf": append(value, schemas.Shape{"type": "array", "items": schemas.Shape{"anyOf": value}})}
	var names []string
	for _, code := range codes() {
		names = append(names, valuesOf(sentence(code))...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return schemas.Shape{
		"title": "[code with values](#codes)", "type": []string{"object", "string"}, "required": []string{"code"},
		"properties":        schemas.Shape{"code": schemas.Shape{"enum": codes()}},
		"patternProperties": schemas.Shape{"^(" + strings.Join(names, "|") + ")$": one}, "additionalProperties": false,
		"description": "What is said, as a code with values; a sentence in a file of before. said.json has the values of each code and its sentence in English.",
	}
}

// saidSchema has every code with its values and its sentence.
func saidSchema() map[string]any {
	var all []schemas.Shape
	for _, code := range codes() {
		text := sentence(code)
		all = append(all, schemas.Shape{
			"properties": schemas.Shape{"code": schemas.Shape{"const": code}}, "required": append([]string{"code"}, valuesOf(text)...), "description": text,
		})
	}
	return schemas.Shape{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": urn("said"), "type": "object", "oneOf": all}
}

// madeSchemas are all schemas and the page of fields, by name.
func madeSchemas(t *testing.T) map[string][]byte {
	t.Helper()
	made := map[string][]byte{}
	add := func(name string, schema map[string]any) {
		var b bytes.Buffer
		if err := export.Object(&b, schema); err != nil {
			t.Fatal(err)
		}
		made[name+schemasFile] = b.Bytes()
	}
	m := maker()
	for _, k := range dataKinds() {
		schema, err := k.made(m)
		if err != nil {
			t.Fatal(err)
		}
		add(k.file, schema)
	}
	add("said", saidSchema())
	add(experimentSchema, experiment.Schema(hint.Schema(experimentSchema), catalog.Words()))
	made[fieldsFile] = fieldsPage(t, m)
	return made
}

const fieldsIntro = `# Every column and field

Generated by ` + "`make schemas`" + ` from the types of tare and their comments, as the JSON schemas (2020-12) are: that of
[experiments](experiment.json) is here, those of %s are in schemas.tar.gz of a release. Base units: seconds, bytes, operations per second, ratios; a ratio is the arm over its baseline,
1 is equal. A list that is not optional may be null. Fields are only added: check a file with the
schema of the tare that wrote it, or a newer one.

## CSV

` + "`tare report DIR --format csv`, and `effects.csv`" + ` in a result directory: one line for each effect. Empty: not known. Columns are only added, at the end.

| column | is |
|---|---|
`

const codesIntro = `
## Codes

What a record, effects or an answer says is a code with values: ` + "`{\"code\": \"few_launches\", \"needed\": 4, \"made\": 3}`" + `. The sentence shows the names of the values,
` + "`{name:format}`" + `; said.json lists them. A record of before has sentences, which are read as the code ` + "`prose`" + `.

| code | sentence |
|---|---|
`

func fieldsPage(t *testing.T, m *schemas.Maker) []byte {
	t.Helper()
	var names []string
	var roots []schemas.Root
	for _, k := range dataKinds() {
		names = append(names, k.file)
		roots = append(roots, k.roots()...)
	}
	var b strings.Builder
	fmt.Fprintf(&b, fieldsIntro, strings.Join(append(names, "said"), ", "))
	for _, c := range export.Columns() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", c.Name, c.Is)
	}
	tables, err := m.Tables(roots)
	if err != nil {
		t.Fatal(err)
	}
	b.WriteString(tables)
	b.WriteString(codesIntro)
	for _, code := range codes() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", code, strings.ReplaceAll(sentence(code), "|", `\|`))
	}
	return []byte(b.String())
}

// docs/schema has the schema that editors fetch and the page of fields, of this tare; -update writes them (make schemas).
func TestSchemas(t *testing.T) {
	made := madeSchemas(t)
	for name, want := range made {
		if *schemasTo != "" && filepath.Ext(name) == schemasFile {
			if err := os.WriteFile(filepath.Join(*schemasTo, name), want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if name != experimentSchema+schemasFile && name != fieldsFile {
			continue
		}
		path := filepath.Join(schemaDir, name)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not of this tare; make schemas writes it: %v", path, err)
		}
	}
}

// The address of a schema follows from that of the project, which may be a directory.
func TestAddressOfSchemas(t *testing.T) {
	home := hint.Home
	t.Cleanup(func() { hint.Home = home })
	for at, want := range map[string]string{
		"https://github.com/a/b": "https://github.com/a/b/raw/main/docs/schema/x.json", "file:///home/me/tare": "file:///home/me/tare/docs/schema/x.json",
		"https://tare.example/": "https://tare.example/docs/schema/x.json",
	} {
		if hint.Home = at; hint.Schema("x") != want {
			t.Errorf("%s: %s", at, hint.Schema("x"))
		}
	}
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	hint.Home = "file://" + top
	if _, err := os.Stat(strings.TrimPrefix(hint.Schema(experimentSchema), "file://")); err != nil {
		t.Error(err)
	}
}
