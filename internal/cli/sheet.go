package cli

import (
	"strings"

	"github.com/tarelab/tare/internal/base/messages"
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

func (p *sheet) heading(text string) {
	if p.begun || p.Len() > 0 {
		p.WriteByte('\n')
	}
	p.WriteString(string(p.c.paint(p.c.stdout, bold, text)) + "\n")
}

// text is a message in the language of the sheet.
func (p *sheet) text(key messages.Key, pairs ...any) string { return p.c.text(key, pairs...) }

// names joins names, which are the same in every language.
func (p *sheet) names(all []string) string { return p.c.in.JoinAll("join.names", all...) }

// entry prints lead, which is columns wide, and right of it a text, wrapped to the width of the sheet.
func (p *sheet) entry(lead string, columns int, text string) {
	p.beside(painted(export.Clean(lead)), columns, text)
}

// labelled prints a label and right of it a text. columns is the least width of the label with the spaces around it.
func (p *sheet) labelled(label string, columns int, text string) {
	lead := report.PadRight("  "+label+"  ", columns)
	p.entry(lead, report.Width(lead), text)
}

func (p *sheet) beside(lead painted, columns int, text string) {
	room := p.width - columns - 1
	lines := wrap(export.Clean(text), room)
	if p.c.in.Language() == messages.Chinese {
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
	p.heading(h.Name)
	parts := []string{"Linux " + h.Kernel + " " + h.Arch}
	if h.Distro != "" {
		parts = append(parts, h.Distro)
	}
	parts = append(parts, p.text("doctor.cpus", "n", h.CPUs, "model", h.CPUModel), quantity.Bytes(float64(h.Memory)))
	if h.Virtual != "" {
		parts = append(parts, p.text("join.colon", "subject", p.text("doctor.virtual"), "what", p.c.in.Static(h.Virtual)))
	}
	p.beside("  ", 2, p.c.in.JoinAll("join.comma", parts...))
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
	p.heading(p.text("doctor.checks"))
	titles := 0
	for _, ch := range checks {
		titles = max(titles, report.Width(p.c.in.Sentence(ch.Title)))
	}
	for _, ch := range checks {
		p.answer(p.c.in.Sentence(ch.Title), titles, ch)
	}
}

func (p *sheet) answer(name string, names int, ch checkAnswer) {
	columns := 2 + 3 + 2 + names + 2
	lead := painted(formatted("  %s  %s  ", p.mark(ch.Answer), report.PadRight(name, names)))
	p.beside(lead, columns, p.c.in.Sentence(ch.Reason))
	if ch.Remedy != "" && ch.Answer != "yes" {
		p.entry(strings.Repeat(" ", columns)+"→ ", columns+2, p.c.in.Sentence(ch.Remedy))
	}
}

// arms prints arms that this host can have in one line, those with programs with these, and the others with reason and
// remedy.
func (p *sheet) arms(heading string, arms []checkAnswer) {
	p.heading(heading)
	var have []string
	names := 0
	for _, a := range arms {
		if a.Answer == "yes" && a.Reason == "" {
			have = append(have, a.Name)
		} else {
			names = max(names, len(a.Name))
		}
	}
	if len(have) > 0 {
		p.entry("  ", 2, p.names(have))
	}
	for i, a := range arms {
		if a.Answer == "yes" && a.Reason == "" {
			continue
		}
		// A reason that adjacent arms share, such as a missing cluster, is printed once.
		if i > 0 && arms[i-1].Answer == a.Answer && arms[i-1].Reason == a.Reason {
			a.Reason, a.Remedy = p.text("doctor.likewise"), ""
		}
		p.answer(a.Name, names, a)
	}
}

// noise prints the noise of the host and what a run of the default experiment would reach.
func (p *sheet) noise(n doctor.Noise, forecast string, details bool) {
	p.heading(p.text("doctor.noise", "time", quantity.Duration(n.Seconds), "word", p.c.in.Static(n.Word)))
	p.entry("  ", 2, p.c.in.Sentence(n.Because))
	if details {
		for _, l := range n.Loops {
			p.labelled(p.c.in.Sentence(l.Title), 18, p.text("doctor.varies", "share", percent(round3(l.CV)), "time", quantity.Latency(l.Window)))
		}
		p.labelled(p.text("doctor.delay"), 18, p.text("doctor.delays", "median", quantity.Latency(n.Sleep.Median), "p99", quantity.Latency(n.Sleep.P99)))
		p.labelled(p.text("doctor.cpu"), 18, p.text("doctor.taken", "foreign", shareOf(n.Foreign), "steal", shareOf(n.Steal)))
	}
	p.labelled(p.text("doctor.forecast"), 12, forecast)
	for _, remedy := range n.Quieter() {
		p.entry("  → ", 4, p.c.in.Sentence(remedy))
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
	p.heading(p.text("doctor.leftovers"))
	if a.Unread != "" {
		p.entry("  ?  ", 5, p.text("doctor.unknown", "why", a.Unread))
		return
	}
	none := true
	for _, l := range a.Leftovers {
		if l.Live {
			p.entry("  ", 2, p.text("cleanup.going", "run", l.Run, "pid", l.Pid))
			continue
		}
		none = false
		p.entry("  ", 2, p.c.toTakeBack(l.Run, l.Started, len(l.Steps)))
		for _, s := range l.Steps[:min(shownSteps, len(l.Steps))] {
			p.entry("    ", 4, s)
		}
		if n := len(l.Steps) - shownSteps; n > 0 {
			p.entry("    ", 4, p.text("doctor.steps", "n", n))
		}
		if l.Damage != "" {
			p.entry("    ", 4, l.Damage)
		}
	}
	if none {
		p.entry("  ", 2, p.text("doctor.none"))
		return
	}
	p.entry("  → ", 4, p.text("doctor.cleanup"))
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
