package workload

import (
	"slices"

	"github.com/tarelab/tare/internal/databases/db"
)

// Code is a program, a script or options that the user gives and a load executes.
type Code struct {
	What string // a path, options or a command
	Is   string // "sysbench script", "server program"
	// Users are accounts; the first that exists executes the code if tare is root. Empty: root
	// executes it.
	Users []string
	// Programs are programs of the user's. If the account cannot execute one of them, root does.
	Programs []string
}

// nobody is the account of clients outside of the arm.
func nobody() []string { return []string{"nobody"} }

// ServerCode is the user's program and options of a server, and the accounts that run its client:
// those of the server if the client is inside the arm.
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

// ClientCode adds the user's program and script of a client, if given.
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
