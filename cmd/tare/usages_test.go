package main

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// usages FILE: every line of the file is a wrong usage, as
//
//	CODE | ARGUMENTS | PATTERN OF THE ERROR | PATTERN OF THE HINT
//
// An argument is a word between blanks; ” is an empty one. Each prints nothing to standard output, ends with
// that code, which the help of its command lists, and names only flags that the command has.
func usages(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: usages FILE")
	}
	known, failed := helps{ts, map[string]string{}}, 0
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if wrong := known.try(strings.Split(line, " | ")); wrong != "" {
			ts.Logf("%s\n\t%s", line, strings.ReplaceAll(wrong, "\n", "\n\t"))
			failed++
		}
	}
	if failed > 0 {
		ts.Fatalf("%d usages are answered otherwise", failed)
	}
}

// helps is the help of commands, by their words.
type helps struct {
	ts *testscript.TestScript
	of map[string]string
}

// commandsOfTare are the commands of two words, and those of one.
var commandsOfTare = regexp.MustCompile(`^(presets show|presets list|presets schema|cache list|cache prune|image load|run|advise|plan|doctor|presets|report|check|compare|import|calibrate|cache|image|cleanup|version|list|config|completion)\b`)

// hiddenFlags are flags that errors may name and help does not show.
const hiddenFlags = " --force "

func (h helps) help(command string) string {
	text, ok := h.of[command]
	if !ok {
		b, err := tareCommand(h.ts, append([]string{"help"}, strings.Fields(command)...)).Output()
		h.ts.Check(err)
		text = string(b) + hiddenFlags
		if command == "run" || command == "plan" {
			b, err := tareCommand(h.ts, []string{"help", "kubernetes"}).Output()
			h.ts.Check(err)
			text += string(b)
		}
		h.of[command] = text
	}
	return text
}

// try runs a usage and says what is wrong with the answer.
func (h helps) try(fields []string) string {
	if len(fields) < 3 {
		return "want CODE | ARGUMENTS | ERROR | HINT"
	}
	code, args, pattern := strings.TrimSpace(fields[0]), strings.Fields(fields[1]), strings.TrimSpace(fields[2])
	for i := range args {
		if args[i] == "''" {
			args[i] = ""
		}
	}
	cmd := tareCommand(h.ts, args)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the code is looked at below
	said, hint, _ := strings.Cut(stderr.String(), "hint: ")
	command := commandsOfTare.FindString(strings.Join(args, " "))
	var wrong []string
	if got := cmd.ProcessState.ExitCode(); got != atoi(code) {
		wrong = append(wrong, "exit "+cmd.ProcessState.String()+", want "+code)
	}
	if command != "" && !regexp.MustCompile(`(?s)Exit codes:.*\b`+code+` `).MatchString(h.help(command)) {
		wrong = append(wrong, "the help of "+command+" does not list "+code)
	}
	if stdout.Len() > 0 {
		wrong = append(wrong, "it prints "+stdout.String())
	}
	if !regexp.MustCompile(pattern).MatchString(said) {
		wrong = append(wrong, "the error does not match")
	}
	if len(fields) > 3 && !regexp.MustCompile(strings.TrimSpace(fields[3])).MatchString(hint) {
		wrong = append(wrong, "the hint does not match")
	}
	wrong = append(wrong, h.strange(command, hint)...)
	if !strings.Contains(said, "unknown flag") {
		wrong = append(wrong, h.strange(command, said)...)
	}
	if len(wrong) == 0 {
		return ""
	}
	return strings.Join(append(wrong, stderr.String()), "\n")
}

var aFlag = regexp.MustCompile(`(?:^|[ (;])(--[a-z][a-z-]+)`)

// strange finds flags in a text that neither the command named before them nor command has.
func (h helps) strange(command, text string) (wrong []string) {
	for i, part := range strings.Split(text, "tare ") {
		if found := commandsOfTare.FindString(part); i > 0 && found != "" {
			command = found
		}
		for _, m := range aFlag.FindAllStringSubmatch(part, -1) {
			if !strings.Contains(h.help(command), m[1]) {
				wrong = append(wrong, "tare "+command+" has no "+m[1])
			}
		}
	}
	return wrong
}

func atoi(s string) (n int) {
	for _, c := range s {
		n = 10*n + int(c-'0')
	}
	return n
}

// tareCommand is tare with these arguments, in the directory of the script.
func tareCommand(ts *testscript.TestScript, args []string) *exec.Cmd {
	return command(ts, append([]string{"tare"}, args...))
}
