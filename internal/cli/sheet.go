package cli

import (
	"fmt"
	"strings"

	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/host/doctor"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// sheet is the text of tare doctor and tare plan.
type sheet struct {
	strings.Builder
	c     *console
	width int
	begun bool // flush has printed something
	piped bool // standard output is no terminal: tables may be wider than width
}

func newSheet(c *console) *sheet {
	width, _ := c.size(c.stdout)
	piped := width == 0
	if piped {
		width = 100
	}
	return &sheet{c: c, width: min(max(width, 40), widest), piped: piped}
}

// flush prints the text so far.
func (p *sheet) flush() error {
	_, err := p.c.stdout.WriteString(p.String())
	p.Reset()
	p.begun = true
	return err
}

func (p *sheet) heading(format string, args ...any) {
	if p.begun || p.Len() > 0 {
		p.WriteByte('\n')
	}
	p.WriteString(string(p.c.paint(p.c.stdout, bold, fmt.Sprintf(format, args...))) + "\n")
}

// entry prints lead, which is columns wide, and right of it a text, translated and wrapped to the width of the sheet.
func (p *sheet) entry(lead string, columns int, text string) {
	p.beside(painted(export.Clean(lead)), columns, p.c.translate.of(text))
}

// names prints a list of names, which are the same in every language.
func (p *sheet) names(lead string, columns int, names []string) {
	p.beside(painted(export.Clean(lead)), columns, p.c.translate.names(names))
}

// labelled prints a label and right of it a text. columns is the least width of the label with the spaces around it.
func (p *sheet) labelled(label string, columns int, text string) {
	lead := report.PadRight("  "+p.c.translate.of(label)+"  ", columns)
	p.entry(lead, report.Width(lead), text)
}

func (p *sheet) beside(lead painted, columns int, text string) {
	room := p.width - columns - 1
	lines := wrap(export.Clean(text), room)
	if p.c.translate != nil {
		lines = fold(export.Clean(text), room)
	}
	for i, line := range lines {
		if i > 0 {
			lead = painted(strings.Repeat(" ", columns))
		}
		p.WriteString(strings.TrimRight(string(lead)+line, " ") + "\n")
	}
}

func (p *sheet) host(h record.Host) {
	p.heading("%s", h.Name)
	t, parts := p.c.translate, []string{"Linux " + h.Kernel + " " + h.Arch}
	if h.Distro != "" {
		parts = append(parts, h.Distro)
	}
	cpus := t.of(quantity.Count(h.CPUs, "CPU")) + t.mark(" ", "，") + h.CPUModel
	parts = append(parts, cpus, quantity.Bytes(float64(h.Memory)))
	if h.Virtual != "" {
		parts = append(parts, t.of("virtualisation")+t.mark(": ", "：")+t.of(h.Virtual))
	}
	p.beside("  ", 2, strings.Join(parts, t.mark(", ", "，")))
}

// mark is an answer, three columns wide.
func (p *sheet) mark(answer string) painted {
	switch answer {
	case "yes":
		return p.c.paint(p.c.stdout, green, "yes")
	case "no":
		return p.c.paint(p.c.stdout, red, "no ")
	}
	return "?  "
}

func (p *sheet) checks(checks []checkAnswer) {
	p.heading("what this host can do (? unknown)")
	titles := 0
	for _, ch := range checks {
		titles = max(titles, report.Width(p.c.translate.of(ch.Title)))
	}
	for _, ch := range checks {
		p.answer(p.c.translate.of(ch.Title), titles, ch)
	}
}

func (p *sheet) answer(name string, names int, ch checkAnswer) {
	columns := 2 + 3 + 2 + names + 2
	lead := painted(formatted("  %s  %s  ", p.mark(ch.Answer), report.PadRight(name, names)))
	p.beside(lead, columns, p.c.translate.of(ch.Reason))
	if ch.Remedy != "" && ch.Answer != "yes" {
		p.entry(strings.Repeat(" ", columns)+"→ ", columns+2, ch.Remedy)
	}
}

// arms prints arms that this host can have in one line, and the others with reason and remedy.
func (p *sheet) arms(heading string, arms []checkAnswer) {
	p.heading("%s", heading)
	var have []string
	names := 0
	for _, a := range arms {
		if a.Answer == "yes" {
			have = append(have, a.Name)
		} else {
			names = max(names, len(a.Name))
		}
	}
	if len(have) > 0 {
		p.names("  ", 2, have)
	}
	for i, a := range arms {
		if a.Answer == "yes" {
			continue
		}
		// A reason that adjacent arms share, such as a missing cluster, is printed once.
		if i > 0 && arms[i-1].Answer == a.Answer && arms[i-1].Reason == a.Reason {
			a.Reason, a.Remedy = "likewise", ""
		}
		p.answer(a.Name, names, a)
	}
}

// noise prints the noise of the host and what a run of the default experiment would reach.
func (p *sheet) noise(n doctor.Noise, forecast string, details bool) {
	p.heading("noise of this host in %s: %s", quantity.Duration(n.Seconds), n.Word)
	p.entry("  ", 2, n.Because)
	if details {
		for _, l := range n.Loops {
			p.labelled(l.Title, 18, fmt.Sprintf("varies by %s from window to window of %s", percent(round3(l.CV)), quantity.Latency(l.Window)))
		}
		p.labelled("wake-up delay", 18, fmt.Sprintf("median %s, p99 %s", quantity.Latency(n.Sleep.Median), quantity.Latency(n.Sleep.P99)))
		p.labelled("CPU time", 18, fmt.Sprintf("%s used by other processes, %s stolen by the hypervisor", shareOf(n.Foreign), shareOf(n.Steal)))
	}
	p.labelled("forecast", 12, forecast)
	for _, remedy := range n.Quieter() {
		p.entry("  → ", 4, remedy)
	}
}

func round3(x float64) float64 { return float64(int(x*1000+0.5)) / 1000 }

func shareOf(v record.Value) string {
	if x, ok := v.Get(); ok {
		return percent(round3(x))
	}
	return v.String()
}

// shownSteps is how many steps of each killed run are listed.
const shownSteps = 5

func (p *sheet) leftovers(a *doctorAnswer, details bool) {
	if !details && len(a.Leftovers) == 0 && a.Unread == "" {
		return
	}
	p.heading("leftovers of killed runs")
	if a.Unread != "" {
		p.entry("  ?  ", 5, "unknown: "+a.Unread)
		return
	}
	none := true
	for _, l := range a.Leftovers {
		if l.Live {
			p.entry("  ", 2, fmt.Sprintf("run %s is still going (pid %d)", l.Run, l.Pid))
			continue
		}
		none = false
		p.entry("  ", 2, toTakeBack(l.Run, l.Started, len(l.Steps)))
		for _, s := range l.Steps[:min(shownSteps, len(l.Steps))] {
			p.entry("    ", 4, s)
		}
		if n := len(l.Steps) - shownSteps; n > 0 {
			p.entry("    ", 4, fmt.Sprintf("... and %d more; tare cleanup --dry-run lists them", n))
		}
	}
	if none {
		p.entry("  ", 2, "none")
		return
	}
	p.entry("  → ", 4, "tare cleanup removes them")
}

// wrap breaks a text at spaces into lines of at most width columns.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && report.Width(line)+1+report.Width(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// folded is a text whose lines are broken at spaces to at most width columns; 0: unbroken.
func folded(text string, width int) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		if width > 0 {
			line = strings.Join(wrap(line, max(width-2, 1)), "\n  ")
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
