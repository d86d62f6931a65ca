package cli

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// lookedOn is a screen that has seen a real run, with the lines that a run keeps.
func lookedOn(t testing.TB) *screen {
	t.Helper()
	r, err := record.Read(realResult)
	if err != nil {
		t.Fatal(err)
	}
	s := testScreen("never")
	s.soFar.plan = r.Plan
	for _, w := range r.Plan.Workloads {
		s.measured(&r.Manifest, w, keptOf(r, w))
		s.soFar.took = 0 // no rest before the next one
	}
	return s
}

// keptOf are the lines of a workload as a run keeps them.
func keptOf(r *record.Result, w record.Workload) (lines []record.Line) {
	for _, l := range r.Lines {
		of := ""
		switch {
		case l.Pilot != nil:
			of = l.Pilot.Workload
		case l.Block != nil:
			of = l.Block.Workload
		case l.Generation != nil:
			of = l.Generation.Workload
		case l.Check != nil:
			of = l.Check.Workload
		}
		if of == w.Name {
			lines = append(lines, analysis.Kept(w, l))
		}
	}
	return lines
}

// The table of a run that is going on has the rows of the report, as far as the lines that the run keeps tell:
// load, level, throughput, CPU per operation and answer.
func TestTableSoFar(t *testing.T) {
	s := lookedOn(t)
	shown := strings.Join(s.soFar.table(s.reports(), 100, false), "\n")
	r, effects, err := analyse(realResult)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, table := range effects.Answer.Tables {
		for _, row := range table.Rows {
			line := regexp.MustCompile(`(?m)^ *` + regexp.QuoteMeta(row.Workload) + ` .*$`).FindString(shown)
			if line == "" {
				t.Errorf("no row of %s in\n%s", row.Workload, shown)
			}
			rows++
		}
	}
	if rows == 0 || len(r.Plan.Workloads) == 0 {
		t.Fatal("the result has no answer")
	}
	if !strings.Contains(shown, "95 % intervals") || strings.Contains(shown, "Charts, latencies") {
		t.Errorf("not the tables alone:\n%s", shown)
	}
}

// A load that was not measured yet has no row.
func TestTableGrows(t *testing.T) {
	r, err := record.Read(realResult)
	if err != nil {
		t.Fatal(err)
	}
	s := testScreen("never")
	s.soFar.plan = r.Plan
	if lines := s.soFar.table(s.reports(), 100, false); lines != nil {
		t.Errorf("a table of nothing: %q", lines)
	}
	before := 0
	for _, w := range r.Plan.Workloads {
		s.measured(&r.Manifest, w, keptOf(r, w))
		s.soFar.took = 0 // no rest before the next one
		lines := s.soFar.table(s.reports(), 100, false)
		if len(lines) <= before {
			t.Errorf("with %s %d lines, before %d", w.Name, len(lines), before)
		}
		if text := strings.Join(lines, "\n"); strings.Contains(text, "skipped") {
			t.Errorf("skipped loads:\n%s", text)
		}
		before = len(lines)
	}
}

// On a terminal of any size no line of the display with a table wraps, and the display is less high.
func TestTableFits(t *testing.T) {
	s := lookedOn(t)
	tables := 0
	for _, width := range []int{1, 20, 41, 42, 60, 80, 100, 200} {
		for height := 4; height < 40; height += 3 {
			lines := s.status(measuring(), 72, 180, width, height)
			if len(lines) >= height {
				t.Errorf("%d lines on %d", len(lines), height)
			}
			for _, l := range lines {
				if n := utf8.RuneCountInString(l); n >= max(2, width) {
					t.Errorf("%d columns on %d: %q", n, width, l)
				}
			}
			if strings.Contains(strings.Join(lines, "\n"), "95 % intervals") {
				tables++
			}
		}
	}
	if tables < 20 {
		t.Errorf("only %d displays have the table", tables)
	}
}

// In Chinese, too, no line of the display wraps.
func TestChineseTableFits(t *testing.T) {
	s := lookedOn(t)
	s.speak(messages.Chinese)
	for _, width := range []int{20, 30, 42, 60, 80, 100} {
		for _, height := range []int{5, 12, 40} {
			lines := s.status(measuring(), 72, 180, width, height)
			for _, l := range lines {
				if n := columnsOf(l); n >= width {
					t.Errorf("%d columns on %d: %q", n, width, l)
				}
			}
			if text := strings.Join(lines, "\n"); width > 60 && (!strings.Contains(text, "剩") || strings.Contains(text, "more")) {
				t.Errorf("not in Chinese:\n%s", text)
			}
		}
	}
	if got := rowsOf([]string{strings.Repeat("长", 40)}, 40); got != 2 {
		t.Errorf("80 columns are %d rows on 40", got)
	}
}

// A terminal that became narrower has wrapped what was drawn.
func TestRowsOf(t *testing.T) {
	lines := []string{strings.Repeat("a", 79), "\x1b[1m" + strings.Repeat("b", 40) + "\x1b[0m", ""}
	for width, want := range map[int]int{0: 3, 80: 3, 79: 3, 78: 4, 40: 4, 39: 6, 20: 7} {
		if got := rowsOf(lines, width); got != want {
			t.Errorf("%d columns: %d rows, want %d", width, got, want)
		}
	}
}

// Every line of --progress json is an object, with null before the first blocks.
func TestEvents(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "err"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	c := &console{stderr: file, stdout: file, getenv: func(string) string { return "" }}
	f := progressFlags{Progress: "json"}
	c.events, c.color = f.asEvents(), "always"
	left := []record.Left{{Arm: "nat", Reason: record.InProse("no nftables")}}
	p := &plan.Plan{Record: record.Plan{Experiment: "quick", Budget: 180, Seed: 7}, Left: left}
	show := c.progress(p, f)
	show.start(p, "r")
	show.event(measuring())
	show.event(measuring()) // within a second
	show.event(run.Event{Workload: "rpc", Phase: "launch", Arm: "host"})
	show.say("two\nlines")
	show.end()
	c.noteResults("r", true)
	if code := c.fail(useless("--a", "with --b", "leave it out")); code != exitUsage {
		t.Errorf("exit code %d", code)
	}
	b, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	var all []map[string]any
	for line := range bytes.Lines(b) {
		var x map[string]any
		if err := json.Unmarshal(line, &x); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		kinds, all = append(kinds, x["event"].(string)), append(all, x)
	}
	if got, want := strings.Join(kinds, " "), "begin progress progress note end note error"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	effects := all[1]["effects"].([]any)
	known, unknown := effects[0].(map[string]any), effects[2].(map[string]any)
	if low := known["low"].(float64); math.Abs(low-1.0004*math.Exp(-0.006)) > 1e-12 {
		t.Errorf("%v", known)
	}
	if unknown["ratio"] != nil || unknown["arm"] != "namespaces" {
		t.Errorf("%v", unknown)
	}
	if bytes.Contains(b, []byte("u001b")) {
		t.Errorf("colours in\n%s", b)
	}
	last := all[len(all)-1]
	if all[0]["schema"] != progressSchema || all[1]["launch"] != 3.0 || last["remedy"] != "leave it out" || last["exit_code"] != 2.0 {
		t.Errorf("%v", all)
	}
}

// The lines of a node's run get its name; what is no object becomes a note.
func TestEventOfNode(t *testing.T) {
	for line, want := range map[string]string{
		`{"event":"end","elapsed_seconds":3}`:           `{"elapsed_seconds":3,"event":"end","node":"n1"}`,
		`tare enters node n1`:                           `{"event":"note","node":"n1","text":"tare enters node n1"}`,
		`{"event":"begin","seed":18446744073709551615}`: `{"event":"begin","node":"n1","seed":18446744073709551615}`,
		`{"a":1}`: `{"event":"note","node":"n1","text":"{\"a\":1}"}`,
	} {
		if got := eventOfNode("n1", line); got != want {
			t.Errorf("%s: %s", line, got)
		}
	}
	var out bytes.Buffer
	p := &relayed{to: &out, event: "n1"}
	for _, part := range []string{"plain\n{\"eve", "nt\":\"end\"}\n", "rest"} {
		if _, err := p.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	p.flush()
	want := `{"event":"note","node":"n1","text":"plain"}
{"event":"end","node":"n1"}
{"event":"note","node":"n1","text":"rest"}
`
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
}

func BenchmarkTableSoFar(b *testing.B) {
	s := lookedOn(b)
	r, err := record.Read(realResult)
	if err != nil {
		b.Fatal(err)
	}
	w := r.Plan.Workloads[0]
	lines := keptOf(r, w)
	for b.Loop() {
		s.measured(&r.Manifest, w, lines)
		s.soFar.table(s.reports(), 100, true)
		s.soFar.took = 0
	}
}

// The answer so far is computed in a fiftieth of the time.
func TestTableRests(t *testing.T) {
	s := lookedOn(t)
	r, err := record.Read(realResult)
	if err != nil {
		t.Fatal(err)
	}
	before := s.soFar.effects
	s.soFar.took = time.Hour
	s.measured(&r.Manifest, r.Plan.Workloads[0], keptOf(r, r.Plan.Workloads[0]))
	if s.soFar.effects != before {
		t.Error("computed again without a rest")
	}
	s.soFar.took = 0
	s.measured(&r.Manifest, r.Plan.Workloads[0], keptOf(r, r.Plan.Workloads[0]))
	if s.soFar.effects == before {
		t.Error("not computed again after a rest")
	}
}
