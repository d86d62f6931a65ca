package foreign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/databases"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// hiddenCommand is the hidden command of the child.
const hiddenCommand = "__ask"

// Roles is the child's role.
func Roles() []hidden.Role {
	return []hidden.Role{{
		Name: hiddenCommand, Run: func([]string) int { return child(os.Stdin, os.Stdout) },
		Purpose: "asks a server that is not tare's, with a bound of memory and time",
	}}
}

// maxMemory is the bound of the child's memory in bytes: an answer of maxBytes in many small values takes about 200 MiB.
const maxMemory = 512 << 20

// maxRows bounds the rows of an answer; the servers have about 1000 settings.
const maxRows = 100_000

// reply is the child's answer to one question.
type reply struct {
	Rows          [][]string
	Err           string
	Denied, Clear bool
}

// child reads a Server and then questions, and writes a reply to each of them.
func child(in io.Reader, out io.Writer) int {
	if err := bound(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	questions, replies := json.NewDecoder(in), json.NewEncoder(out)
	var s Server
	if err := questions.Decode(&s); err != nil {
		return 1
	}
	a := asker{server: s, budget: newBudget(maxBytes, maxTime)}
	for {
		var question string
		if questions.Decode(&question) != nil {
			return 0 // nobody asks any more
		}
		if err := replies.Encode(a.reply(question)); err != nil {
			return 1
		}
	}
}

// bound bounds this process. The kernel ends it where the runtime cannot.
func bound() error {
	debug.SetMemoryLimit(maxMemory * 3 / 4)
	for resource, limit := range map[int]uint64{unix.RLIMIT_DATA: maxMemory, unix.RLIMIT_CPU: uint64(maxTime.Seconds()), unix.RLIMIT_CORE: 0} {
		var now unix.Rlimit
		if err := unix.Getrlimit(resource, &now); err != nil {
			return fmt.Errorf("read a limit of the process: %w", err)
		}
		now.Cur, now.Max = min(now.Cur, limit), min(now.Max, limit)
		if err := unix.Setrlimit(resource, &now); err != nil {
			return fmt.Errorf("set a limit of the process: %w", err)
		}
	}
	return nil
}

// asker has the connection to a server.
type asker struct {
	server Server
	budget *budget
	conn   db.Conn // nil: none yet
	clear  bool    // what is sent can be read on the way
}

func (a *asker) reply(question string) (r reply) {
	rows, err := a.ask(question)
	if err == nil && len(rows) > maxRows {
		err = fmt.Errorf("the server answered %d rows", len(rows))
	}
	if err == nil {
		return reply{Rows: rows}
	}
	r = reply{Err: a.text(a.budget.reached(err)), Clear: errors.Is(err, errClear)}
	if p, failed := databases.Protocol(a.server.Protocol); failed == nil && p.Denied(err) {
		r.Denied, r.Clear = true, a.clear
	}
	return r
}

// ask asks one question. A driver may panic on an answer that no server of its kind gives.
func (a *asker) ask(question string) (rows [][]string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the answer does not follow the protocol of %s (%v)", a.server.Protocol, p)
		}
	}()
	if a.conn == nil {
		if a.conn, a.clear, err = a.server.connect(context.Background(), a.budget); err != nil {
			a.conn = nil
			return nil, err
		}
	}
	// No context ends a question: the drivers then read on in a goroutine of their own, whose panic nothing catches. The
	// deadline of the connections does.
	return a.conn.Ask(context.Background(), question)
}

// longestError bounds the text of a server's error, in bytes.
const longestError = 500

// text is the text of an error, without the password that a server may send back and without control characters.
func (a *asker) text(err error) string {
	text := err.Error()
	if a.server.Secret != "" {
		text = strings.ReplaceAll(text, a.server.Secret, "(the password)")
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	return strings.ToValidUTF8(text[:min(len(text), longestError)], "?")
}
