package cli

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/tarelab/tare/internal/base/messages"
)

// helpWidth is the most columns of a line of help.
const helpWidth = 100

// helpIn prints help in a language; kong prints the English one.
func helpIn(in messages.Catalog, terminalWidth int) kong.HelpPrinter {
	return func(options kong.HelpOptions, ctx *kong.Context) error {
		translateModel(ctx.Model.Node, in)
		if in.Language() == messages.English {
			return kong.DefaultHelpPrinter(options, ctx)
		}
		to := ctx.Stdout
		var text bytes.Buffer
		ctx.Stdout = &text
		defer func() { ctx.Stdout = to }()
		if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
			return err
		}
		return writeFolded(to, text.String(), terminalWidth, in)
	}
}

// writeFolded prints kong's help with the words that kong itself adds, in lines as wide as the terminal.
func writeFolded(to io.Writer, text string, terminalWidth int, in messages.Catalog) error {
	columns := helpWidth
	if terminalWidth > 0 {
		columns = min(columns, terminalWidth)
	}
	var b strings.Builder
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		for _, l := range fold(strings.ReplaceAll(ofKong(line, in), ownSpace, " "), columns) {
			b.WriteString(l + "\n")
		}
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// ofKong is a line of help in a language, if its words are kong's own.
func ofKong(line string, in messages.Catalog) string {
	if usage, ok := strings.CutPrefix(line, "Usage: "); ok {
		return in.Text("help.usage", "usage", usage)
	}
	if rest, ok := strings.CutPrefix(line, `Run "`); ok {
		command, rest, _ := strings.Cut(rest, " --help")
		if strings.HasSuffix(rest, " on a command.") {
			return in.Text("help.more.commands", "command", command)
		}
		return in.Text("help.more", "command", command)
	}
	return in.Static(line)
}

// translateModel translates the texts of a command, its arguments and flags, and of the commands below it, and adds the
// exit codes to the last paragraph. The program ends after it has printed help, so that the model needs no copy.
func translateModel(n *kong.Node, in messages.Catalog) {
	n.Help = held(blockIn(n.Help, in))
	n.Detail = held(strings.TrimPrefix(blockIn(n.Detail, in)+"\n\n"+exitCodesLine(n, in), "\n\n"))
	n.Detail = strings.TrimRight(n.Detail, "\n")
	for _, p := range n.Positional {
		p.Help = held(in.Static(p.Help))
	}
	for _, f := range n.Flags {
		f.Help = held(in.Static(f.Help))
		if f.Group != nil {
			f.Group.Title = held(in.Static(f.Group.Title))
		}
	}
	for _, c := range n.Children {
		translateModel(c, in)
	}
}

// blockIn is a text of help in a language.
func blockIn(text string, in messages.Catalog) string {
	if in.Language() == messages.English {
		return text
	}
	return block(text, in.Static)
}

// block translates the paragraphs of a text. A paragraph of indented lines, such as examples, keeps its lines, and of
// each translates the text behind the command.
func block(text string, translate func(string) string) string {
	text, end := strings.TrimRight(text, "\n"), text[len(strings.TrimRight(text, "\n")):]
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		lines := strings.Split(p, "\n")
		if !strings.Contains("\n"+p, "\n ") {
			lines = []string{strings.Join(lines, " ")}
		}
		for k, line := range lines {
			if indent := len(line) - len(strings.TrimLeft(line, " ")); indent == 0 || lastColumn(line) > indent {
				at := lastColumn(line)
				lines[k] = line[:at] + translate(line[at:])
			}
		}
		paragraphs[i] = strings.Join(lines, "\n")
	}
	return strings.Join(paragraphs, "\n\n") + end
}

// ownSpace stands for a space of a translated text while kong wraps it: kong counts a wide character as one column.
const ownSpace = "\ue000"

// held replaces the spaces of a translated text, so that kong does not wrap it, except in indented lines.
func held(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, " ") && utf8.RuneCountInString(line) < len(line) {
			lines[i] = strings.ReplaceAll(line, " ", ownSpace)
		}
	}
	return strings.Join(lines, "\n")
}
