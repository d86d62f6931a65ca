package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Extract locates a number in the output of a command by a regular expression or a JSON path.
type Extract struct {
	// Regexp has RE2 syntax. The number is the first group of the last match, or the whole match
	// if there is no group.
	Regexp string `json:"regexp,omitempty"`
	// JSON is a path such as jobs[0].read.iops into the whole output, or into its last line that
	// is a JSON document.
	JSON string `json:"json,omitempty"`
	// Scale is the factor from the printed unit to the base unit.
	Scale float64 `json:"scale"`
}

// extractor is a compiled Extract.
type extractor struct {
	Extract
	expr *regexp.Regexp
	path []any // names and indices
}

// Compile is the syntax error of the expression or path; nil if there is none.
func (e Extract) Compile() error {
	_, err := e.compile()
	return err
}

func (e Extract) compile() (x extractor, err error) {
	x.Extract = e
	if e.Regexp != "" {
		x.expr, err = regexp.Compile(e.Regexp)
		return x, err
	}
	x.path, err = parsePath(e.JSON)
	return x, err
}

// number finds the number in an output.
func (x extractor) number(output []byte) (float64, error) {
	var text string
	if x.expr != nil {
		all := x.expr.FindAllSubmatch(output, -1)
		if len(all) == 0 {
			return 0, fmt.Errorf("nothing in the output matches %q", x.Regexp)
		}
		last := all[len(all)-1]
		text = string(last[min(1, len(last)-1)])
	} else {
		var err error
		if text, err = x.fromJSON(output); err != nil {
			return 0, err
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, fmt.Errorf("%q in the output is not a number", text)
	}
	return n * x.Scale, nil
}

func (x extractor) fromJSON(output []byte) (string, error) {
	document, err := decodeJSON(output)
	if err != nil {
		lines := bytes.Split(output, []byte("\n"))
		for i := len(lines) - 1; i >= 0 && err != nil; i-- {
			if len(bytes.TrimSpace(lines[i])) > 0 {
				document, err = decodeJSON(lines[i])
			}
		}
	}
	if err != nil {
		return "", errors.New("the output is no JSON and has no line that is")
	}
	return follow(document, x.path, x.JSON)
}

func decodeJSON(b []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("more than one document")
	}
	if _, scalar := v.(json.Number); scalar {
		return nil, errors.New("a bare number") // a line of plain text can be a number too
	}
	return v, nil
}

// follow returns the number or the text at a path, as text.
func follow(at any, path []any, whole string) (string, error) {
	for i, step := range path {
		var ok bool
		switch step := step.(type) {
		case string:
			var m map[string]any
			if m, ok = at.(map[string]any); ok {
				at, ok = m[step]
			}
		case int:
			var list []any
			if list, ok = at.([]any); ok {
				if step < 0 {
					step += len(list)
				}
				if ok = step >= 0 && step < len(list); ok {
					at = list[step]
				}
			}
		}
		if !ok {
			return "", fmt.Errorf("%s: the output has no %v there", whole, path[i])
		}
	}
	switch v := at.(type) {
	case json.Number:
		return v.String(), nil
	case string:
		return v, nil
	}
	return "", fmt.Errorf("%s is not a number in the output", whole)
}

// parsePath reads $.a.b[0]["c d"][-1]; the $ is optional.
func parsePath(s string) ([]any, error) {
	rest := strings.TrimPrefix(s, "$")
	var out []any
	for rest != "" {
		var step any
		var err error
		switch {
		case rest[0] == '[':
			step, rest, err = bracket(rest)
		default:
			rest = strings.TrimPrefix(rest, ".")
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			step, rest = rest[:end], rest[end:]
			if step == "" {
				err = errors.New("an empty name")
			}
		}
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", s, err)
		}
		out = append(out, step)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("path %q names nothing", s)
	}
	return out, nil
}

func bracket(s string) (step any, rest string, err error) {
	inside, rest, ok := strings.Cut(s[1:], "]")
	if len(inside) > 1 && (inside[0] == '"' || inside[0] == '\'') {
		quote := s[1:2]
		inside, rest, ok = strings.Cut(s[2:], quote+"]")
		if !ok {
			return nil, "", errors.New("a quote without end")
		}
		return inside, rest, nil
	}
	if !ok {
		return nil, "", errors.New("a bracket without end")
	}
	n, err := strconv.Atoi(inside)
	if err != nil {
		return nil, "", fmt.Errorf("%q is not an index", inside)
	}
	return n, rest, nil
}
