package sqlfile

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/units"
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

	// plain is the begin of the text in upper case without comments, numbers and the inside of strings.
	plain string
	skip  bool // tare does not run it
}

// Error is an error at a line of the file.
type Error struct {
	Line int
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// Longest is the usual bound of a statement, a comment or a row in bytes.
const Longest = 64 << 20

// Reader splits a file into statements.
type Reader struct {
	in      *bufio.Reader
	dialect Dialect
	line    int
	// delimiter ends a statement. mysqldump changes it around bodies of triggers and routines.
	delimiter string
	// scripted allows the commands of a script.
	scripted bool
	marked   bool // the file began with a byte order mark
	counts   bool // of statements only the begin is returned
	taken    int  // bytes of the statement that is read
	most     int  // bytes that a statement may have
	failed   error
}

// blanks separate words.
const blanks = " \t\r\n\f\v"

// NewReader reads from r. A statement may have most bytes.
func NewReader(r io.Reader, d Dialect, most int) *Reader {
	in := bufio.NewReaderSize(r, 1<<16)
	begin, _ := in.Peek(len(byteOrderMark)) // an error appears again at the next reading
	marked := string(begin) == byteOrderMark
	if marked {
		_, _ = in.Discard(len(byteOrderMark))
	}
	return &Reader{in: in, dialect: d, line: 1, delimiter: ";", marked: marked, most: most}
}

// byteOrderMark is what editors of Windows write in front of a text in UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// Next returns the next statement, or io.EOF. Comments between statements are skipped. A statement that may
// not run is an Error.
func (r *Reader) Next() (Statement, error) {
	for {
		r.taken = 0
		s := scan{Reader: r}
		err := s.statement()
		if err != nil && err != io.EOF {
			return Statement{}, &Error{s.at(), hint.New(err, cmp.Or(hint.Of(err), dumpAgain))}
		}
		found := Statement{Text: strings.Trim(s.text.String(), blanks), Line: s.first, plain: strings.Join(strings.Fields(s.plain.String()), " ")}
		if s.command != "" {
			return Statement{Line: s.first, Command: s.command}, nil
		}
		if found.plain == "" {
			if err == io.EOF {
				return Statement{}, io.EOF
			}
			continue
		}
		if why := cmp.Or(refusal(found.plain, r.dialect), otherQuotes(found, r.dialect)); why != nil {
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
	r.taken = 0
	row, err = r.readLine()
	switch {
	case err == io.EOF:
		return "", false, &Error{r.line, hint.New(fmt.Errorf("the file ends within the rows of COPY: %w", io.ErrUnexpectedEOF), dumpAgain)}
	case err != nil:
		return "", false, &Error{r.line, hint.New(err, cmp.Or(hint.Of(err), dumpAgain))}
	}
	row = strings.TrimSuffix(row, "\r")
	return row, row != `\.`, nil
}

// readLine reads to the end of a line. At the end of the file it returns the rest with io.EOF.
func (r *Reader) readLine() (string, error) {
	var text []byte
	err := r.eachPart(func(part []byte) { text = append(text, part...) })
	return strings.TrimSuffix(string(text), "\n"), err
}

// eachPart calls use for the parts of a line, with its end.
func (r *Reader) eachPart(use func([]byte)) error {
	for {
		part, err := r.in.ReadSlice('\n')
		r.count(len(part))
		if r.failed == nil && bytes.IndexByte(part, 0) >= 0 {
			r.failed = errZero()
		}
		if r.failed != nil {
			return r.failed
		}
		use(part)
		switch err {
		case nil:
			r.line++
			return nil
		case bufio.ErrBufferFull:
		default:
			return err
		}
	}
}

// Line is the number of the line that is read next.
func (r *Reader) Line() int { return r.line }

// restOfLine skips the rest of a line and returns it.
func (r *Reader) restOfLine() string {
	text, _ := r.readLine() // an error appears again at the next reading
	return strings.TrimSpace(text)
}

// skipLine skips the rest of a line.
func (r *Reader) skipLine() { _ = r.eachPart(func([]byte) {}) } // an error appears again at the next reading

// keepLine adds the rest of a line to the text of the statement.
func (s *scan) keepLine() {
	_ = s.eachPart(func(part []byte) { // an error appears again at the next reading
		if s.keeps() {
			s.text.Write(part)
		}
	})
}

// next reads a byte.
func (r *Reader) next() (byte, error) {
	c, err := r.in.ReadByte()
	if err != nil {
		return c, err
	}
	r.count(1)
	switch c {
	case '\n':
		r.line++
	case 0:
		r.failed = errZero()
	}
	return c, r.failed
}

// count counts bytes of a statement.
func (r *Reader) count(n int) {
	if r.taken += n; r.taken > r.most && r.failed == nil {
		r.failed = hint.New(fmt.Errorf(tooLong, units.Bytes(int64(r.most))), longer)
	}
}

// errZero is the error about a byte that no SQL has: dump tools write it as an escape sequence.
func errZero() error { return hint.New(errors.New(zeroByte), asUTF8) }

// ahead says whether the text goes on with these bytes.
func (r *Reader) ahead(text string) bool {
	b, _ := r.in.Peek(len(text)) // fewer bytes are not equal
	return len(b) == len(text) && b[0] == text[0] && string(b) == text
}

// skip reads n bytes that ahead has seen.
func (r *Reader) skip(n int) {
	for range n {
		_, _ = r.next()
	}
}
