package record

import "fmt"

// Bounds of a JSON text before it is decoded. An empty object has two bytes in a file and becomes a
// struct of hundreds of bytes: a file of 64 MiB could need more memory than the machine has.
const (
	mostObjects = 1 << 18 // of a plan, a manifest or a list of nodes
	mostValues  = 1 << 20 // members of objects and lists, in the same files
	// mostMembers bounds the members in one line of a record. A window has about 80, and an imported
	// run 4096 for each of its series.
	mostMembers = 1 << 18
	mostLines   = 1 << 22 // of a record
	mostKept    = 1 << 17 // lines of a record that stay in memory: all but blocks
	mostNodes   = 1 << 10 // of a run over several nodes
)

// sized returns an error if decoding a text as JSON would make more values than a result may have.
// The text need not be JSON.
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
