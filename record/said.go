package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// Said is a reason, a warning, a remedy or another sentence for users, as a code with values, so that programs need no
// prose. It becomes a sentence when it is printed, in any language. In JSON it is one object, such as
// {"code": "few_launches", "needed": 4, "made": 3}. Two that say the same are equal.
type Said struct {
	Code   string // empty: nothing is said
	values string // members of the JSON object behind the code
}

// Prose is the code of a text that is printed as it is: an error, the output of a program, a sentence of an older
// record. Its value is text.
const Prose = "prose"

// Say makes a Said. pairs are alternately names and values: numbers in base units, strings, booleans, and what JSON
// makes of other types, such as a Ratio, a list, and a Said. A number that is not finite becomes null.
func Say(code string, pairs ...any) Said {
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		value := pairs[i+1]
		if x, ok := value.(float64); ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
			value = nil
		}
		text, err := json.Marshal(value)
		if err != nil {
			panic(fmt.Sprintf("value %v of %s: %v", pairs[i], code, err))
		}
		b.WriteString(member(pairs[i].(string), text))
	}
	return Said{code, b.String()}
}

// InProse is a text as it is; nothing is said by an empty one.
func InProse(text string) Said {
	if text == "" {
		return Said{}
	}
	return Say(Prose, "text", text)
}

// IsZero reports whether nothing is said.
func (s Said) IsZero() bool { return s == Said{} }

// Pairs are alternately the names and the values: float64, string, bool, nil, []any, map[string]any or, of objects
// with a code, Said.
func (s Said) Pairs() (pairs []any) {
	for name, raw := range members([]byte("{" + strings.TrimPrefix(s.values, ",") + "}")) {
		pairs = append(pairs, name, decoded(raw))
	}
	return pairs
}

// Value is the value of a name; nil if there is none.
func (s Said) Value(name string) any {
	pairs := s.Pairs()
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] == name {
			return pairs[i+1]
		}
	}
	return nil
}

// Equal reports whether two say the same.
func (s Said) Equal(t Said) bool { return s == t }

// String is the code with its values, for the messages of tests, or a text in prose.
func (s Said) String() string {
	if text, ok := s.Value("text").(string); ok && s.Code == Prose {
		return text
	}
	return s.Code + strings.ReplaceAll(s.values, ",\"", " \"")
}

// MarshalJSON writes one object; null if nothing is said.
func (s Said) MarshalJSON() ([]byte, error) {
	if s.Code == "" {
		return []byte("null"), nil
	}
	return fmt.Appendf(nil, "{%s%s}", member("code", quoted(s.Code))[1:], s.values), nil
}

// UnmarshalJSON reads what MarshalJSON wrote, and a string of an older record.
func (s *Said) UnmarshalJSON(b []byte) error {
	*s = Said{}
	var text string
	if err := json.Unmarshal(b, &text); err == nil {
		*s = InProse(text)
		return nil
	}
	var compact, escaped bytes.Buffer
	if err := json.Compact(&compact, b); err != nil {
		return err
	}
	json.HTMLEscape(&escaped, compact.Bytes()) // as json.Marshal writes strings
	if escaped.Bytes()[0] != '{' {
		return fmt.Errorf("what is said is neither a code with values nor a text: %s", b)
	}
	for name, raw := range members(escaped.Bytes()) {
		if name == "code" {
			if err := json.Unmarshal(raw, &s.Code); err != nil {
				return err
			}
			continue
		}
		s.values += member(name, raw)
	}
	return nil
}

// member is a member of a JSON object with a comma before it.
func member(name string, value []byte) string { return fmt.Sprintf(",%s:%s", quoted(name), value) }

// quoted is a JSON string.
func quoted(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // no string does that
	}
	return b
}

// members yields the members of a valid JSON object in order.
func members(object []byte) func(yield func(string, json.RawMessage) bool) {
	return func(yield func(string, json.RawMessage) bool) {
		d := json.NewDecoder(bytes.NewReader(object))
		d.Token() // the brace
		for d.More() {
			name, _ := d.Token()
			var raw json.RawMessage
			if d.Decode(&raw) != nil || !yield(name.(string), raw) {
				return
			}
		}
	}
}

// decoded is the value of a JSON text.
func decoded(raw json.RawMessage) any {
	switch raw[0] {
	case '[':
		var items []json.RawMessage
		json.Unmarshal(raw, &items)
		all := make([]any, len(items))
		for i, item := range items {
			all[i] = decoded(item)
		}
		return all
	case '{':
		var s Said
		if json.Unmarshal(raw, &s); s.Code != "" {
			return s
		}
	}
	var v any
	json.Unmarshal(raw, &v)
	return v
}

// FirstLine is a text in prose up to its first line break; anything else as it is.
func (s Said) FirstLine() Said {
	if text, ok := s.Value("text").(string); ok && s.Code == Prose {
		before, _, _ := strings.Cut(text, "\n")
		return InProse(before)
	}
	return s
}
