package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/hostlock"
	"github.com/tarelab/tare/record"
)

// hostilePieces are texts that an attacker could put into a name.
var hostilePieces = []string{
	"\x1b[2J\x1b[H", "\x1b]0;owned\a", "\x1b[8m", "\x1b[31m", "\x1bP1$r\x1b\\", "\u009b2J", "\u0085", "\b\b", "\x7f", "\x00", // terminals
	"\u202e", "\u2066", "\u061c", "\u200e", // writing turned
	"\u200b", "\u2060", "\ufeff", "\u00ad", "\u3164", "\ufe0f", "\U000e0041", "\U000e0100", "\ue000", // not seen
	"\ninjected: line\n", "\rinjected: line", "\u2028injected: line", "\tx",
	"@org/team", " #12 GH-12", "https://evil.example/x", "www.evil.example", "root@evil.example", // comments
	"<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "|", "`", "](http://evil.example)", `"`, `'`, `\`, "$x$", "*_~",
}

// formulas are beginnings that a spreadsheet or Markdown would interpret.
var formulas = []string{"=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(1)", "\t=1+1", "\r=1+1", " =1+1", "＝1+1", "# x", "1. x", "---", "- x"}

// hostileName is the nth hostile name: each begins differently and holds all pieces.
func hostileName(n int, of string) string {
	return formulas[n%len(formulas)] + of + strings.Join(hostilePieces, "n")
}

// disguise puts hostile pieces into every text of a JSON value that tare does not interpret.
type disguise struct {
	names map[string]string // of loads and arms
	n     int
	pad   string // makes texts long
}

// meant are the keys whose texts tare interprets.
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

// called runs a command and returns its output.
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

// passes checks that a form of output has no raw character of a hostile name.
func passes(t *testing.T, what, door, out string) {
	t.Helper()
	if err := doors[door](out); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// No name, reason or error is printed raw, by any command, in any form.
func TestHostileNames(t *testing.T) {
	testneed.Root(t)
	all := t.TempDir()
	state := filepath.Join(all, "state")
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(all, "cache"))
	t.Setenv(hostlock.DirEnv, filepath.Join(all, "locks")) // other packages' tests measure at the same time
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
		if refused != (stdout == "") || (refused || partly) != slices.Contains([]int{exitUsage, exitError, exitInvalid}, code) {
			t.Errorf("%s: exit %d, %d bytes printed\n%s", what, code, len(stdout), stderr)
		}
	}
	hostileForms(t, tare)
	hostileFiles(t, tare)
	hostileHost(t, tare, state)
	hostileProgress(t)
}

// hostileForms prints and judges results in every form.
func hostileForms(t *testing.T, tare func(door string, args ...string)) {
	t.Helper()
	for _, dir := range []string{"short", "long"} {
		for _, form := range []string{"text", "html", "markdown", "csv"} {
			tare(form, "report", dir, "--format", form)
		}
		tare("text", "report", dir, "-v", "--color=always")
		tare("text", "compare", dir, dir+"-again", "--force")
	}
	for form, door := range map[string]string{"json": "json", "openmetrics": "openmetrics"} {
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
	for _, form := range []string{"text", "markdown", "json"} {
		tare(form, "report", "nodes", "--format", form)
	}
	tare("no csv", "report", "nodes", "--format", "csv")
	tare("no text", "check", "short", "--max-cost", "throughput=5%", "--arm", hostileName(1, "none"))
	tare("no text", "check", "short", "--max-cost", hostileName(1, "metric")+"=5%")
	tare("no text", "compare", "short", "../real")
	tare("no text", "compare", "long", "long-again")
	tare("no text", "run", "--continue", "short")
}

// hostileFiles reads experiments and logs with hostile content, and files that do not exist.
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
		tare(form, "import", "a="+name+"a", "b="+name+"b", "-o", name+form, "--format", form, "--column", "*=ignore")
	}
	tare("no text", "import", "a="+name+"a", "b="+name+"b", "-o", name+"no")
	tare("no text", "import", bad+"=no.log", "-o", name+"no")
	tare("no text", "import", "a=no.log", "b="+name+"b", "-o", name+"no")
	tare("no text", "import", "a="+name, "b="+name+"gone", "-o", name+"no")
	tare("no text", "import", "a="+name+"a", "b="+name+"b", "--claim", bad, "-o", name+"no")
	tare("no text", "import", "a="+name+"a", "b="+name+"b", "--baseline", bad, "-o", name+"no")
}

// fileName is a possible name of a file that ends with bytes that are not UTF-8.
func fileName(s string) string {
	return strings.NewReplacer("/", "", "\x00", "").Replace(s)[:200] + "\xff\xfe"
}

func contents(t *testing.T, f *os.File) string {
	t.Helper()
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// hostileNodes prints a run on two nodes with hostile names.
func hostileNodes(t *testing.T, dir, from string) {
	t.Helper()
	n := record.Nodes{Schema: record.NodesSchema, Left: []record.Left{{Arm: hostileName(2, "w-9"), Reason: record.InProse(hostileName(3, "why")), Remedy: record.InProse(hostileName(4, "do"))}}}
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
