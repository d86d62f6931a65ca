package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/record"
)

// quickRun is the preset quick with everything that a report may have to say of
// it: noise of every kind, arms that were left out for long reasons, forecasts,
// checks that failed, warnings.
func quickRun(v record.Verdict, percent, half float64) *record.Effects {
	e := richRun()
	for _, list := range [][]record.Effect{e.Effects, e.Steps, e.Remainder} {
		for i := range list {
			list[i].Verdict, list[i].Typical = v, ratio(percent, half)
			if v == record.Invalid {
				list[i].Reason = record.InProse("the windows that were dropped of one arm may hide more than the margin")
			}
		}
	}
	steal := record.Kernel{Metric: "cpu.steal", Unit: "s", Per: "second", Values: map[string]record.Value{"host": record.Number(0.8)}}
	foreign := record.Kernel{Metric: "cpu.foreign", Unit: "s", Per: "second", Values: map[string]record.Value{"host": record.Number(0.4)}}
	e.Kernel = []record.Kernel{steal, foreign}
	for i := range e.Workloads {
		w := &e.Workloads[i]
		w.Windows, w.WindowsOf, w.Checks = 1234, 1235, checks(false)
		for n, h := range []float64{0.2, 0.1, 0.05, 0.02} {
			w.Forecast = append(w.Forecast, record.Forecast{Metric: w.Primary, Arm: "container", Half: h, Seconds: math.Pow(4, float64(n+2))})
		}
	}
	for i := range 5 {
		e.Warnings = append(e.Warnings, record.Warning{Text: record.InProse(fmt.Sprint("something that takes more than a line of the report to be told, number ", i,
			", and that goes on for as long as this"))})
	}
	return e
}

// withoutContainer leaves the real container out of a run.
func withoutContainer(e *record.Effects) *record.Effects {
	gone := func(list []record.Effect) (kept []record.Effect) {
		for _, x := range list {
			if x.Arm != "container" {
				kept = append(kept, x)
			}
		}
		return kept
	}
	e.Effects, e.Steps, e.Remainder = gone(e.Effects), gone(e.Steps), nil
	e.Arms = slices.DeleteFunc(e.Arms, func(a record.ArmResult) bool { return a.Arm == "container" })
	e.Left = []record.Left{{Arm: "container", Reason: record.InProse("neither runc nor crun is installed, and neither of them is at any of the places where they usually are"),
		Remedy: record.InProse("install one: apt install runc, or name its path with --runtime /path/to/it")}}
	return e
}

func quickRuns() map[string]*record.Effects {
	all := map[string]*record.Effects{
		"undecided": withoutContainer(quickRun(record.Undecided, -11, 19)), "costs": quickRun(record.Slower, -31.5, 9.25),
		"equal": quickRun(record.NoDifference, -0.2, 0.4), "invalid": quickRun(record.Invalid, -12, 30),
		"mixed": withoutContainer(quickRun(record.Slower, -3.25, 1.5)),
	}
	mixed := all["mixed"]
	mixed.Ended = "killed"
	for i := range mixed.Effects {
		x := &mixed.Effects[i]
		switch x.Workload {
		case "rpc":
			x.Verdict, x.Reason = record.Invalid, record.Say("no_window")
		case "oltp-read-only":
			x.Verdict, x.Reason = record.Invalid, record.InProse("the baseline differs from itself by -7.0 % [-12.0, -2.0]")
		case "commit":
			x.Verdict = record.Undecided
		case "oltp-read-write":
			x.Verdict = record.NoDifference
		}
	}
	for i := range mixed.Twin {
		mixed.Twin[i].Verdict, mixed.Twin[i].Typical = record.Slower, ratio(-7, 5)
	}
	return all
}

// TestScreenFits: the default output has at most 25 lines of 100 columns, and one more for each load or
// arm beyond the first, whatever it has to say.
func TestScreenFits(t *testing.T) {
	all := quickRuns()
	for name, e := range fixtures() {
		all[name] = e
	}
	for name, e := range all {
		answered(e)
		var b bytes.Buffer
		if err := english.Text(&b, e, Options{Dir: "tare-result-2026-11-22-110203"}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		rows := 0
		for _, t := range e.Answer.Tables {
			rows += len(t.Rows)
		}
		if most := 25 + max(rows-1, 0); len(lines) > most {
			t.Errorf("%s has %d lines, at most %d wanted:\n%s", name, len(lines), most, b.String())
		}
		for _, l := range lines {
			if Width(l) > 100 {
				t.Errorf("%s: %d columns: %s", name, Width(l), l)
			}
		}
		if _, quick := quickRuns()[name]; quick {
			golden(t, "quick-"+name+".short.txt", b.Bytes())
		}
		for _, w := range e.Workloads {
			if !strings.Contains(b.String(), w.Name) {
				t.Errorf("%s: nothing is said of %s:\n%s", name, w.Name, b.String())
			}
		}
	}
}

// TestNoStarInNoise: a cost that is no larger than what the twin shows has no star,
// in the matrix and among the other metrics, and the answer says so.
func TestNoStarInNoise(t *testing.T) {
	for _, c := range []struct {
		percent, noise float64
		star           bool
	}{{-3, 2, true}, {-3, 4, false}} {
		e := richRun()
		for i := range e.Effects {
			e.Effects[i].Verdict, e.Effects[i].Typical = record.Slower, ratio(c.percent, 1)
		}
		for i := range e.Twin {
			e.Twin[i].Verdict, e.Twin[i].Typical = record.Undecided, ratio(0, c.noise)
		}
		for i := range e.Workloads {
			e.Workloads[i].NoiseFloor = c.noise / 100
		}
		for _, o := range []Options{{}, {Verbose: true}} {
			var b bytes.Buffer
			if err := english.Text(&b, answered(e), o); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(strings.ReplaceAll(b.String(), " % ", " "), "-3.0 ±1.0*"); got != c.star {
				t.Errorf("noise %v: star %v, want %v\n%s", c.noise, got, c.star, b.String())
			}
			if got := strings.Contains(strings.ReplaceAll(b.String(), " % ", " "), "-3.0 ±1.0~"); got == c.star {
				t.Errorf("noise %v: mark of noise %v\n%s", c.noise, got, b.String())
			}
		}
	}
}

// A metric in which the twin differs has no star: its column is marked as noise.
func TestNoisyColumn(t *testing.T) {
	e := richRun()
	for i := range e.Effects {
		if x := &e.Effects[i]; x.Metric == "p50" {
			x.Verdict, x.Typical = record.Slower, ratio(8, 1)
		}
	}
	for i := range e.Twin {
		if x := &e.Twin[i]; x.Metric == "p50" {
			x.Verdict, x.Typical, x.Noisy = record.Undecided, ratio(3, 1), true
		}
	}
	var b bytes.Buffer
	if err := english.Text(&b, answered(e), Options{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{" p50~ ", "+8.0 ±1.0~", "+3.0 ±1.0~", "noise, as the twin differs"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "+8.0 ±1.0*") {
		t.Errorf("a star in a column of noise:\n%s", b.String())
	}
}

func TestFigures(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{relative(1.31).text, "x1.3"}, {relative(1.04).text, "="}, {relative(12.34).text, "x12.3"}, {relative(0.02).text, "x0.02"},
		{command([]string{"run", "a b", "it's"}), `tare run 'a b' 'it'\''s'`},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// oneLaunch makes the effects those of a single launch.
func oneLaunch(e *record.Effects) {
	for _, list := range [][]record.Effect{e.Effects, e.Steps, e.Remainder, e.Twin} {
		for i := range list {
			list[i].Generations, list[i].Verdict = 1, record.Undecided
			list[i].Reason, list[i].Needed = record.InProse("a verdict needs 4 launches, 1 was made"), 33
		}
	}
}

// Dropped windows stand on the first screen from a twentieth of the windows on, each reason with its number.
func TestDroppedWindows(t *testing.T) {
	for _, c := range []struct {
		d    record.Dropped
		want string
	}{
		{record.Dropped{Windows: 45, WindowsOf: 280, Reasons: map[string]int{"b": 25, "a": 20}}, "45 of 280 windows were dropped: a (20) and b (25)."},
		{record.Dropped{Windows: 14, WindowsOf: 280, Reasons: map[string]int{"a": 14}}, "14 of 280 windows were dropped: a (14)."},
		{record.Dropped{Windows: 13, WindowsOf: 280, Reasons: map[string]int{"a": 13}}, ""},
		{record.Dropped{Windows: 4, WindowsOf: 8, Reasons: map[string]int{"a": 4}}, ""}, {record.Dropped{}, ""},
	} {
		got := ""
		for _, x := range english.droppedWindows(c.d) {
			got += x.text
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.d, got, c.want)
		}
	}
}

// A row with a verdict gives the reason why it is unequal behind the mark of its numbers, another row that of
// its missing verdict.
func TestReasonsOfRows(t *testing.T) {
	x := record.AnswerTable{Question: record.AskedArms, Rows: []record.AnswerRow{
		{Workload: "db", Arm: "tmpfs", Says: record.Says{Word: record.SaysNoDifference}, Effect: &record.Effect{Unequal: record.InProse("its data is in memory")}},
		{Workload: "db", Arm: "nfs", Says: record.Says{Word: record.SaysSkipped, Reason: record.InProse("no server"), Remedy: record.InProse("mount it")}},
	}}
	var got []string
	for _, s := range english.reasons(&record.Effects{Answer: &record.Answers{Tables: []record.AnswerTable{x}}}, x) {
		text := ""
		for _, c := range s {
			text += c.text
		}
		got = append(got, text)
	}
	if len(got) != 2 || got[0] != "nfs skipped: no server.\n→ mount it" || got[1] != "≠ tmpfs: its data is in memory." {
		t.Errorf("%q", got)
	}
}

// Names that differ at the end are told apart in a narrow column.
func TestClipMiddle(t *testing.T) {
	a, b := clipMiddle("nfs-10-9-0-1-x-vers-4-2-proto-tcp", 20), clipMiddle("nfs-10-9-0-1-x-vers-4-2-proto-rdma", 20)
	if a == b || Width(a) != 20 || Width(b) != 20 || clipMiddle("host", 20) != "host" || clipMiddle("主机上的名称", 5) != "主…称" {
		t.Errorf("%q %q %q", a, b, clipMiddle("主机上的名称", 5))
	}
}

// The first screen of a host without a container runtime: one table of the layers with all loads, and one line on what a
// runtime would add.
func TestScreenWithoutRuntime(t *testing.T) {
	e := withoutContainer(richRun())
	for i := range e.Workloads {
		if e.Workloads[i].Question = "security"; e.Workloads[i].Name == "rpc" {
			e.Workloads[i].Question = "nat"
		}
	}
	var b bytes.Buffer
	if err := english.Text(&b, answered(e), Options{Dir: "r"}); err != nil {
		t.Fatal(err)
	}
	golden(t, "no-runtime.short.txt", b.Bytes())
	for _, once := range []string{"What a container's layers cost here", "container skipped: ", "throughput", "it would add"} {
		if n := strings.Count(b.String(), once); n != 1 {
			t.Errorf("%q is there %d times", once, n)
		}
	}
}

// Where no table fits, each row has its own lines, and each begins with its name: also one that the table has once for several
// rows.
func TestStackedRowsHaveNames(t *testing.T) {
	words := func(all ...string) (r row) {
		for _, w := range all {
			r = append(r, cell{w, plain})
		}
		return r
	}
	r := textRenderer{in: english, width: 40}
	r.stacked(table{columns: []column{{head: "load", flex: 10}, {head: "arm", flex: 10}, {head: "p99"}, {head: "answer", wrap: leastAnswer}},
		rows: []row{words("rpc", "docker", "+1 %", "slower"), words("", "docker-host", "+2 %", "slower"), words("redis", "docker", "+3 %", "faster")}})
	if want := "  rpc, docker: slower\n    p99 +1 %\n  rpc, docker-host: slower\n    p99 +2 %\n  redis, docker: faster\n    p99 +3 %\n"; r.out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", r.out.String(), want)
	}
}

// An answer takes several lines before a name is cut, in a table of any width that it needs.
func TestAnswersTakeSeveralLines(t *testing.T) {
	made := table{columns: []column{{head: "arm", flex: 10}, {head: "p99", drop: 1}, {head: "answer", wrap: leastAnswer}},
		rows: []row{{cell{"docker-unconfined", plain}, cell{"+1 %", plain}, cell{"slower: less CPU received, stalls, waiting for the disk", plain}}}}
	for width, want := range map[int]string{
		100: "  arm                p99   answer\n  docker-unconfined  +1 %  slower: less CPU received, stalls, waiting for the disk\n",
		60:  "  arm                answer\n  docker-unconfined  slower: less CPU received, stalls,\n                     waiting for the disk\n",
	} {
		r := textRenderer{in: english, width: width}
		if r.tables([]table{made}, nil); r.out.String() != want {
			t.Errorf("%d columns:\n%s\nwant\n%s", width, r.out.String(), want)
		}
	}
}
