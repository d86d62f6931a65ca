package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/analysis/calibrate"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/cli/settings"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// validator checks documents against the schemas with the jsonschema package of Python, which has nothing of tare.
// It prints one line for each document: empty, or what is wrong with it.
const validator = `
import json, sys
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import best_match
made = {}
for line in open(sys.argv[1], encoding='utf-8'):
    case = json.loads(line)
    path = case['schema']
    if path not in made:
        schema = json.load(open(path, encoding='utf-8'))
        Draft202012Validator.check_schema(schema)
        made[path] = Draft202012Validator(schema, format_checker=FormatChecker())
    if case['bad']:
        print('' if made[path].is_valid(case['doc']) else 'bad')
        continue
    error = best_match(made[path].iter_errors(case['doc']))
    print('' if error is None else json.dumps('%s: %s' % ('/'.join(map(str, error.absolute_path)), error.message[:300])))
`

// checked is a document, and whether it must be refused.
type checked struct {
	name string
	Path string `json:"schema"`
	Doc  any    `json:"doc"`
	Bad  bool   `json:"bad"`
}

func doc(t *testing.T, schema, name string, text []byte) checked {
	t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return checked{name: name, Path: schema + schemasFile, Doc: v}
}

// validate runs the validator over all documents.
func validate(t *testing.T, all []checked) {
	t.Helper()
	python := testneed.Python(t, "python3-jsonschema", "jsonschema.validators")
	path := filepath.Join(t.TempDir(), "cases")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for _, c := range all {
		if err := enc.Encode(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", validator, path)
	cmd.Dir = t.TempDir()
	for name, made := range madeSchemas(t) {
		if err := os.WriteFile(filepath.Join(cmd.Dir, name), made, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderrOf(err))
	}
	said := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(said) != len(all) {
		t.Fatalf("%d answers to %d documents", len(said), len(all))
	}
	bad := 0
	for i, c := range all {
		if c.Bad {
			bad++
		}
		if (said[i] != "") != c.Bad {
			t.Errorf("%s by %s: %q, refused: want %v", c.name, c.Path, said[i], c.Bad)
		}
	}
	t.Logf("%d documents, %d of them wrong", len(all), bad)
}

func stderrOf(err error) []byte {
	if e, ok := err.(*exec.ExitError); ok {
		return e.Stderr
	}
	return nil
}

// realResults are result directories of real runs.
func realResults(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("../report/testdata/nodes/*/record.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	all := []string{"../../record/testdata/quick", "../../docs/notebook/result"}
	for _, d := range dirs {
		all = append(all, filepath.Dir(d))
	}
	return all
}

// recordLines are the lines of a record as documents.
func recordLines(t *testing.T, path string) (all []checked) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		all = append(all, doc(t, "record", fmt.Sprintf("%s:%d", path, i+1), []byte(line)))
	}
	return all
}

// file is a file of a result as a document.
func file(t *testing.T, schema, path string) checked {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return doc(t, schema, path, b)
}

func object(t *testing.T, schema, name string, v any) checked {
	t.Helper()
	var b bytes.Buffer
	if err := export.Object(&b, v); err != nil {
		t.Fatal(err)
	}
	return doc(t, schema, name, b.Bytes())
}

// output is what a command prints.
func output(t *testing.T, schema string, args ...string) checked {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	code := Main(args, out, os.Stderr)
	if code == exitError || code == exitUsage {
		t.Fatalf("tare %v ends with %d", args, code)
	}
	return file(t, schema, out.Name())
}

// realDocuments are what tare writes and prints: at least one for each schema but that of experiments.
func realDocuments(t *testing.T) (all []checked) {
	t.Helper()
	var nodes []analysis.OfNode
	for _, dir := range realResults(t) {
		all = append(all, file(t, "plan", filepath.Join(dir, record.PlanFile)), file(t, "manifest", filepath.Join(dir, record.ManifestFile)))
		if !strings.Contains(dir, "nodes") { // there the latencies are cut out
			all = append(all, recordLines(t, filepath.Join(dir, record.RecordFile))...)
		}
		r, err := record.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		e, err := analysis.Analyse(r)
		if err != nil {
			t.Fatal(err)
		}
		var effects bytes.Buffer
		if err := export.JSON(&effects, e); err != nil {
			t.Fatal(err)
		}
		all = append(all, doc(t, "effects", dir+", analysed", effects.Bytes()),
			object(t, "calibration", dir+", as a calibration", calibrate.Judge(e, []calibrate.Planted{{Arm: "none", How: calibrate.Work, Loss: 0.1}})))
		nodes = append(nodes, analysis.OfNode{Name: filepath.Base(dir), Dir: filepath.Base(dir), Manifest: r.Manifest, Effects: e})
	}
	all = append(all, file(t, "effects", "../../docs/notebook/result/effects.json"), file(t, "advice", "../../record/testdata/advice.json"),
		object(t, "nodes", "nodes", analysis.Nodes(nodes)))
	for file, schema := range map[string]string{"comparison": "comparison", "gate": "check", "user": "effects", "imported": "effects", "empty": "effects", "zero": "effects"} {
		path := "../report/testdata/" + file + ".json"
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, doc(t, schema, path, b))
	}
	all = append(all, progressDocuments(t)...)
	return append(all, output(t, "check", "check", "../../docs/notebook/result", "--max-cost", "throughput=5%", "--format", "json"),
		output(t, "comparison", "compare", "../report/testdata/nodes/a", "../report/testdata/nodes/b", "--format", "json"),
		output(t, "plan", "plan", "quick", "--format", "json"), output(t, "doctor", "doctor", "--format", "json"),
		output(t, "list", "list", "../..", "--format", "json"), output(t, "list", "list", "settings", "--format", "json"),
		output(t, "version", "version", "--format", "json"), configured(t))
}

// configured is the output of tare config with a value and a variable of no flag.
func configured(t *testing.T) checked {
	t.Helper()
	t.Setenv(settings.Variable("budget"), "3m")
	t.Setenv(settings.Variable("budgets"), "3m")
	return output(t, "config", "config", "--format", "json")
}

// progressDocuments are a line of each event, here and of another node.
func progressDocuments(t *testing.T) (all []checked) {
	t.Helper()
	var out bytes.Buffer
	show := &events{w: &out, left: func() (left, total float64) { return 72, 180 }}
	show.start(&plan.Plan{Record: record.Plan{Experiment: "quick", Seed: 7}, Left: []record.Left{{Arm: "nat", Reason: record.InProse("no nftables")}}}, "r")
	show.event(measuring())
	show.event(run.Event{Workload: "rpc", Phase: "launch", Arm: "host", Ready: 1, Starting: 2, Note: messages.Say("launches.room", "n", 2, "least", 4, "flag", "--budget 3m")})
	show.say("two\nlines")
	show.write(errorEvent{"error", "no", "tare doctor", exitError})
	show.end()
	for line := range strings.Lines(out.String()) {
		all = append(all, doc(t, "progress", line, []byte(line)), doc(t, "progress", "of a node: "+line, []byte(eventOfNode("n1", line))))
	}
	return all
}

// strange is no value of any field.
func strange() any { return map[string]any{"no": []any{"such"}} }

// pruned is a document with at most one element in each list.
func pruned(v any) any {
	switch v := v.(type) {
	case []any:
		if len(v) == 0 {
			return v
		}
		return []any{pruned(v[0])}
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			out[k] = pruned(x)
		}
		return out
	}
	return v
}

// damageEach calls f with copies of a document, each with one strange value: in the place of a value, or beside the keys of an
// object.
func damageEach(v any, whole func(any) any, at string, f func(at string, doc any)) {
	f(at, whole(strange()))
	switch v := v.(type) {
	case []any:
		for i, x := range v {
			damageEach(x, func(y any) any {
				c := slices.Clone(v)
				c[i] = y
				return whole(c)
			}, fmt.Sprintf("%s/%d", at, i), f)
		}
	case map[string]any:
		with := func(key string, y any) any {
			c := map[string]any{key: y}
			for k, x := range v {
				if k != key {
					c[k] = x
				}
			}
			return whole(c)
		}
		f(at+"/no_such_key", with("no_such_key", strange()))
		for k, x := range v {
			damageEach(x, func(y any) any { return with(k, y) }, at+"/"+k, f)
		}
	}
}

// mostDamages bounds the damaged copies of one document.
const mostDamages = 400

// What tare writes follows its schemas, by a validator that is not tare's. A wrong type or an unknown key anywhere does not.
func TestDataFollowsSchemas(t *testing.T) {
	all := realDocuments(t)
	damaged := map[string]int{}
	seen := map[string]bool{}
	for _, c := range slices.Clone(all) {
		schema := filepath.Base(c.Path)
		seen[schema] = true
		kind := schema
		if o, ok := c.Doc.(map[string]any); ok && schema == "record.json" {
			for k := range o { // a line of each kind
				if k != "time" {
					kind += " " + k
				}
			}
		} else if ok && schema == "progress.json" {
			kind += fmt.Sprint(" ", o["event"])
		}
		if damaged[kind] > 0 {
			continue
		}
		small := pruned(c.Doc)
		all = append(all, checked{name: c.name + ", pruned", Path: c.Path, Doc: small})
		damageEach(small, func(v any) any { return v }, "", func(at string, v any) {
			if damaged[kind]++; damaged[kind] <= mostDamages {
				all = append(all, checked{name: c.name + " with a strange " + at, Path: c.Path, Doc: v, Bad: true})
			}
		})
	}
	for _, k := range dataKinds() {
		if !seen[k.file+".json"] {
			t.Errorf("no document is checked against %s", k.file)
		}
	}
	validate(t, all)
}

// asYAML is an experiment as a document.
func asYAML(t *testing.T, name string, text []byte) checked {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return doc(t, experimentSchema, name, b)
}

// The schema of experiments takes every preset, short and with all its defaults, every experiment of docs/, and what Parse takes of
// the list below; it refuses what Parse refuses.
func TestExperimentsFollowTheirSchema(t *testing.T) {
	words := catalog.Words()
	var all []checked
	for _, name := range experiment.Presets() {
		text, _ := experiment.Preset(name)
		e, err := parsePreset(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, asYAML(t, name, text), asYAML(t, name+", complete", e.Annotated(words)))
	}
	for page, text := range pages(t) {
		for _, m := range fence.FindAllStringSubmatch(text, -1) {
			if m[1] == "yaml" && strings.Contains("\n"+m[2], "\nworkloads:") {
				all = append(all, asYAML(t, page, []byte(m[2])))
			}
		}
	}
	for _, c := range experimentForms {
		_, err := experiment.Parse("x.yaml", []byte(c.text), words)
		if (err == nil) != c.good {
			t.Errorf("Parse: %v\n%s", err, c.text)
		}
		d := asYAML(t, c.text, []byte(c.text))
		d.Bad = !c.good
		all = append(all, d)
	}
	validate(t, all)
}
