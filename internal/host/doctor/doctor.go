// Package doctor says what this host can do, what it is, and how noisy it is:
// facts, three-valued checks with remedies, and a look at its noise. It changes
// nothing but a scratch file that it removes, and knows nothing of printing. What
// has to be tried out in namespaces is tried by package environment/inspect,
// whose answers it takes over.
package doctor

import (
	"fmt"

	"github.com/tarelab/tare/internal/host/facts"
)

// Check is one question about this host. Yes is good for measuring.
type Check struct {
	Name  string // "fdatasync"
	Title string // the question's subject, for people
	// Support is the answer; Reason says what was found, after a yes too.
	facts.Support
}

// Patient is what to examine.
type Patient struct {
	Root    string     // "/" outside tests
	Scratch string     // the directory whose file system will be under test
	Host    facts.Host // what was tried out
}

func yes(format string, args ...any) facts.Support {
	return facts.Support{Answer: facts.Yes, Reason: fmt.Sprintf(format, args...)}
}

func no(remedy, format string, args ...any) facts.Support {
	return facts.Unsupported(fmt.Sprintf(format, args...), remedy)
}

func unknown(remedy, format string, args ...any) facts.Support {
	return facts.Support{Answer: facts.Unknown, Reason: fmt.Sprintf(format, args...), Remedy: remedy}
}
