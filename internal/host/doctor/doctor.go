// Package doctor describes this host: facts, three-valued checks with remedies, and a
// measurement of its noise. It changes nothing but a scratch file that it removes, and knows
// nothing of printing. Package arms/inspect tries out what needs namespaces; the doctor takes
// over its answers.
package doctor

import (
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/record"
)

// Check is one question about this host. Yes means good for measuring.
type Check struct {
	Name  string // "fdatasync"
	Title string // the subject of the question, for users
	// Support is the answer; its Reason says what was found, for a yes too.
	facts.Support
}

// Patient is the host that the checks look at.
type Patient struct {
	Root    string     // "/" outside tests
	Scratch string     // the directory whose file system will be under test
	Host    facts.Host // what inspect tried out
}

func yes(found record.Said) facts.Support { return facts.Support{Answer: facts.Yes, Reason: found} }

// named is a yes with a name.
func named(name string) facts.Support { return yes(record.InProse(name)) }

func unknown(found record.Said) facts.Support {
	return facts.Support{Answer: facts.Unknown, Reason: found}
}
