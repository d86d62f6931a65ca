package messages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// forbidden are words that tare no longer uses, with the word in their place. The verdicts are slower, faster, no loss, no
// difference above x, undecided, invalid, skipped.
var forbidden = map[string]string{
	`no answer`:                        "undecided",
	`cannot (tell|be told)`:            "undecided, or unknown",
	`could not (be told|tell|say)`:     "unknown",
	`^not known|: not known`:           "unknown",
	`what \S+ synced`:                  "synced data of x",
	`not (tested|measured|judged)`:     "skipped, or undecided",
	`left out`:                         "skipped",
	`do not trust`:                     "invalid",
	`(costs|gains) throughput`:         "less throughput, more throughput",
	`costs? or gains?|cost, in bursts`: "slower, faster",
	`is ruled out`:                     "at most x slower",
	`(was|were) drawn anew`:            "shuffled",
	`host again`:                       "A/A control",
	`not known after`:                  "undecided",
	`cannot be known`:                  "unknown",
	`no protected turn`:                "no real-time priority",
	`err(s)? somewhat more often`:      "intervals are too narrow",
	`what (else )?runs here`:           "other work on this host",
	`is abandoned`:                     "stopping",
	`has begun is finished`:            "finishing this block",
	`left something on this host`:      "leftovers of a killed run",
	`stands? behind the name`:          "options follow the name",
	`do(es)? not go with the data`:     "is not compatible with the data",
	`is not that of the others`:        "differs from the others",
	`those who start`:                  "the runtimes, by name",
	`would not have been`:              "do not differ by more than x",
	`no single step stands out`:        "the layers, by name",
	`each disturbs the other`:          "noisier",
	`late by`:                          "delay",
	`nobody can say`:                   "unknown",
	`this host was too unsteady`:       "other processes used x of the CPUs",
	`(is|are) not known`:               "unknown",
	`is said to`:                       "a claim says that",
}

// root is the directory of the repository.
const root = "../../../"

func TestForbiddenWords(t *testing.T) {
	all := map[string]string{}
	addFiles(t, all, "README.md", "docs/*.md")
	if len(all) < 10 {
		t.Fatalf("only %d pages were found", len(all))
	}
	addFiles(t, all, "internal/base/messages/english*.txt", "internal/report/testdata/*.txt", "internal/report/testdata/*.md", "internal/report/testdata/*.html")
	addLiterals(t, all)
	for phrase, instead := range forbidden {
		word := anywhere(phrase)
		for name, text := range all {
			for _, at := range word.FindAllStringIndex(text, -1) {
				t.Errorf("%s:%d: %q, want: %s", name, 1+strings.Count(text[:at[0]], "\n"), text[at[0]:at[1]], instead)
			}
		}
	}
}

// anywhere matches a phrase in any case, across the end of a line and within Markdown's marks.
func anywhere(phrase string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b` + strings.ReplaceAll(phrase, " ", `[\s*]+`) + `\b`)
}

func TestForbiddenWordsAreFound(t *testing.T) {
	for text, want := range map[string]bool{"is Left\nout": true, "**left** out": true, "left_out": false, "cleft out": false, "left outside": false} {
		if anywhere("left out").MatchString(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// addFiles adds the files that match patterns below the root.
func addFiles(t *testing.T, all map[string]string, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		names, err := filepath.Glob(root + pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(names), err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all[strings.TrimPrefix(name, root)] = string(b)
		}
	}
}

// addLiterals adds the texts in the Go files of all packages.
func addLiterals(t *testing.T, all map[string]string) {
	t.Helper()
	err := filepath.WalkDir(root+"internal", func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if x, ok := n.(*ast.BasicLit); ok && x.Kind == token.STRING {
				text, _ := strconv.Unquote(x.Value)
				all[strings.TrimPrefix(set.Position(x.Pos()).String(), root)] = text
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
