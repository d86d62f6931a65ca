package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/alecthomas/kong"

	"github.com/tarelab/tare/internal/base/hint"
)

type manCommand struct {
	Dir string `arg:"" help:"The directory, which tare creates."`
}

func (manCommand) Help() string {
	return `Writes tare.1 and a page for each command, from the same text as help. The date is that of the commit, or $SOURCE_DATE_EPOCH.

Examples:

  tare man /usr/local/share/man/man1`
}

func (manCommand) exits() []codeMeaning {
	return exitCodes("written", exitError, exitUsage)
}

func (k manCommand) Run(ctx *kong.Context) error {
	if err := os.MkdirAll(k.Dir, 0o755); err != nil {
		return err
	}
	date, err := manualDate(os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	var errs []error
	var write func(n *kong.Node)
	write = func(n *kong.Node) {
		m := manual{root: ctx.Model.Node, node: n, date: date}
		errs = append(errs, os.WriteFile(filepath.Join(k.Dir, m.name()+".1"), []byte(m.page()), 0o644))
		for _, child := range n.Children {
			if !child.Hidden {
				write(child)
			}
		}
	}
	write(ctx.Model.Node)
	return errors.Join(errs...)
}

// manualDate is the date of the pages: that of the build's source, so that two builds are the same.
func manualDate(epoch string) (string, error) {
	at := time.Now()
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if t, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
				at = t
			}
		}
	}
	if epoch != "" {
		n, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			err = fmt.Errorf("SOURCE_DATE_EPOCH %q is not a number of seconds", epoch)
			return "", &usageError{err, "unset SOURCE_DATE_EPOCH"}
		}
		at = time.Unix(n, 0)
	}
	return at.UTC().Format(time.DateOnly), nil
}

// manual is the page of a command, in the macros of man(7).
type manual struct {
	root, node *kong.Node
	date       string
	out        strings.Builder
}

// name is the name of the page: tare-cache-prune.
func (m *manual) name() string { return strings.ReplaceAll(m.node.FullPath(), " ", "-") }

func (m *manual) page() string {
	m.macro("TH", strings.ToUpper(m.name()), "1", m.date, "tare "+version(), manualTitle)
	m.macro("nh") // words with hyphens are for copying
	m.macro("SH", "NAME")
	about, detail := m.node.Help, m.node.Detail
	if m.node == m.root {
		about, detail = manualAbout, m.node.Help
	}
	m.line(roff(m.name()) + ` \- ` + roff(lowered(strings.TrimSuffix(about, "."))))
	m.macro("SH", "SYNOPSIS")
	m.line(`\fB` + roff(m.node.FullPath()) + `\fR ` + roff(m.arguments()))
	m.description(detail)
	m.commands()
	m.options()
	m.exitStatus()
	m.macro("SH", "ENVIRONMENT")
	m.text(manualEnvironment)
	m.macro("SH", "FILES")
	for _, f := range manualFiles {
		m.macro("TP")
		m.line(`\fI` + roff(f[0]) + `\fR`)
		m.text(f[1])
	}
	m.macro("SH", "SEE ALSO")
	m.seeAlso()
	return m.out.String()
}

// arguments are the words after the command in its synopsis.
func (m *manual) arguments() string {
	parts := []string{"[options]"}
	if len(m.node.Children) > 0 {
		parts = append(parts, "command")
	}
	for _, a := range m.node.Positional {
		parts = append(parts, a.Summary())
	}
	return strings.Join(parts, " ")
}

// description prints paragraphs; those with an indent, and the lines after "Examples:", as they are.
func (m *manual) description(detail string) {
	if detail = strings.TrimSpace(detail); detail == "" {
		return
	}
	m.macro("SH", "DESCRIPTION")
	first := true
	for _, p := range strings.Split(detail, "\n\n") {
		switch {
		case p == "Examples:":
			m.macro("SH", "EXAMPLES")
			first = true
			continue
		case strings.HasPrefix(p, "  "):
			if !first {
				m.macro("PP")
			}
			m.verbatim(p)
		default:
			if !first {
				m.macro("PP")
			}
			m.text(p)
		}
		first = false
	}
}

func (m *manual) commands() {
	if len(m.node.Children) == 0 {
		return
	}
	m.macro("SH", "COMMANDS")
	for _, n := range m.node.Children {
		if !n.Hidden {
			m.macro("TP")
			m.line(`\fB` + roff(n.Name) + `\fR`)
			m.text(n.Help)
		}
	}
}

// options prints the flags by group, those of pods and nodes too.
func (m *manual) options() {
	groups := map[string][]*kong.Flag{}
	var order, titles []string
	for _, level := range m.node.AllFlags(false) {
		for _, f := range level {
			key, title := "", ""
			if f.Group != nil {
				key, title = f.Group.Key, strings.TrimSuffix(f.Group.Title, ":")
			}
			if !inHelp(f) {
				continue
			}
			if !slices.Contains(order, key) {
				order, titles = append(order, key), append(titles, title)
			}
			groups[key] = append(groups[key], f)
		}
	}
	m.macro("SH", "OPTIONS")
	for i, key := range order {
		if titles[i] != "" && len(order) > 1 {
			m.macro("SS", titles[i])
		}
		for _, f := range groups[key] {
			m.macro("TP")
			m.line(optionHead(f))
			m.text(f.Help)
		}
	}
}

// optionHead is a flag with its short name and value.
func optionHead(f *kong.Flag) string {
	head := `\fB` + roff("--"+f.Name) + `\fR`
	if f.Short != 0 {
		head = `\fB` + roff("-"+string(f.Short)) + `\fR, ` + head
	}
	if !f.IsBool() {
		head += `=\fI` + roff(f.FormatPlaceHolder()) + `\fR`
	}
	return head
}

func (m *manual) exitStatus() {
	codes := exitCodesOf(m.node)
	if len(codes) > 0 {
		m.macro("SH", "EXIT STATUS")
	}
	for _, c := range codes {
		m.macro("TP")
		m.line(`\fB` + strconv.Itoa(c.code) + `\fR`)
		m.text(c.means + ".")
	}
}

func (m *manual) seeAlso() {
	var pages []string
	if m.node.Parent != nil {
		pages = append(pages, (&manual{node: m.node.Parent}).name())
	}
	for _, n := range m.node.Children {
		if !n.Hidden {
			pages = append(pages, (&manual{node: n}).name())
		}
	}
	for i, p := range pages {
		end := ","
		if i == len(pages)-1 {
			end = ""
		}
		m.line(`.BR ` + roff(p) + ` (1)` + end)
	}
	m.macro("PP")
	m.text(hint.Home)
}

// macro writes a macro with its arguments.
func (m *manual) macro(name string, args ...string) {
	m.out.WriteString("." + name)
	for _, a := range args {
		m.out.WriteString(` "` + strings.ReplaceAll(strings.ReplaceAll(a, `\`, `\e`), `"`, `\(dq`) + `"`)
	}
	m.out.WriteByte('\n')
}

func (m *manual) line(text string) { m.out.WriteString(strings.TrimRight(text, " ") + "\n") }

// text writes a paragraph in short lines.
func (m *manual) text(s string) {
	for _, l := range wrap(s, 76) {
		m.line(protected(roff(l)))
	}
}

// verbatim writes lines as they are.
func (m *manual) verbatim(s string) {
	m.macro("EX")
	for l := range strings.Lines(s) {
		m.line(protected(roff(strings.TrimRight(l, "\n"))))
	}
	m.macro("EE")
}

// protected keeps a line that begins as a macro from being one.
func protected(line string) string {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}

// roff escapes the characters that have a meaning, and those beyond ASCII.
func roff(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r > unicode.MaxASCII:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// lowered begins with a small letter, as the line under NAME does.
func lowered(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
