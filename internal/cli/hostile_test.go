package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tarelab/tare/internal/dataset"
	"github.com/tarelab/tare/internal/doctor"
	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/export"
	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/journal"
	"github.com/tarelab/tare/internal/plan"
	"github.com/tarelab/tare/internal/run"
	"github.com/tarelab/tare/record"
)

// hostilePieces are what others could put into a name.
var hostilePieces = []string{
	"\x1b[2J\x1b[H", "\x1b]0;owned\a", "\x1b[8m", "\x1b[31m", "\x1bP1$r\x1b\\", "\u009b2J", "\u0085", "\b\b", "\x7f", "\x00", // terminals
	"\u202e", "\u2066", "\u061c", "\u200e", // writing turned
	"\u200b", "\u2060", "\ufeff", "\u00ad", "\u3164", "\ufe0f", "\U000e0041", "\U000e0100", "\ue000", // not seen
	"\ninjected: line\n", "\rinjected: line", "\u2028injected: line", "\tx",
	"@org/team", " #12 GH-12", "https://evil.example/x", "www.evil.example", "root@evil.example", // comments
	"<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "|", "`", "](http://evil.example)", `"`, `'`, `\`, "$x$", "*_~",
}

// formulas are what a spreadsheet or a list of Markdown could begin with.
var formulas = []string{"=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(1)", "\t=1+1", "\r=1+1", " =1+1", "＝1+1", "# x", "1. x", "---", "- x"}

// hostileName is the nth hostile name: each begins differently and holds all pieces.
func hostileName(n int, of string) string {
	return formulas[n%len(formulas)] + of + strings.Join(hostilePieces, "n")
}

// disguise puts hostile pieces into every text of a value of JSON that means nothing to tare.
type disguise struct {
	names map[string]string // of loads and arms
	n     int
	pad   string // makes texts long
}

// meant are the texts whose words tare knows, by their key.
var meant = []string{"schema", "time", "started", "latency", "primary", "metrics", "judged", "environment"}

func (d *disguise) text(s string) string {
	if name, ok := d.names[s]; ok {
		return name
	}
	load, arm, both := strings.Cut(s, "/")
	if both && d.names[load] != "" && d.names[arm] != "" {
		return d.names[load] + "/" + d.names[arm]
	}
	d.n++
	return hostileName(d.n, s) + d.pad
}

func (d *disguise) value(key string, v any) any {
	switch x := v.(type) {
	case string:
		if slices.Contains(meant, key) {
			return x
		}
		return d.text(x)
	case []any:
		for i := range x {
			x[i] = d.value(key, x[i])
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			inner := d.value(k, x[k])
			switch key {
			case "settings", "params", "versions", "mitigations":
				delete(x, k)
				x[d.text(k)] = inner
			default:
				x[k] = inner
			}
		}
	}
	return v
}

// hostileResult is a real result in which every name and text is hostile; n chooses how texts begin.
func hostileResult(t *testing.T, dir, from string, n int, pad string) {
	t.Helper()
	d := &disguise{names: map[string]string{}, n: n, pad: pad}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var p record.Plan
	if err := json.Unmarshal(read(record.PlanFile), &p); err != nil {
		t.Fatal(err)
	}
	for _, w := range p.Workloads {
		d.names[w.Name] = hostileName(len(d.names), w.Name) + pad
		for _, a := range w.Arms {
			if d.names[a.Name] == "" {
				d.names[a.Name] = hostileName(len(d.names), a.Name) + pad
			}
		}
	}
	for _, name := range []string{record.PlanFile, record.ManifestFile, record.RecordFile} {
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		for in := json.NewDecoder(bytes.NewReader(read(name))); ; {
			var v any
			if err := in.Decode(&v); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if err := enc.Encode(d.value("", v)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// called is what a command prints.
func called(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	dir := t.TempDir()
	files := [2]*os.File{}
	for i := range files {
		f, err := os.Create(filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	code = Main(args, files[0], files[1])
	var all [2]string
	for i, f := range files {
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		all[i] = string(b)
	}
	return all[0], all[1], code
}

var ownColours = regexp.MustCompile("\x1b\\[(0|1|2|31|32|33)m")

// raw is the first character that no way out of tare may have, with what is around it.
func raw(s string) string {
	for i, r := range s {
		invisible := unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
		if unicode.IsControl(r) && r != '\n' || invisible || r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd") {
			return fmt.Sprintf("%q", s[max(0, i-40):min(len(s), i+40)])
		}
	}
	return ""
}

// doors are what must hold of each form of output.
var doors = map[string]func(string) error{
	"text": func(s string) error { return clean(ownColours.ReplaceAllString(s, "")) },
	"said": func(s string) error { // on standard error, where lines are short and not wrapped
		if m := regexp.MustCompile(`(?m)^injected.*`).FindString(s); m != "" {
			return fmt.Errorf("a name began a line: %q", m)
		}
		if len(s) > 40<<10 {
			return fmt.Errorf("%d bytes", len(s))
		}
		return clean(ownColours.ReplaceAllString(s, ""))
	},
	"markdown": markdownDoor,
	"html":     pageDoor,
	"csv":      csvDoor,
	"json": func(s string) error {
		for in := json.NewDecoder(strings.NewReader(s)); ; {
			var v any
			if err := in.Decode(&v); errors.Is(err, io.EOF) {
				return clean(s)
			} else if err != nil {
				return err
			}
		}
	},
	"openmetrics": func(s string) error {
		for line := range strings.Lines(s) {
			if !regexp.MustCompile(`^(# (TYPE|UNIT|HELP|EOF)|tare_[a-zA-Z0-9_]+\{)`).MatchString(line) {
				return fmt.Errorf("a line is none of the format: %q", line)
			}
		}
		return clean(s)
	},
	"junit": func(s string) error {
		for in := xml.NewDecoder(strings.NewReader(s)); ; {
			if _, err := in.Token(); errors.Is(err, io.EOF) {
				return clean(s)
			} else if err != nil {
				return err
			}
		}
	},
}

func clean(s string) error {
	if bad := raw(s); bad != "" {
		return fmt.Errorf("raw: %s", bad)
	}
	return nil
}

var (
	codeSpans   = regexp.MustCompile("(^|[^\\\\])`[^`\n]*`")
	linked      = regexp.MustCompile(`(?im)[@#][a-z0-9]|GH-[0-9]|://|www\.|mailto:|^[^<\n].*\]\(|<(img|script)`)
	begun       = regexp.MustCompile(`(?m)^(?:- |### |#### )?(?:[0-9]{1,9}[.)]|[-+]|#{1,6}|-{3,}|={3,})(?:\s|$)`)
	tares       = regexp.MustCompile(`(?m)^(- |#{3,4} )`)
	separations = regexp.MustCompile(`(^|[^\\])\|`)
)

func markdownDoor(s string) error {
	bare := codeSpans.ReplaceAllString(s, "${1}code")
	bare = strings.NewReplacer("&#34;", "", "&#39;", "").Replace(bare)
	if at := linked.FindStringIndex(bare); at != nil {
		return fmt.Errorf("a mention, a link or HTML: %q", bare[max(0, at[0]-30):min(len(bare), at[1]+30)])
	}
	if m := begun.FindString(tares.ReplaceAllString(bare, "")); m != "" {
		return fmt.Errorf("a name begins a line of Markdown: %q", m)
	}
	columns := 0
	for line := range strings.Lines(bare) {
		n := len(separations.FindAllString(line, -1))
		if !strings.HasPrefix(line, "|") {
			n = 0
		}
		if columns > 0 && n > 0 && n != columns {
			return fmt.Errorf("%d columns in a table of %d: %q", n, columns, line)
		}
		columns = n
	}
	return clean(strings.ReplaceAll(s, "\u200b", ""))
}

func csvDoor(s string) error {
	rows, err := csv.NewReader(strings.NewReader(s)).ReadAll()
	if err != nil {
		return err
	}
	for _, row := range rows {
		for _, f := range row {
			first, _ := utf8.DecodeRuneInString(strings.TrimSpace(f))
			if _, err := strconv.ParseFloat(f, 64); err != nil && strings.ContainsRune("=+-@＝＋－＠", first) && f != "" {
				return fmt.Errorf("a formula: %q", f)
			}
		}
	}
	return clean(s)
}

var downloads = regexp.MustCompile(`data:text/csv;charset=utf-8;base64,([A-Za-z0-9+/=&#;]+)`)

func pageDoor(s string) error {
	if m := regexp.MustCompile(`(?i)<img[^>]*onerror|<script>alert`).FindString(s); m != "" {
		return fmt.Errorf("a name became a tag: %q", m)
	}
	for _, m := range downloads.FindAllStringSubmatch(s, -1) {
		b, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(m[1], "&#43;", "+"))
		if err == nil {
			err = csvDoor(string(b))
		}
		if err != nil {
			return fmt.Errorf("a download: %w", err)
		}
	}
	return clean(strings.NewReplacer("\u2060", "", "\t", "").Replace(s)) // tare keeps numbers and units together, and indents its style
}

// passes wants of a form of output that nothing of a hostile name is raw in it.
func passes(t *testing.T, what, door, out string) {
	t.Helper()
	if err := doors[door](out); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// Nothing of a name, a reason or an error leaves tare raw: through every command, in every form.
func TestHostileNames(t *testing.T) {
	all := t.TempDir()
	state := filepath.Join(all, "state")
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(all, "cache"))
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	real, err := filepath.Abs("../../record/testdata/quick")
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(all, fileName(hostileName(0, "here")))
	t.Chdir(mkdir(t, work))
	for n, size := range map[string]int{"short": 0, "long": 200} {
		hostileResult(t, n, real, 0, strings.Repeat("x", size))
		hostileResult(t, n+"-again", real, 7, strings.Repeat("x", size))
	}
	hostileNodes(t, "nodes", "short")
	if err := os.CopyFS(filepath.Join(all, "real"), os.DirFS(real)); err != nil {
		t.Fatal(err)
	}

	tare := func(door string, args ...string) {
		t.Helper()
		stdout, stderr, code := called(t, args...)
		door, refused := strings.CutPrefix(door, "no ")
		door, partly := strings.CutPrefix(door, "partly ") // printed, and then an error
		what := fmt.Sprintf("tare %.80q", args)
		if !refused {
			passes(t, what, door, stdout)
		}
		passes(t, what+", standard error", "said", stderr)
		if refused != (stdout == "") || (refused || partly) != (code == exitUsage || code == exitError) {
			t.Errorf("%s: exit %d, %d bytes printed\n%s", what, code, len(stdout), stderr)
		}
	}
	for _, dir := range []string{"short", "long"} {
		for _, form := range []string{"text", "html", "markdown", "csv"} {
			tare(form, "report", dir, "--format", form)
		}
		tare("text", "report", dir, "-v", "--color=always")
		tare("text", "compare", dir, dir+"-again", "--force")
	}
	for form, door := range map[string]string{"json": "json", "jsonl": "json", "openmetrics": "openmetrics", "bencher": "json"} {
		tare(door, "report", "short", "--format", form)
	}
	tare("text", "report")
	tare("no said", "report", "-v")
	tare("text", "report", "short", "--open")
	if page, err := os.ReadFile(filepath.Join("short", record.PageFile)); err != nil {
		t.Error(err)
	} else {
		passes(t, "the page that is written", "html", string(page))
	}
	for _, form := range []string{"text", "junit", "markdown", "json"} {
		tare(form, "check", "short", "--max-cost", "throughput=5%", "--format", form)
	}
	for _, form := range []string{"markdown", "json"} {
		tare(form, "compare", "short", "short-again", "--force", "--format", form)
	}
	for _, form := range []string{"text", "html", "markdown", "json"} {
		tare(form, "report", "nodes", "--format", form)
	}
	tare("no csv", "report", "nodes", "--format", "csv")
	tare("no text", "check", "short", "--max-cost", "throughput=5%", "--arm", hostileName(1, "none"))
	tare("no text", "check", "short", "--max-cost", hostileName(1, "metric")+"=5%")
	tare("no text", "compare", "short", "../real")
	tare("no text", "compare", "long", "long-again")
	tare("no text", "run", "--continue", "short")
	hostileFiles(t, tare)
	hostileHost(t, tare, state)
	hostileProgress(t)
}

// hostileFiles are experiments, logs and names that are not there.
func hostileFiles(t *testing.T, tare func(door string, args ...string)) {
	t.Helper()
	bad := strings.ReplaceAll(hostileName(0, "mine"), "\x00", "") // no argument has a zero byte
	name := strings.ToValidUTF8(fileName(bad), "")                // an argument that is no UTF-8 is changed by kong
	metric := strings.NewReplacer("\n", "", "\r", "", "\x00", "", `"`, "").Replace(hostileName(3, "metric"))
	quoted := strconv.QuoteToASCII            // is YAML too
	titled := strings.Map(func(r rune) rune { // control characters are refused
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, bad)
	for file, text := range map[string]string{
		"good.yaml":   "title: " + quoted(titled) + "\nbudget: 2s\narms: [host, cgroup]\nworkloads:\n  commit: {kind: commit}\n",
		"named.yaml":  "name: " + quoted(bad) + "\nworkloads:\n  " + quoted(hostileName(1, "w")) + ": {kind: " + quoted(hostileName(2, "kind")) + "}\n",
		"broken.yaml": bad,
		name + "a":    "run,tps," + metric + "\n1,100,5\n2,101,6\n3,102,7\n",
		name + "b":    "run,tps," + metric + "\n1,90,5\n2,91,6\n3,92,7\n",
		"no.log":      bad + "\n\xff\xfe\n",
		name:          bad,
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, form := range []string{"text", "json"} {
		tare(form, "plan", "good.yaml", "--format", form)
	}
	for _, file := range []string{"named.yaml", "broken.yaml", name, name + ".yaml"} {
		tare("no text", "plan", file)
		tare("no text", "run", file)
	}
	tare("no text", "plan", "--arms", bad)
	tare("no text", "plan", "--set", bad+"=1")
	tare("no text", "presets", "show", bad)
	tare("no text", bad)
	tare("no text", "report", "--"+bad)
	tare("no text", "report", "--format", bad)
	tare("no text", "report", name)
	tare("no text", "report", bad)
	tare("no text", "image", "load", name, "--into", "podman")
	tare("no text", "image", "load", bad, "--into", "podman")
	for _, form := range []string{"text", "html", "markdown", "csv", "json", "openmetrics"} {
		tare(form, "import", "a="+name+"a", "b="+name+"b", "-o", name+form, "--format", form)
	}
	tare("no text", "import", bad+"=no.log", "-o", name+"no")
	tare("no text", "import", "a=no.log", "b="+name+"b", "-o", name+"no")
	tare("no text", "import", "a="+name, "b="+name+"gone", "-o", name+"no")
	tare("no text", "import", "a="+name+"a", "b="+name+"b", "--claim", bad, "-o", name+"no")
	tare("no text", "import", "a="+name+"a", "b="+name+"b", "--baseline", bad, "-o", name+"no")
}

// fileName is a name that a file can have, and no UTF-8 at its end.
func fileName(s string) string {
	return strings.NewReplacer("/", "", "\x00", "").Replace(s)[:200] + "\xff\xfe"
}

// hostileHost is what is on a host: journals of killed runs and data sets.
func hostileHost(t *testing.T, tare func(door string, args ...string), state string) {
	t.Helper()
	bad := hostileName(0, "x")
	step := func(n int, s journal.Step) string {
		b, err := json.Marshal(map[string]any{"token": n, "step": s})
		if err != nil {
			t.Fatal(err)
		}
		return string(b) + "\n"
	}
	header, err := json.Marshal(map[string]any{"header": journal.Header{Schema: journal.Schema, Run: "abcdefgh", Pid: 1 << 22, Boot: bad, Command: []string{bad}}})
	if err != nil {
		t.Fatal(err)
	}
	for run, text := range map[string]string{
		"abcdefgh": string(header) + "\n" + step(1, journal.Directory("/tmp/"+fileName(bad)+"/tare-abcdefgh")),
		"damaged":  string(header) + "\n" + bad + "\n",
	} {
		if err := os.WriteFile(filepath.Join(mkdir(t, filepath.Join(state, "tare", "journal")), run+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	store, err := dataset.Default()
	if err != nil {
		t.Fatal(err)
	}
	mkdir(t, filepath.Join(store.Dir, fileName(bad)))
	mkdir(t, filepath.Join(store.Dir, "."+fileName(bad)[:150]+".part-x"))
	tare("partly text", "cleanup", "-n")
	tare("text", "cache")
	tare("text", "cache", "prune", "-n", "--all")
	tare("no text", "cache", "prune", bad)

	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	c := &console{stdout: out, stderr: out, getenv: func(string) string { return "" }, color: "always"}
	p := newSheet(c)
	a := answers(record.Host{Name: bad, Kernel: bad, Arch: bad, CPUModel: bad, Distro: bad, Virtual: bad}, []doctor.Check{{Name: bad, Title: bad, Support: environment.Unsupported(bad, bad)}})
	a.Arms = a.Checks
	a.leftovers()
	p.host(a.Host)
	p.checks(a.Checks)
	p.arms(bad, a.Arms)
	p.leftovers(a)
	p.noise(doctor.Noise{Word: bad, Because: bad})
	p.outlook(&outlook{noise: bad, reach: bad, quieter: bad})
	p.left([]record.Left{{Arm: bad, Reason: bad, Remedy: bad}})
	p.columns([][3]string{{bad, bad, bad}})
	if err := p.flush(); err != nil {
		t.Fatal(err)
	}
	said := &relayed{to: out, prefix: "n1: "}
	fmt.Fprintf(said, "%s\n%s", bad, bad)
	said.flush()
	c.fail(hint.New(fmt.Errorf("one\n%s", bad), bad))
	c.note("%s %d %v", bad, 7, errors.New(bad))
	c.noteResults(bad, true)
	passes(t, "doctor, plan and notes", "said", contents(t, out))
	var b bytes.Buffer
	if err := export.Object(&b, a); err != nil {
		t.Error(err)
	}
	passes(t, "doctor as JSON", "json", b.String())
}

// hostileProgress is what is shown while a run goes on.
func hostileProgress(t *testing.T) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	bad := hostileName(0, "x")
	c := &console{stdout: out, stderr: out, getenv: func(string) string { return "" }, color: "always"}
	left := func() (float64, float64) { return 60, 180 }
	p := &plan.Plan{Record: record.Plan{Experiment: bad, Budget: 180}, Left: []record.Left{{Arm: bad, Reason: bad}},
		Loads: []plan.Load{{Workload: record.Workload{Name: bad, Baseline: "host", Arms: []record.Arm{{Name: "host"}, {Name: bad}}}}}}
	for _, show := range []progress{&plain{w: out, left: left}, &screen{console: c, left: left}, silent{out}} {
		show.start(p, bad)
		for _, phase := range []string{"prepare", "launch", "pilot", phaseMeasure, bad} {
			for _, load := range []string{bad, bad + "2"} {
				show.event(run.Event{Workload: load, Number: 1, Of: 2, Phase: phase, Arm: bad, Note: bad, Blocks: 3,
					Arms: []run.Running{{Arm: bad, Ratio: 0.9, Half: 0.01}}})
			}
		}
		show.say("a line\nand " + formatted("%s", bad))
		show.end()
	}
	drawing := regexp.MustCompile("\x1b\\[[0-9]+A|\r?\x1b\\[J")
	passes(t, "progress", "said", drawing.ReplaceAllString(contents(t, out), ""))
}

func contents(t *testing.T, f *os.File) string {
	t.Helper()
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// hostileNodes is a run over two nodes of hostile names.
func hostileNodes(t *testing.T, dir, from string) {
	t.Helper()
	n := record.Nodes{Schema: record.NodesSchema, Left: []record.Left{{Arm: hostileName(2, "w-9"), Reason: hostileName(3, "why"), Remedy: hostileName(4, "do")}}}
	for i, name := range []string{"w-1", "w-2"} {
		below := strings.ReplaceAll(hostileName(i, name), "/", "")
		below = strings.ReplaceAll(below, "\x00", "")[:200]
		if err := os.CopyFS(filepath.Join(dir, below), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		n.Nodes = append(n.Nodes, record.NodeResult{Name: hostileName(i, name), Dir: below})
	}
	if err := record.WriteJSON(dir, record.NodesFile, n); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
