package cli

import (
	"strings"

	"github.com/alecthomas/kong"
)

// gone are flags, and values of flags, of earlier versions, with what to use instead.
var gone = map[string]string{
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

// insteadOf is what a command has instead of a flag of an earlier version; "": nothing.
func insteadOf(command *kong.Node, flag string) string {
	instead := gone[flag]
	name, _, _ := strings.Cut(instead, " ")
	if name, is := strings.CutPrefix(strings.TrimRight(name, ","), "--"); is && !hasFlag(command, name) {
		return ""
	}
	return instead
}

// today is the command of a record in the flags of today. A flag without a flag in its place
// is left out.
func today(command []string) []string {
	var out []string
	for _, word := range command {
		flag, value, _ := strings.Cut(word, "=")
		instead, is := gone[flag]
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
