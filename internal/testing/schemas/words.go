package schemas

import (
	"encoding"
	"reflect"
	"strings"
)

// words are the values of an enumeration: of a type of texts the constants of that type, of one of numbers that writes
// itself as text what it writes.
func (s *source) words(t reflect.Type) (all []string) {
	for _, c := range s.constantsOf(t) {
		all = append(all, c.value)
	}
	return all
}

// constantsOf are the constants of a named type, with the texts that are written for them.
func (s *source) constantsOf(t reflect.Type) (all []constant) {
	if t.Name() == "" || t.Kind() != reflect.String && !t.Implements(textMarshal) {
		return nil
	}
	for _, c := range s.of(t).constants {
		if c.kind != t.Name() {
			continue
		}
		if t.Kind() == reflect.Int { // numbered from 0
			v := reflect.New(t).Elem()
			v.SetInt(int64(len(all)))
			b, err := v.Interface().(encoding.TextMarshaler).MarshalText()
			if err != nil {
				continue
			}
			c.value = string(b)
		}
		all = append(all, c)
	}
	return all
}

// values describes the values of an enumeration.
func (s *source) values(t reflect.Type) string {
	var all []string
	for _, c := range s.constantsOf(t) {
		text := "`" + c.value + "`"
		if c.comment != "" {
			is := strings.TrimPrefix(c.comment, c.name+": ")
			text += " (" + strings.TrimSuffix(s.of(t).translate(t.Name(), is, false), ".") + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}
