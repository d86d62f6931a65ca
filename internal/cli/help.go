package cli

import (
	"bytes"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// helpWidth is the most columns of a line of help.
const helpWidth = 100

// helpIn prints help in the language of a translation; kong prints the English one.
func helpIn(t translation, terminalWidth int) kong.HelpPrinter {
	if t == nil {
		return kong.DefaultHelpPrinter
	}
	return func(options kong.HelpOptions, ctx *kong.Context) error {
		translateModel(ctx.Model.Node, t)
		to := ctx.Stdout
		var text bytes.Buffer
		ctx.Stdout = &text
		defer func() { ctx.Stdout = to }()
		if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
			return err
		}
		return writeFolded(to, text.String(), terminalWidth, t)
	}
}

// writeFolded prints kong's help with the words that kong itself adds, in lines as wide as the terminal.
func writeFolded(to io.Writer, text string, terminalWidth int, t translation) error {
	columns := helpWidth
	if terminalWidth > 0 {
		columns = min(columns, terminalWidth)
	}
	var b strings.Builder
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if !strings.HasPrefix(line, " ") {
			line = t.of(line)
		}
		for _, l := range fold(strings.ReplaceAll(line, ownSpace, " "), columns) {
			b.WriteString(l + "\n")
		}
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// translateModel translates the texts of a command, its arguments and flags, and of the commands below it. The
// program ends after it has printed help, so that the model needs no copy.
func translateModel(n *kong.Node, t translation) {
	n.Help, n.Detail = held(t.block(n.Help)), held(t.block(n.Detail))
	for _, p := range n.Positional {
		p.Help = held(t.of(p.Help))
	}
	for _, f := range n.Flags {
		f.Help = held(t.of(f.Help))
		if f.Group != nil {
			f.Group.Title = held(t.of(f.Group.Title))
		}
	}
	for _, c := range n.Children {
		translateModel(c, t)
	}
}
