package workload

import (
	"slices"

	"github.com/tarelab/tare/internal/databases/db"
)

// Code is something of the user's that a load executes, or that decides what a program does.
type Code struct {
	What string // a path, options or a command
	Is   string // "sysbench script", "server program"
	// Users are the accounts that execute it where tare is root: the first that exists.
	// Empty: root does.
	Users []string
	// Programs are those of the user's that the account has to be able to execute; else root
	// does.
	Programs []string
}

// nobody runs the clients of servers.
func nobody() []string { return []string{"nobody"} }

// serverCode are the user's program and options of a server, and who runs its client: the
// server's account if it is in the arm with it.
func (r *Reader) ServerCode(s db.Service) (all []Code, client []string) {
	users, program := s.Describe().Users, r.Values["server"]
	var programs []string
	if ProgramPath(program) != "" {
		programs = []string{program}
		all = append(all, Code{What: program, Is: "server program", Users: users, Programs: programs})
	}
	if options := r.Values["server_options"]; options != None {
		all = append(all, Code{What: options, Is: "server options", Users: users, Programs: programs})
	}
	if r.Values["client"] == "inside" {
		return all, users
	}
	return all, nobody()
}

// clientCode adds the user's program of a client and its script, each if there is one.
func ClientCode(all []Code, users []string, name, program, script string) []Code {
	var programs []string
	if program != "" {
		programs = []string{program}
		all = append(all, Code{What: program, Is: name + " program", Users: users, Programs: programs})
	}
	if script != "" {
		all = append(all, Code{What: script, Is: name + " script", Users: users, Programs: slices.Clone(programs)})
	}
	return all
}
