package sqlfile

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Dialect is the SQL of a family of servers.
type Dialect int

// The dialects.
const (
	MySQL Dialect = iota
	Postgres
)

// Statement is one statement of a file.
type Statement struct {
	// Text is the statement as it is in the file, without the delimiter.
	Text string
	Line int // of its first word
	// Rows is true for COPY ... FROM stdin: rows follow, see Reader.Row.
	Rows bool

	// Command is a command of a script, such as \set; Text is empty then.
	Command string

	// plain is the text in upper case without comments, numbers and the inside of strings.
	plain string
}

// Error is an error at a line of the file.
type Error struct {
	Line int
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// longest bounds the size of a statement in bytes: the largest max_allowed_packet.
const longest = 1 << 30

// Reader splits a file into statements.
type Reader struct {
	in      *bufio.Reader
	dialect Dialect
	line    int
	// delimiter ends a statement. mysqldump changes it around bodies of triggers and routines.
	delimiter string
	// scripted allows the commands of a script.
	scripted bool
}

// NewReader reads from r.
func NewReader(r io.Reader, d Dialect) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 1<<16), dialect: d, line: 1, delimiter: ";"}
}

// Next returns the next statement, or io.EOF. Comments between statements are skipped. A statement that may
// not run is an Error.
func (r *Reader) Next() (Statement, error) {
	for {
		s := scan{Reader: r}
		err := s.statement()
		if err != nil && err != io.EOF {
			return Statement{}, &Error{s.at(), err}
		}
		found := Statement{Text: strings.TrimSpace(s.text.String()), Line: s.first, plain: strings.Join(strings.Fields(s.plain.String()), " ")}
		if s.command != "" {
			return Statement{Line: s.first, Command: s.command}, nil
		}
		if found.plain == "" {
			if err == io.EOF {
				return Statement{}, io.EOF
			}
			continue
		}
		if why := refusal(found.plain, r.dialect); why != nil {
			return Statement{}, &Error{found.Line, why}
		}
		found.Rows = r.dialect == Postgres && copyRows.MatchString(found.plain)
		if found.Rows {
			r.restOfLine()
		}
		return r.adapted(found), nil
	}
}

// Row returns the next row of COPY ... FROM stdin; ok is false at the end of the rows.
func (r *Reader) Row() (row string, ok bool, err error) {
	row, err = r.in.ReadString('\n')
	if err != nil {
		return "", false, &Error{r.line, fmt.Errorf("the file ends within the rows of COPY: %w", io.ErrUnexpectedEOF)}
	}
	r.line++
	row = strings.TrimSuffix(strings.TrimSuffix(row, "\n"), "\r")
	return row, row != `\.`, nil
}

// Line is the number of the line that is read next.
func (r *Reader) Line() int { return r.line }

// restOfLine skips the rest of a line and returns it.
func (r *Reader) restOfLine() string {
	text, _ := r.in.ReadString('\n') // an error appears again at the next reading
	if strings.HasSuffix(text, "\n") {
		r.line++
	}
	return strings.TrimSpace(text)
}

// next reads a byte.
func (r *Reader) next() (byte, error) {
	c, err := r.in.ReadByte()
	if err == nil && c == '\n' {
		r.line++
	}
	return c, err
}

// ahead says whether the text goes on with these bytes.
func (r *Reader) ahead(text string) bool {
	b, _ := r.in.Peek(len(text)) // fewer bytes are not equal
	return string(b) == text
}

// skip reads n bytes that ahead has seen.
func (r *Reader) skip(n int) {
	for range n {
		_, _ = r.next()
	}
}
