package record

import (
	"fmt"
	"slices"
)

// words are the names of an enumeration, by value from 0.
type words []string

// of returns the name of a value, or other if it has none.
func (w words) of(i int, other string) string {
	if i < 0 || i >= len(w) {
		return other
	}
	return w[i]
}

// find returns the value of a name; what is the enumeration's name for the error.
func (w words) find(what string, name []byte) (int, error) {
	i := slices.Index(w, string(name))
	if i < 0 {
		return 0, fmt.Errorf("unknown %s %q", what, name)
	}
	return i, nil
}
