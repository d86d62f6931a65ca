package sysbench

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed statements.lua
var statementsText string

// Step is a step of a user's SQL: a statement, or a number that is drawn for a name.
type Step struct {
	// SQL is a statement in which :NAME stands for the number of that name. At is its place, FILE:LINE, for errors.
	SQL, At string
	// Name is set to a number from Low to High, evenly drawn.
	Name      string
	Low, High uint32
	// Jump is true for a step that goes on at the step To, counted from 0, unless the number of Name has the
	// relation Op to Low; without Op in any case.
	Jump bool
	Op   string
	To   int
}

// StatementsScript returns a Lua script whose event() runs the steps in their order.
func StatementsScript(steps []Step) []byte {
	var b strings.Builder
	b.WriteString("local steps = {\n")
	for _, s := range steps {
		switch {
		case s.Jump:
			fmt.Fprintf(&b, "{name=%s,op=%s,low=%d,to=%d},\n", quote(s.Name), quote(s.Op), s.Low, s.To+1)
		case s.Name != "":
			fmt.Fprintf(&b, "{name=%s,low=%d,high=%d},\n", quote(s.Name), s.Low, s.High)
		default:
			fmt.Fprintf(&b, "   {sql=%s,at=%s},\n", quote(s.SQL), quote(s.At))
		}
	}
	b.WriteString("}\n" + statementsText)
	return []byte(b.String())
}
