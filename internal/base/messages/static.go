package messages

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed chinese-help.txt
var chineseHelp string

// Static is the translation of an English text without values, such as a paragraph of help. One without a translation
// stays as it is.
func (c Catalog) Static(english string) string {
	if to, ok := c.static[english]; ok {
		return to
	}
	return english
}

// parseStatic reads lines "English = translation". It skips empty lines and lines that begin with #.
func parseStatic(file string) (map[string]string, error) {
	all := map[string]string{}
	for i, line := range strings.Split(file, "\n") {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		from, to, ok := translated(line)
		if _, twice := all[from]; !ok || twice {
			return nil, fmt.Errorf("line %d: want a new English = translation, got %q", i+1, line)
		}
		all[from] = to
	}
	return all, nil
}

// translated splits a line "English = translation". Either side may have the sign = itself: the English ends at the
// last " = " before which there is no Han character.
func translated(line string) (from, to string, ok bool) {
	end := strings.IndexFunc(line, han)
	if end < 0 {
		end = len(line)
	}
	at := strings.LastIndex(line[:end], " = ")
	if at <= 0 {
		return "", "", false
	}
	return line[:at], line[at+len(" = "):], true
}
