package hint

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A shell gives back the words of a command, whatever is in them, and no escape sequence reaches the terminal.
func TestCommandInShell(t *testing.T) {
	word := rapid.OneOf(
		rapid.SampledFrom([]string{"", "sleep 1", "--command=sleep 1", "--scratch=/a dir", "--set=", "it's", "''", "$HOME", "`id`", "a\nb", "\n", "~", "*", "\x1b[2J", "\u202e", "\xff", "é", "--a b=c", "!!", "#", "a\\", "\\033", "%s"}),
		rapid.StringMatching(`[ -~]{0,12}`), rapid.String(),
		rapid.Map(rapid.SliceOfN(rapid.ByteRange(1, 255), 0, 8), func(b []byte) string { return string(b) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(word, 1, 5).Draw(t, "words")
		for i, w := range words {
			words[i] = strings.ReplaceAll(w, "\x00", "")
		}
		line := Command(words...)
		if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }) {
			t.Fatalf("%q", line)
		}
		out, err := exec.Command("/bin/sh", "-c", `printf '%s\0' `+line).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, words) {
			t.Fatalf("%s gives %q, want %q", line, got, words)
		}
	})
}
