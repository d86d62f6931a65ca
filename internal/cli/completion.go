package cli

import (
	"embed"
	"io"
	"os"
)

//go:embed completion
var completionScripts embed.FS

type completionCommand struct {
	Shell shellName `arg:"" help:"bash, zsh or fish."`
}

func (completionCommand) Help() string {
	return `The script asks tare itself: presets, arms, metrics, results, and the nodes and StorageClasses of the current context.

Examples:

  tare completion bash > /usr/share/bash-completion/completions/tare
  source <(tare completion bash)
  tare completion zsh > "${fpath[1]}/_tare"
  tare completion fish > ~/.config/fish/completions/tare.fish`
}

func (completionCommand) exits() []codeMeaning {
	return exitCodes("printed", exitError, exitUsage)
}

// shellName is a shell with a completion script.
type shellName string

func (n *shellName) UnmarshalText(b []byte) error {
	return oneOf((*string)(n), string(b), n.words()...)
}

func (shellName) words() []string { return []string{"bash", "zsh", "fish"} }

func (k completionCommand) Run(c *console) error {
	script, err := completionScripts.ReadFile("completion/tare." + string(k.Shell))
	if err == nil {
		_, err = c.stdout.Write(script)
	}
	return err
}

// CompleteCommand is the hidden command that the completion scripts ask.
const CompleteCommand = "__complete"

// Complete prints the answer for a shell: a line for each candidate, with its explanation after a tab, and
// these words:
//
//	:nospace  no space after the candidate
//	:files    names of files, too, which the shell finds
//	:dirs     names of directories, too
//
// In their place kubectl gets the words of cobra, with which its own completion is made.
//
// args are the shell and the words so far without the program, the last one being completed. bash splits
// words at = and :, so it gives the whole line up to the cursor and the part of the last word that it
// replaces. Complete prints nothing where it knows nothing: an error would be printed into the user's line.
func Complete(args []string) int {
	complete(os.Stdout, args)
	return exitOK
}

func complete(w io.Writer, args []string) {
	if len(args) < 2 {
		return
	}
	words, skipped := args[1:], 0
	if args[0] == "bash" {
		words, skipped = fromBash(args[1:])
	}
	if len(words) == 0 {
		return
	}
	k, err := newCompleter(words)
	if err != nil {
		return
	}
	answer := k.answer()
	lines := answer.lines(skipped)
	if args[0] == kubectlShell {
		lines = answer.forCobra()
	}
	var out []byte
	for _, line := range lines {
		out = append(append(out, line...), '\n')
	}
	w.Write(out)
}

// fromBash splits bash's line. skipped is the length of the beginning of the last word that bash keeps.
func fromBash(args []string) (words []string, skipped int) {
	words = shellWords(args[0])
	if len(words) < 2 || len(args) < 2 {
		return nil, 0
	}
	last := words[len(words)-1]
	if part := args[1]; len(part) < len(last) && last[len(last)-len(part):] == part {
		skipped = len(last) - len(part)
	}
	return words[1:], skipped
}

// shellWords splits a line as a shell does, without expansions. A space at the end begins an empty word.
func shellWords(line string) (words []string) {
	word, begun, escaped, quote := "", false, false, rune(0)
	for _, r := range line {
		switch {
		case escaped:
			word, escaped = word+string(r), false
		case r == '\\' && quote != '\'':
			begun, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			begun, quote = true, r
		case quote == 0 && (r == ' ' || r == '\t'):
			if begun {
				words = append(words, word)
			}
			word, begun = "", false
		default:
			word, begun = word+string(r), true
		}
	}
	return append(words, word)
}
