package sqlfile

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
)

// drawnNames are the names that commands before a statement have set, in upper case. The empty name stands for all: answers
// of the server set names (\gset).
type drawnNames map[string]bool

// named matches :NAME in a statement, but neither a cast of PostgreSQL's (::) nor the bound of a slice.
var named = regexp.MustCompile(`(?:^|[^:\w\[\]]):([A-Za-z_][A-Za-z0-9_]*)`)

// insides matches strings, quoted names and comments. A name in one of them may be no name.
var insides = regexp.MustCompile("(?s)'(?:[^'\\\\]|\\\\.|'')*'|\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`|/\\*.*?\\*/|--[^\n]*|#[^\n]*|\\$\\w*\\$.*\\$\\w*\\$")

// see notes the name that a command sets. A statement with a name that nothing has set is an error.
func (d drawnNames) see(s Statement) error {
	if words := strings.Fields(strings.ToUpper(s.Command)); len(words) > 0 {
		if words[0] == `\SET` && len(words) > 1 {
			d[words[1]] = true
		}
		return nil
	}
	for _, m := range named.FindAllStringSubmatch(insides.ReplaceAllString(s.Text, "''"), -1) {
		name := m[1]
		if d[strings.ToUpper(name)] || d[""] {
			continue
		}
		return hint.New(fmt.Errorf(":%s is never drawn", name), fmt.Sprintf(`\set %s random(1, 1000) in a line before it`, name))
	}
	return nil
}
