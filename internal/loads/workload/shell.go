package workload

import (
	"errors"
	"fmt"
	"strings"
)

// splitWords splits a command into words at spaces, with the quotes and backslashes of a shell. It
// refuses unquoted characters that only a shell interprets.
func splitWords(s string) ([]string, error) {
	var out []string
	var word strings.Builder
	begun := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == ' ' || c == '\t':
			if begun {
				out = append(out, word.String())
				word.Reset()
				begun = false
			}
			continue
		case c == '\'':
			end := strings.IndexByte(s[i+1:], '\'')
			if end < 0 {
				return nil, errors.New("a quote ' without end")
			}
			word.WriteString(s[i+1 : i+1+end])
			i += end + 1
		case c == '"':
			n, err := doubleQuoted(s[i+1:], &word)
			if err != nil {
				return nil, err
			}
			i += n
		case c == '\\':
			if i++; i == len(s) {
				return nil, errors.New("a backslash at the end")
			}
			word.WriteByte(s[i])
		case strings.IndexByte("|&;<>()$`", c) >= 0:
			return nil, fmt.Errorf("%q is for a shell: quote it, or ask for one with shell=on", string(c))
		default:
			word.WriteByte(c)
		}
		begun = true
	}
	if begun {
		out = append(out, word.String())
	}
	return out, nil
}

// doubleQuoted reads to the closing quote and returns the number of bytes read.
func doubleQuoted(s string, word *strings.Builder) (int, error) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return i + 1, nil
		case '\\':
			if i+1 < len(s) && strings.IndexByte("\"\\$`", s[i+1]) >= 0 {
				i++
			}
			word.WriteByte(s[i])
		case '$', '`':
			return 0, fmt.Errorf("%q in double quotes is for a shell: use single quotes, or ask for one with shell=on", string(c))
		default:
			word.WriteByte(c)
		}
	}
	return 0, errors.New("a quote \" without end")
}
