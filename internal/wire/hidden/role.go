package hidden

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Role is one of the jobs for which tare starts its own binary, beside or inside the arms.
type Role struct {
	Name string // the first argument: "__init"
	// Args names the arguments behind it: "SOCKET [DIR]". Run checks how many there are;
	// "..." takes any number.
	Args    string
	Purpose string // which process has this role, and what for
	// Run returns the exit code; many roles return only on an error, because the process
	// executes another program.
	Run func(args []string) int
}

// wrongArguments is the exit code of a role that was started with wrong arguments.
const wrongArguments = 2

// Run runs the role that the first argument names. ok is false if it names no role.
func Run(roles []Role, args []string) (code int, ok bool) {
	if len(args) == 0 {
		return 0, false
	}
	i := slices.IndexFunc(roles, func(r Role) bool { return r.Name == args[0] })
	if i < 0 {
		return 0, false
	}
	r := roles[i]
	if !r.takes(len(args) - 1) {
		fmt.Fprintf(os.Stderr, "tare %s: want %s; only tare itself starts this\n", r.Name, cmp.Or(r.Args, "no argument"))
		return wrongArguments, true
	}
	return r.Run(args[1:]), true
}

// takes says whether the role can have n arguments.
func (r Role) takes(n int) bool {
	words := strings.Fields(r.Args)
	if slices.Contains(words, "...") {
		return true
	}
	optional := strings.Count(r.Args, "[")
	return n <= len(words) && n >= len(words)-optional
}
