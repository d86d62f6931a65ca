package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/record"
)

func pageOf(t testing.TB, e *record.Effects, s Source) string {
	t.Helper()
	var b bytes.Buffer
	if err := english.HTML(&b, answered(e), s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func pageFixtures() map[string]*record.Effects {
	all := fixtures()
	all["priced"], all["pods"] = pricedRun(), podsRun()
	return all
}

// TestPageGolden compares whole pages with what a person looked at. The style
// is left out: it is a file of its own.
func TestPageGolden(t *testing.T) {
	for _, name := range []string{"user", "empty", "zero", "priced", "imported"} {
		e := pageFixtures()[name]
		source := sourceOf(e)
		if name == "imported" {
			e, source = importedSource()
		}
		goldenPage(t, name+".html", pageOf(t, e, source))
	}
}

// goldenPage leaves out the style and its hash.
func goldenPage(t *testing.T, name, page string) {
	t.Helper()
	s := strings.ReplaceAll(page, pageStyle, "")
	s = regexp.MustCompile(`-src &#39;sha256-.*?&#39;`).ReplaceAllString(s, "")
	golden(t, name, []byte(s))
}

// TestPageOfEverything makes a page of every fixture, with and without what is
// beside the effects: same bytes twice, no number that is none, nothing from
// elsewhere, every drawing well-formed.
func TestPageOfEverything(t *testing.T) {
	for name, e := range pageFixtures() {
		for _, s := range []Source{{}, sourceOf(e)} {
			page := pageOf(t, e, s)
			if again := pageOf(t, e, s); again != page {
				t.Errorf("%s: two pages of the same effects differ", name)
			}
			checkPage(t, name, page)
		}
	}
}

var (
	charts    = regexp.MustCompile(`(?s)<table class="chart.*?</table>`)
	ids       = regexp.MustCompile(` id="([^"]*)"`)
	elsewhere = regexp.MustCompile(`(?i)(src|href)\s*=\s*"?\s*(https?:|//|javascript:)|@import|\burl\([^#]`)
)

func checkPage(t interface{ Errorf(string, ...any) }, name, page string) {
	if m := elsewhere.FindString(page); m != "" {
		t.Errorf("%s: the page needs something from elsewhere: %s", name, m)
	}
	seen := map[string]bool{}
	for _, m := range ids.FindAllStringSubmatch(page, -1) {
		if seen[m[1]] {
			t.Errorf("%s: two elements have the id %s", name, m[1])
		}
		seen[m[1]] = true
	}
	for _, svg := range charts.FindAllString(page, -1) {
		if m := notNumbers.FindString(regexp.MustCompile(`(?s)<(th|small|span|text)[^>]*>.*?</(th|small|span|text)>|<td class="(value|word)">.*?</td>|aria-label="[^"]*"`).ReplaceAllString(svg, "")); m != "" {
			t.Errorf("%s: %s in a drawing", name, m)
		}
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Errorf("%s: a drawing is not well-formed: %v", name, err)
				return
			}
		}
	}
}

// TestPageEscapes gives hostile names everywhere.
func TestPageEscapes(t *testing.T) {
	const evil = `</script><img src=x onerror=alert(1)>"'><svg onload=alert(2)>&{{.}}` + "\x1b[31m\u202e"
	e := richRun()
	s := sourceOf(e)
	rename := func(name *string) { *name += evil }
	for i := range e.Workloads {
		rename(&e.Workloads[i].Name)
		e.Workloads[i].Title = record.InProse(evil)
		e.Workloads[i].Checks[0].Text = record.InProse(evil)
	}
	for _, list := range [][]record.Effect{e.Effects, e.Steps, e.Remainder, e.Twin} {
		for i := range list {
			rename(&list[i].Workload)
			rename(&list[i].Arm)
			rename(&list[i].Baseline)
			list[i].Reason = record.InProse(evil)
		}
	}
	for i := range e.Workloads {
		rename(&e.Workloads[i].Baseline)
	}
	for i := range e.Arms {
		rename(&e.Arms[i].Workload)
		rename(&e.Arms[i].Arm)
		rename(&e.Arms[i].Settings[0].Got)
	}
	for i := range e.Kernel {
		rename(&e.Kernel[i].Workload)
		rename(&e.Kernel[i].Metric)
	}
	for i := range e.Series {
		rename(&e.Series[i].Workload)
		rename(&e.Series[i].Arm)
	}
	rename(&e.Experiment)
	rename(&e.Host.Name)
	rename(&s.Plan.Source)
	rename(&s.Manifest.User)
	e.Command = append(e.Command, evil)
	e.Warnings[0].Text = record.InProse(evil)
	page := pageOf(t, e, s)
	for _, bad := range []string{"<img", "<svg onload", "\x1b", "\u202e"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q reached the page", bad)
		}
	}
	if strings.Contains(page, "<script") {
		t.Error("a script in the page")
	}
	if !strings.Contains(page, "onerror=alert(1)&gt;") {
		t.Error("the hostile name is not on the page at all")
	}
	checkPage(t, "hostile", page)
}

// TestPageAnything makes pages of whatever effects there could be.
func TestPageAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawAll(t)
		e.Series = drawSeries(t, e)
		var b bytes.Buffer
		if err := english.HTML(&b, answered(e), Source{}); err != nil {
			t.Fatal(err)
		}
		checkPage(t, "drawn", b.String())
	})
}

func drawSeries(t *rapid.T, e *record.Effects) (all []record.Series) {
	for _, a := range e.Arms {
		s := record.Series{Workload: a.Workload, Arm: a.Arm, Metric: drawMetric().Draw(t, "series")}
		for range rapid.IntRange(0, 5).Draw(t, "points") {
			s.Points = append(s.Points, record.Point{At: drawFloat().Draw(t, "at"), Value: drawFloat().Draw(t, "value"),
				Generation: rapid.Int().Draw(t, "generation"), Dropped: drawText().Draw(t, "dropped")})
		}
		all = append(all, s)
	}
	return all
}

// TestPageOfALongRun bounds the page of a long run and of a day of windows, and
// holds that it says what it leaves out.
func TestPageOfALongRun(t *testing.T) {
	for _, windows := range []int{10_000, 200_000} {
		e, s := longRun(windows)
		page := pageOf(t, e, s)
		if n := len(page); n > 100_000 {
			t.Errorf("the page of %d blocks has %d bytes", windows, n)
		}
		if want := fmt.Sprintf(" of %d dots", windows); !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func longRun(windows int) (*record.Effects, Source) {
	e := userRun()
	s := sourceOf(e)
	for i := range e.Series {
		x := &e.Series[i]
		x.Points = nil
		for n := range windows {
			x.Points = append(x.Points, record.Point{At: 0.4 * float64(n), Value: 9000 + 100*float64(n*7919%200)/200, Generation: n / 1000, Block: n % 1000})
		}
	}
	return e, s
}

// BenchmarkLongRun makes the page of 100 000 windows.
func BenchmarkLongRun(b *testing.B) {
	e, s := longRun(100_000)
	answered(e)
	b.ReportAllocs()
	for b.Loop() {
		if err := english.HTML(io.Discard, e, s); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPageLinksData: a page links the files with its data that lie beside it, and names none otherwise.
func TestPageLinksData(t *testing.T) {
	e := userRun()
	s := sourceOf(e)
	if page := pageOf(t, e, s); strings.Contains(page, "record.jsonl\"") {
		t.Error("a page by itself links a file")
	}
	s.Files = []string{"effects.json", "a b&c.csv"}
	page := pageOf(t, e, s)
	for _, want := range []string{`<a href="effects.json">effects.json</a>`, `<a href="a%20b&amp;c.csv">a b&amp;c.csv</a>`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
}

// TestPageExplains: a word is explained once in a part, and the list at the end has what was explained.
func TestPageExplains(t *testing.T) {
	e := richRun()
	page := pageOf(t, e, sourceOf(e))
	e, source := importedSource()
	imported := pageOf(t, e, source)
	for _, word := range []string{"twin", "p99", "noise floor"} {
		if n := strings.Count(page, ">"+word+"</abbr>"); n == 0 {
			t.Errorf("%s is explained nowhere", word)
		}
	}
	if n, parts := strings.Count(page, ">p99</abbr>"), strings.Count(page, "\n<details "); n > parts+1 {
		t.Errorf("p99 is explained %d times in %d parts", n, parts)
	}
	if !strings.Contains(page, "<dt>twin</dt>") || strings.Contains(imported, "<dt>twin</dt>") {
		t.Error("the list of words is not that of the page")
	}
}

// The first screen has warnings about the arms of the answer, those with one remedy together, and links the others.
func TestPageWarnings(t *testing.T) {
	e := richRun()
	e.Warnings = []record.Warning{
		{Workload: "rpc", Arm: "container", Text: record.InProse("one thing"), Remedy: record.InProse("do this")},
		{Workload: "commit", Arm: "container", Text: record.InProse("another thing"), Remedy: record.InProse("do this")},
		{Workload: "rpc", Arm: "cgroup", Text: record.InProse("a third thing"), Remedy: record.InProse("do that")},
	}
	page := pageOf(t, e, Source{})
	first, _, _ := strings.Cut(page, "</header>")
	for text, want := range map[string]int{"one thing": 1, "another thing": 1, "do this": 1, "a third thing": 0, "1 more warning<": 1} {
		if got := strings.Count(first, text); got != want {
			t.Errorf("the first screen has %q %d times, want %d", text, got, want)
		}
	}
	e.Warnings = e.Warnings[2:]
	first, _, _ = strings.Cut(pageOf(t, e, Source{}), "</header>")
	if !strings.Contains(first, `<a href="#warnings">1 warning about other arms</a>`) {
		t.Error("a warning about another arm is not linked")
	}
}

// A page names the home of the project that built tare.
func TestPageCitesHome(t *testing.T) {
	home := hint.Home
	t.Cleanup(func() { hint.Home = home })
	hint.Home = "https://git.example/weigh"
	for _, e := range []*record.Effects{userRun(), importedRun()} {
		if page := pageOf(t, e, Source{}); !strings.Contains(page, "("+hint.Home+") on ") || strings.Contains(page, home) {
			t.Error("another home is cited")
		}
	}
}

// Where the table finds a row invalid, the figures of the page say so too: that of all loads and that of the load.
func TestForestAgrees(t *testing.T) {
	for _, c := range []struct {
		says record.Says
		want string
	}{
		{record.Says{Word: record.SaysInvalid, Reason: record.InProse("the twin differs")}, "invalid"},
	} {
		e := answered(richRun())
		row := &e.Answer.Tables[0].Rows[0]
		row.Says = c.says
		effect := *row.Effect
		effect.Verdict = record.Undecided
		row.Effect = &effect
		var b bytes.Buffer
		if err := english.HTML(&b, e, Source{}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), `class="word">`+c.want+`<`); n != 2 {
			t.Errorf("%s: in %d figures, want 2", c.want, n)
		}
		if in := english.answered("a", "", *row, 0.01); in.Tone != "broken" {
			t.Errorf("%s: drawn as %q", c.want, in.Tone)
		}
	}
}
