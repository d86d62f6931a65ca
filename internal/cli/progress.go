package cli

import (
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// progress displays the progress of a run. It has no timer and writes only when the run calls it. The
// run calls it only while no window is open, so that writing does not disturb a measurement.
type progress interface {
	start(p *plan.Plan, dir string)
	event(run.Event)
	// measured takes the lines of a workload so far, before the event about them.
	measured(*record.Manifest, record.Workload, []record.Line)
	// say prints a line between events, from any goroutine.
	say(text string)
	end()
}

// progressFlags choose the display of a run.
type progressFlags struct {
	Progress progressMode `group:"output" default:"auto" placeholder:"auto|plain|tty|json|none" help:"Progress on standard error. auto: tty on a terminal, else plain lines; json: one object a line."`
	Quiet    bool         `short:"q" aliases:"no-progress" group:"output" help:"As --progress none."`
}

// progressMode is the value of --progress.
type progressMode string

func (m *progressMode) UnmarshalText(b []byte) error {
	return oneOf((*string)(m), string(b), m.words()...)
}

func (progressMode) words() []string { return []string{"auto", "plain", "tty", "json", "none"} }

// quiet says that no progress is wanted.
func (f progressFlags) quiet() bool { return f.Quiet || f.Progress == "none" }

// checkProgress refuses two displays at once.
func (f progressFlags) checkProgress() error {
	if f.Quiet && f.Progress != "auto" && f.Progress != "none" {
		return useless("--progress", "with --quiet, which shows none", "leave one of them out")
	}
	return nil
}

// asEvents says that every line on standard error is an object.
func (f progressFlags) asEvents() bool { return f.Progress == "json" && !f.Quiet }

// wantsEvents says whether a command has --progress json.
func wantsEvents(command *kong.Node) bool {
	if !command.Target.CanAddr() {
		return false
	}
	f, ok := command.Target.Addr().Interface().(interface{ asEvents() bool })
	return ok && f.asEvents()
}

// progress chooses the display: on a terminal status lines that are redrawn, elsewhere plain lines.
func (c *console) progress(p *plan.Plan, f progressFlags) progress {
	// A reader that goes away must not end the run: with SIGPIPE caught, writes fail instead.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	began := time.Now()
	left := func() (left, total float64) {
		total = p.Record.Budget
		return max(0, total-time.Since(began).Seconds()), total
	}
	switch {
	case f.quiet():
		return silent{c.stderr}
	case f.Progress == "json":
		return &events{w: c.stderr, in: c.in, left: left}
	case f.Progress == "tty", f.Progress != "plain" && c.terminal(c.stderr):
		return &screen{console: c, left: left}
	}
	return &plain{w: c.stderr, in: c.in, left: left}
}

// silent prints nothing but the lines of say.
type silent struct{ w io.Writer }

func (silent) start(*plan.Plan, string)                                  {}
func (silent) event(run.Event)                                           {}
func (silent) measured(*record.Manifest, record.Workload, []record.Line) {}
func (s silent) say(text string)                                         { fmt.Fprintln(s.w, export.Terminal(text)) }
func (silent) end()                                                      {}

// opening is the first line of every display.
func opening(p *plan.Plan, dir string, in messages.Catalog) string {
	text := in.Text("progress.opening", "name", export.Clean(p.Record.Experiment), "time", quantity.Duration(p.Record.Budget), "seed", p.Record.Seed, "dir", export.Clean(dir))
	if skipped := leftOut(p); len(skipped) > 0 {
		text += "\n" + in.Text("progress.skipped", "names", each(skipped, export.Clean))
	}
	return text
}

// effect formats an arm's effect so far with its half-width.
func effect(a run.Running) string {
	change, half := amounts(a)
	return strings.TrimSpace(change + " " + half)
}

// vague is the half-width, as a logarithm, from which it is printed as ±…: the interval reaches from
// half to twice the effect or further, and will shrink.
const vague = math.Ln2

// amounts formats the effect and its half-width. Before the first blocks there is no effect: "…".
func amounts(a run.Running) (change, half string) {
	switch {
	case math.IsInf(a.Half, 0) || math.IsNaN(a.Half):
		return "…", ""
	case a.Half >= vague:
		return quantity.Percent(a.Ratio), "±…"
	}
	return quantity.Percent(a.Ratio), quantity.PlusMinus(a.Half)
}

// screen redraws its status lines at the end of a terminal.
type screen struct {
	*console
	left func() (left, total float64)

	mu    sync.Mutex
	first firstAnswers
	soFar answerSoFar
	drawn []string // status lines on the terminal
	last  run.Event
}

func (s *screen) start(p *plan.Plan, dir string) {
	s.first.expect(p)
	s.soFar.plan = p.Record
	s.keep(opening(p, dir, s.in))
}

func (s *screen) measured(m *record.Manifest, load record.Workload, lines []record.Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.soFar.add(m, load, lines)
}

func (s *screen) event(e run.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left, total := s.left()
	for _, text := range s.first.lines(e, s.in) {
		s.redraw(nil)
		s.print(stamp(total-left, text(longestName)))
	}
	// A pass before the last one leaves no line but that of its first answer.
	if s.last.Workload != "" && s.last.Workload != e.Workload && s.last.Pass >= s.last.Passes {
		s.printDone(s.last, total-left)
	}
	s.last = e
	width, height := s.size(s.stderr)
	s.redraw(s.status(e, left, total, width, height))
}

func (s *screen) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redraw(nil)
	s.keep(text)
}

// keep prints lines that stay on the terminal, none wider than it.
func (s *screen) keep(text string) {
	width, _ := s.size(s.stderr)
	io.WriteString(s.stderr, folded(export.Terminal(text), width))
}

// print prints a line that stays on the terminal.
func (s *screen) print(line string) { fmt.Fprintln(s.stderr, export.Clean(line)) }

// end removes the status lines, because the report follows.
func (s *screen) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redraw(nil)
}

// printDone prints the line about a finished workload, which stays on the terminal.
func (s *screen) printDone(e run.Event, at float64) {
	s.redraw(nil)
	widest := 0.0
	for _, a := range e.Arms {
		widest = max(widest, a.Half)
	}
	key := messages.Key("progress.done")
	if widest > 0 && widest < vague {
		key = "progress.done.wide"
	}
	s.print(stamp(at, s.text(key, "load", e.Workload, "n", e.Generation, "half", quantity.PlusMinus(widest))))
}

// redraw replaces the status lines with a single write. The lines must have no control characters but
// colours.
func (s *screen) redraw(lines []string) {
	var b strings.Builder
	if len(s.drawn) > 0 {
		width, height := s.size(s.stderr)
		rows := rowsOf(s.drawn, width)
		if height > 0 {
			rows = min(rows, height-1) // the rest has left the screen
		}
		fmt.Fprintf(&b, "\x1b[%dA", rows)
	}
	b.WriteString("\r\x1b[J")
	for _, l := range lines {
		b.WriteString(l)
		b.WriteByte('\n')
	}
	s.drawn = lines
	io.WriteString(s.stderr, b.String())
}

// status formats the status lines for an event: the phase, the answer so far, the effect so far of each arm
// that has no row in it, the time. No line is wider than the terminal, and it leaves out the answer, then arms,
// for which the terminal is not high enough.
func (s *screen) status(e run.Event, left, total float64, width, height int) []string {
	key := messages.Key("progress.head")
	if e.Passes > 1 {
		key = "progress.head.pass"
	}
	head := s.text(key, "load", e.Workload, "n", e.Number, "of", e.Of, "pass", e.Pass, "passes", e.Passes, "what", phaseText(e, s.in))
	lines := []string{s.line(bold, head, width)}
	room := math.MaxInt
	if height > 0 { // the other three lines are the head, the time, and the line of the cursor
		room = height - 3
	}
	shown := e.Arms
	if width == 0 || width > leastTable {
		if table := s.soFar.table(s.reports(), width, s.colored(s.stderr)); len(table) < room {
			lines, room = append(lines, table...), room-len(table)
			if len(table) > 0 {
				shown = slices.DeleteFunc(slices.Clone(shown), func(a run.Running) bool { return s.soFar.has(e.Workload, a.Arm) })
			}
		}
	}
	lines = append(lines, s.arms(shown, width, room)...)
	return append(lines, s.line(dim, timeLine(left, total, s.in), width))
}

// line is a status line, cut to the width of the terminal.
func (s *screen) line(attribute, text string, width int) string {
	return string(s.tint(s.stderr, attribute, cut(export.Clean(text), width)))
}

// leastTable is the width of a terminal in columns above which it has the answer so far.
const leastTable = 41

// arms formats the effects so far of arms in at most room lines.
func (s *screen) arms(all []run.Running, width, room int) (lines []string) {
	widest := 0
	for _, a := range all {
		widest = max(widest, report.Width(export.Clean(a.Arm)))
	}
	shown := all
	if len(shown) > room {
		shown = shown[:max(0, room-1)]
	}
	for _, a := range shown {
		change, half := amounts(a)
		line := fmt.Sprintf("  %s  %8s %s", report.PadRight(export.Clean(a.Arm), widest), change, half)
		lines = append(lines, cut(strings.TrimRight(line, " "), width))
	}
	if n := len(all) - len(shown); n > 0 {
		lines = append(lines, cut("  "+s.text("progress.more", "n", n), width))
	}
	return lines
}

// passOf describes the pass of a workload; "" if there is only one.
func passOf(e run.Event, in messages.Catalog) string {
	if e.Passes < 2 {
		return ""
	}
	return in.Text("progress.pass", "pass", e.Pass, "passes", e.Passes)
}

// timeLine formats a bar and the time left.
func timeLine(left, total float64, in messages.Catalog) string {
	const wide = 24
	done := 0
	if total > 0 {
		done = min(wide, int(wide*(total-left)/total))
	}
	bar := fmt.Sprintf("[%s%s] ", strings.Repeat("=", done), strings.Repeat(" ", wide-done))
	return bar + timeLeft(left, total, in)
}

// timeLeft formats the rest of the run's budget.
func timeLeft(left, total float64, in messages.Catalog) string {
	if left <= 0 {
		return in.Text("progress.up")
	}
	return in.Text("progress.left", "left", quantity.Duration(left), "total", quantity.Duration(total))
}
