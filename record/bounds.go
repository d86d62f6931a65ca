package record

import "fmt"

// Bounds of what is decoded at once. An empty object of two bytes in a file becomes a struct of
// hundreds in memory: a file of 64 MiB would take more than a machine has.
const (
	mostObjects = 1 << 18 // of a plan, a manifest or a list of nodes
	mostValues  = 1 << 20 // of the same: members of objects and lists
	// mostMembers is the same of one line of a record. A window has about 80, and an imported
	// run 4096 for each of its series.
	mostMembers = 1 << 18
	mostLines   = 1 << 22 // of a record
	mostKept    = 1 << 17 // of those that are kept in memory: all but blocks
	mostNodes   = 1 << 10 // side by side
)

// sized returns what is wrong with a text that is to be decoded as JSON: it would become more
// values than a result has. It need not be JSON.
func sized(b []byte) error {
	objects, values := 0, 0
	inText, escaped := false, false
	for _, c := range b {
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = inText
		case c == '"':
			inText = !inText
		case inText:
		case c == '{':
			objects++
			values++
		case c == ',', c == '[':
			values++
		}
	}
	if objects > mostObjects || values > mostValues {
		return fmt.Errorf("%d objects and %d values, %d and %d are allowed: %w", objects, values, mostObjects, mostValues, ErrBounds)
	}
	return nil
}
