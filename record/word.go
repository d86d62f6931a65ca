package record

import (
	"fmt"
	"slices"
)

// words are the names of an enumeration, from 0.
type words []string

// of is a name; other that of what is none of them.
func (w words) of(i int, other string) string {
	if i < 0 || i >= len(w) {
		return other
	}
	return w[i]
}

// find is the number of a name; what says of what it is one.
func (w words) find(what string, name []byte) (int, error) {
	i := slices.Index(w, string(name))
	if i < 0 {
		return 0, fmt.Errorf("unknown %s %q", what, name)
	}
	return i, nil
}
