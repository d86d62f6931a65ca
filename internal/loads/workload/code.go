package workload

import (
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/sqlfile"
)

// Code is a program, a script or options that the user gives and a load executes.
type Code struct {
	What string           // a path, options or a command
	Is   messages.Message // "sysbench script", "server program"
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
		all = append(all, Code{What: program, Is: messages.Say("code.server"), Users: users, Programs: programs})
	}
	if dump := DumpPath(r.Values); dump != "" {
		all = append(all, Code{What: dump, Is: messages.Say("code.dump"), Users: users, Programs: programs})
	}
	if options := r.Values["server_options"]; options != None {
		all = append(all, Code{What: options, Is: messages.Say("code.options"), Users: users, Programs: programs})
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
		all = append(all, Code{What: program, Is: messages.Say("code.program", "name", name), Users: users, Programs: programs})
	}
	if script != "" {
		is := messages.Say("code.script", "name", name)
		if strings.HasSuffix(script, sqlfile.Ending) {
			is = messages.Say("code.statements")
		}
		all = append(all, Code{What: script, Is: is, Users: users, Programs: slices.Clone(programs)})
	}
	return all
}
