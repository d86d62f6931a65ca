package report

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"html"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/logs/importer"
	"github.com/tarelab/tare/record"
)

// chineseGolden are the two reports of which the golden files have the Chinese.
var chineseGolden = []string{"quick", "postgres-colocation"}

// realEffects are the effects of real runs and imports, by name. testdata/effects has what analysis wrote about
// runs of presets, with another name of the host.
func realEffects(t *testing.T) map[string]*record.Effects {
	t.Helper()
	all := map[string]*record.Effects{}
	analysed := func(name string, r *record.Result, err error) {
		if err != nil {
			t.Fatal(name, err)
		}
		if all[name], err = analysis.Analyse(r); err != nil {
			t.Fatal(name, err)
		}
	}
	for name, dir := range map[string]string{"quick": "../../record/testdata/quick", "nodes-a": "testdata/nodes/a", "nodes-d": "testdata/nodes/d"} {
		r, err := record.Scan(dir)
		analysed(name, r, err)
	}
	clickhouse := "../logs/clickhouse/testdata/published-"
	imported(t, analysed, "import-clickhouse", []string{"hog:throughput=-24%"},
		"alone="+clickhouse+"alone.json", "hog="+clickhouse+"hog-no-isolation.json", "qos="+clickhouse+"hog-qos-level.json")
	paths, err := filepath.Glob("testdata/effects/*.json.gz")
	if err != nil || len(paths) < 4 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".json.gz")
		all[name] = unpacked(t, path)
	}
	return all
}

func imported(t *testing.T, analysed func(string, *record.Result, error), name string, claims []string, files ...string) {
	t.Helper()
	arms, err := importer.Arms(files)
	if err != nil {
		t.Fatal(err)
	}
	o := importer.Options{Arms: arms}
	for _, word := range claims {
		c, err := importer.Claim(word)
		if err != nil {
			t.Fatal(err)
		}
		o.Claims = append(o.Claims, c)
	}
	r, err := importer.Read(o)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := r.Write(dir, record.Plan{Schema: record.PlanSchema, Experiment: "import", Margin: 0.01}, record.Manifest{Schema: record.ManifestSchema}); err != nil {
		t.Fatal(err)
	}
	written, err := record.Scan(dir)
	analysed(name, written, err)
}

func unpacked(t *testing.T, path string) *record.Effects {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var e record.Effects
	if err := json.NewDecoder(z).Decode(&e); err != nil {
		t.Fatal(path, err)
	}
	return &e
}

// The forms of a report for people.
var chineseForms = map[string]func(*bytes.Buffer, *record.Effects) error{
	"short.txt": func(b *bytes.Buffer, e *record.Effects) error { return chinese.Text(b, e, Options{Dir: "r"}) },
	"60.txt": func(b *bytes.Buffer, e *record.Effects) error {
		return chinese.Text(b, e, Options{Width: 60, Verbose: true})
	},
	"100.txt": func(b *bytes.Buffer, e *record.Effects) error { return chinese.Text(b, e, Options{Verbose: true}) },
	"md":      func(b *bytes.Buffer, e *record.Effects) error { return chinese.Markdown(b, e, nil) },
	"html":    func(b *bytes.Buffer, e *record.Effects) error { return chinese.HTML(b, e, Source{}) },
}

func TestChineseGolden(t *testing.T) {
	all := realEffects(t)
	for _, name := range chineseGolden {
		for form, print := range chineseForms {
			if name != "quick" && (form == "60.txt" || form == "html") {
				continue
			}
			var b bytes.Buffer
			if err := print(&b, all[name]); err != nil {
				t.Fatal(err)
			}
			golden(t, "zh."+name+"."+form, b.Bytes())
		}
	}
}

// properNames are Latin words that a Chinese report may have beside the names in the record: programs, the kernel's
// and Kubernetes' own words, units, keys of a command.
var properNames = strings.Fields(`
	tare run continue budget report open import format json csv DIR record jsonl set hook apt install
	A B CPU CPUs UTC MiB KiB GiB TiB ms ns min GB AMD EPYC KVM Debian GNU Linux Intel Xeon bookworm
	cgroup cgroups overlay seccomp veth caps capabilities pid mnt uts runc crun Docker Podman Pod BestEffort Burstable Guaranteed QoS request limit
	throughput sysbench OLTP SQL SQLite fdatasync TCP fio pgbench PostgreSQL Redis Valkey redis benchmark MariaDB MySQL ClickHouse HTTP stress ng
	IOPS fsync sync flush swap page cache checkpoint NAT freezer steal kernel
	window discard engine bridge unconfined host socket namespaces rootfs security network container layer oltp JSON pull batch deb
	SCHED BATCH IDLE openEuler psi PSI io stat cpu memory blkio idle weight quota split pinned nice sched tmpfs ext xfs
	advise check compare root sudo podman quadlet Quadlet systemd docker compose Compose kubectl patch resize kustomize helm Kubernetes pod requests
	Welch Grubbs p tare's Spectre BibTeX nobody bind
`)

// sentenceKeys are the keys of effects.json whose values are sentences; the other strings are names.
var sentenceKeys = strings.Fields("text reason remedy title why said note unequal invalid reasons most")

// nameKeys are the keys whose values are names even if Chinese has a word for the same.
var nameKeys = strings.Fields("arm workload baseline name got wanted dir")

// namesIn match the names in effects: of arms, loads, metrics of probes, settings and their values, hosts. The
// name of a metric of a load is none, for a report has a word for it.
func namesIn(t *testing.T, of any, args []string) []*regexp.Regexp {
	t.Helper()
	b, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	var walk func(key string, v any)
	walk = func(key string, v any) {
		if slices.Contains(sentenceKeys, key) {
			return
		}
		switch x := v.(type) {
		case map[string]any:
			for k, y := range x {
				if key == "values" || key == "mitigations" {
					names[k] = true
				}
				walk(k, y)
			}
		case []any:
			for _, y := range x {
				walk(key, y)
			}
		case string:
			x = strings.TrimPrefix(x, "Mitigation: ") // the kernel's own words
			if slices.Contains(nameKeys, key) && !strings.Contains(x, " ") || chinese.said(record.InProse(x)) == x {
				names[x] = true
			}
		}
	}
	walk("", v)
	delete(names, "")
	all := slices.Collect(maps.Keys(names))
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	var phrases, words []string
	if len(args) > 0 {
		phrases = append(phrases, wrapped(command(args)))
	}
	for _, n := range all {
		if whole := `\b` + regexp.QuoteMeta(n) + `\b`; strings.ContainsAny(n, " ,/:=+") {
			phrases = append(phrases, whole)
		} else {
			words = append(words, whole)
		}
	}
	either := func(all []string) *regexp.Regexp { return regexp.MustCompile(strings.Join(all, "|")) }
	return []*regexp.Regexp{either(phrases), typed, either(words)}
}

// wrapped matches a command on one line or several.
func wrapped(command string) string {
	var chars []string
	for _, r := range command {
		chars = append(chars, regexp.QuoteMeta(string(r)))
	}
	return strings.Join(chars, `\s*`)
}

// Parts of reports that are no text.
var (
	notText = regexp.MustCompile("(?s)```.*?```|<(style|pre|code|title)>.*?</(style|pre|code|title)>|<a [^>]*>|<meta[^>]*>|<link[^>]*>|`[^`\n]*`")
	tag     = regexp.MustCompile(`<[^>]*>`)
	inTag   = regexp.MustCompile(`(?:title|aria-label|data-head)="([^"]*)"`)
	// typed is a flag, a file, a key of the kernel, an address, and a name that was cut.
	typed = regexp.MustCompile(`--[a-z][a-z-]*|https?://\S*|/[\w./-]*|\b[\w-]+([._][\w-]+)+\b|[\w.-]+…[\w.-]*|drop-in`)
	latin = regexp.MustCompile(`[A-Za-z][A-Za-z'’]*`)
)

// english words are the Latin words of a report that are neither names nor allowed.
func englishIn(text string, names []*regexp.Regexp) (found []string) {
	text = notText.ReplaceAllString(text, " ")
	for _, m := range inTag.FindAllStringSubmatch(text, -1) {
		text += "\n" + m[1]
	}
	text = strings.ReplaceAll(html.UnescapeString(tag.ReplaceAllString(text, " ")), "\\", "")
	for _, n := range names {
		text = n.ReplaceAllString(text, " ")
	}
	for _, w := range latin.FindAllString(text, -1) {
		if len(w) > 1 && !slices.Contains(properNames, w) && !slices.Contains(found, w) {
			found = append(found, w)
		}
	}
	return found
}

// TestNoEnglishInAChineseReport: over all forms of all real effects.
func TestNoEnglishInAChineseReport(t *testing.T) {
	for name, e := range realEffects(t) {
		names := namesIn(t, e, e.Command)
		for form, print := range chineseForms {
			var b bytes.Buffer
			if err := print(&b, e); err != nil {
				t.Fatal(err)
			}
			if found := englishIn(b.String(), names); len(found) > 0 {
				t.Errorf("%s.%s has English: %q", name, form, found)
			}
		}
	}
}

// TestNoEnglishInOtherDocuments: the answers of tare advise, check, compare, calibrate and of several nodes.
func TestNoEnglishInOtherDocuments(t *testing.T) {
	var advice []any
	for _, a := range []string{"proved", "even", "open"} {
		advice = append(advice, advices()[a])
	}
	calibration := &record.Calibration{Host: record.Host{Name: "db7"}, Seconds: 60, Blocks: 9, Losses: []record.PlantedLoss{
		{Metric: "throughput", How: "pauses", Planted: 0.02}, {Metric: "p99", How: "work", Planted: 0.1, Reason: record.Say("few_blocks")}},
		Left: []record.Left{{Arm: "quota", Reason: record.Say("one_cpu")}}}
	for _, of := range append(advice, someGate(), someComparison(), threeNodes(true), threeNodes(false), calibration) {
		var d Document
		switch x := of.(type) {
		case *record.Advice:
			d = chinese.Advice(x, true)
		case *record.Gate:
			d = chinese.Gate(x)
		case *record.Comparison:
			d = chinese.Comparison(x, true)
		case *record.Nodes:
			d = chinese.Nodes(x)
		case *record.Calibration:
			d = chinese.Calibration(x)
		}
		var text, markdown bytes.Buffer
		if err := errors.Join(Print(&text, d, Options{}), PrintMarkdown(&markdown, d)); err != nil {
			t.Fatal(err)
		}
		if _, ok := of.(*record.Advice); ok { // with commands and files, which Markdown marks as such
			text.Reset()
		}
		names := namesIn(t, of, nil)
		for _, b := range []*bytes.Buffer{&text, &markdown} {
			if found := englishIn(b.String(), names); len(found) > 0 {
				t.Errorf("%T has English: %q\n%s", of, found, b)
			}
		}
	}
}

// TestEnglishIsFound: the test above finds the words of an English report.
func TestEnglishIsFound(t *testing.T) {
	e := realEffects(t)["quick"]
	var b bytes.Buffer
	if err := english.Text(&b, e, Options{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	if found := englishIn(b.String(), namesIn(t, e, e.Command)); len(found) < 100 {
		t.Errorf("only %q", found)
	}
}

// TestChinesePageInBrowser: the pages fit a screen and a telephone, and their language is known to the browser.
func TestChinesePageInBrowser(t *testing.T) {
	b := newBrowser(t)
	for name, e := range map[string]*record.Effects{"zh-colocation": realEffects(t)["postgres-colocation"], "zh-rich": answered(richRun())} {
		var page bytes.Buffer
		if err := chinese.HTML(&page, e, sourceOf(e)); err != nil {
			t.Fatal(err)
		}
		b.load(t, name, page.String())
		b.look(t, name)
		b.ask(t, name, `document.documentElement.lang == 'zh-CN' ? [] : ['the language is ' + document.documentElement.lang]`)
	}
	for _, c := range b.complaints {
		t.Error(c)
	}
}
