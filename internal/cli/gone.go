package cli

import (
	"strings"

	"github.com/alecthomas/kong"
)

// replacements are flags of earlier versions, and values of flags, with what to use instead.
var replacements = map[string]string{
	"--all-nodes":     "--nodes all",
	"--allow-unequal": "--set unequal=mark",
	"--generations":   "--set generations=N",
	"--listen":        "--open, or copy DIR/report.html: a page is one file",
	"--parallel":      "nodes are measured one after the other; at the same time: one command for each, --nodes NAME --node-helper",
	"--serve":         "--open, or copy DIR/report.html: a page is one file",
	"--version":       "tare version",
	"bencher":         "tare report DIR --format json | jq ... (docs/ci.md has the command)",
	"jsonl":           "tare report DIR --format json | jq -c ... (docs/ci.md has the command)",
}

// insteadOf is what to use instead of a flag of an earlier version; "": nothing that this command
// has.
func insteadOf(command *kong.Node, flag string) string {
	instead := replacements[flag]
	name, _, _ := strings.Cut(instead, " ")
	if name, is := strings.CutPrefix(strings.TrimRight(name, ","), "--"); is && !hasFlag(command, name) {
		return ""
	}
	return instead
}

// presentCommand is the command of a record with present flags. A flag without a replacement is
// left out.
func presentCommand(command []string) []string {
	var out []string
	for _, word := range command {
		flag, value, _ := strings.Cut(word, "=")
		instead, is := replacements[flag]
		switch {
		case !is || !strings.HasPrefix(word, "--"):
			out = append(out, word)
		case strings.HasPrefix(instead, "--"):
			name, setting, _ := strings.Cut(instead, " ")
			out = append(out, name+"="+strings.Replace(setting, "N", value, 1))
		}
	}
	return out
}
