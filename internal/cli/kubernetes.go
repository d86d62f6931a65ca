package cli

import (
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/tarelab/tare/internal/base/messages"
)

// kubernetesGroup is the group of the flags that tare help kubernetes explains and other help hides.
const kubernetesGroup = "kubernetes"

// helpKubernetes prints the flags about pods and nodes.
func helpKubernetes(parser *kong.Kong, to io.Writer, in messages.Catalog, terminalWidth int) error {
	const columns = 28
	text, english := blockIn(kubernetesHelp, in), in.Language() == messages.English
	done := map[string]bool{}
	for _, command := range parser.Model.Children {
		if command.Name != "run" && command.Name != "plan" {
			continue
		}
		for _, f := range command.Flags {
			if f.Group == nil || f.Group.Key != kubernetesGroup || f.Help == "" || done[f.Name] {
				continue
			}
			done[f.Name] = true
			name := "  --" + f.Name
			if !f.IsBool() {
				name += "=" + f.FormatPlaceHolder()
			}
			lines := []string{in.Static(f.Help)}
			if english {
				lines = wrap(f.Help, 90-columns)
			}
			for i, line := range lines {
				if i > 0 {
					name = ""
				}
				text += name + strings.Repeat(" ", max(1, columns-len(name))) + line + "\n"
			}
		}
	}
	if !english {
		return writeFolded(to, text, terminalWidth, in)
	}
	_, err := io.WriteString(to, text)
	return err
}
