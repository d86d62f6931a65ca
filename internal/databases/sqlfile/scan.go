package sqlfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
)

// scan reads one statement.
type scan struct {
	*Reader
	first   int    // line of the first word; 0: there is none yet
	command string // the line, if it is a command of a client
	text    strings.Builder
	plain   strings.Builder // of the begin of the statement, see mostPlain
	// executable is the number of open comments of the form /*! ... */.
	executable int
	// body is the depth of BEGIN ATOMIC and CASE, each ended by END: semicolons there end nothing.
	body int
	word []byte // the last word, in upper case
	last string // the word before it
}

// mostPlain bounds the plain text in bytes: the words that say what a statement is are its first ones, or the
// columns of a COPY.
const mostPlain = 256 << 10

// put adds a byte to the text of the statement.
func (s *scan) put(c byte) {
	if s.keeps() {
		s.text.WriteByte(c)
	}
}

// keeps says whether the text of the statement is wanted: of one that is only counted, its begin.
func (s *scan) keeps() bool { return !s.counts || s.text.Len() < mostPlain }

// at is the line of an error.
func (s *scan) at() int {
	if s.first > 0 {
		return s.first
	}
	return s.line
}

// statement reads up to a delimiter. It returns io.EOF at the end of the file, also behind a statement
// without a delimiter.
func (s *scan) statement() error {
	for {
		if s.first == 0 {
			if err := s.begin(); err != nil || s.command != "" {
				return cmp.Or(s.failed, err)
			}
		}
		if s.failed != nil {
			return s.failed
		}
		if s.ahead(s.delimiter) {
			if s.endWord(); s.body == 0 {
				s.skip(len(s.delimiter))
				return nil
			}
		}
		c, err := s.next()
		if err != nil {
			s.endWord()
			return err
		}
		if err := s.add(c); err != nil {
			switch err {
			case errEnds:
				return nil
			case io.EOF:
				return errCutOff()
			}
			return err
		}
	}
}

// errCutOff is the error about a file that ends too early.
func errCutOff() error {
	return hint.New(fmt.Errorf("the file ends within a quote or a comment: %w", io.ErrUnexpectedEOF), dumpAgain)
}

// begin skips blanks and lines that are commands of a client, before the first word of a statement.
func (s *scan) begin() error {
	for {
		b, err := s.in.Peek(1)
		switch {
		case s.failed != nil:
			return s.failed
		case err != nil:
			return err
		case strings.ContainsRune(blanks, rune(b[0])):
			s.skip(1)
		case b[0] == '\\':
			line := s.line
			if command := s.restOfLine(); !restricts.MatchString(command) {
				s.first, s.command = line, command
				return s.allowed(command)
			}
		case s.dialect == MySQL && (b[0] == 'd' || b[0] == 'D'):
			if !s.delimits() {
				s.first = s.line
				return nil
			}
		default:
			if err := s.comment(b[0]); err != nil || s.first > 0 {
				return err
			}
		}
	}
}

// comment skips a comment, or marks the begin of a statement.
func (s *scan) comment(c byte) error {
	switch {
	case s.lineComment(c):
		s.skipLine()
	case s.ahead("/*") && !s.ahead("/*!") && !s.ahead("/*M!"), s.ahead("/*M!999999"), s.ahead("/*!999999"):
		s.skip(2)
		if err := s.blockComment(false); err != nil {
			if err == io.EOF {
				err = errCutOff()
			}
			return err
		}
	default:
		s.first = s.line
	}
	return nil
}

// lineComment says whether a comment begins that goes to the end of the line.
func (s *scan) lineComment(c byte) bool {
	if s.dialect == MySQL {
		return c == '#' || s.dashes("--")
	}
	return s.ahead("--")
}

// delimits reads a line DELIMITER of the client of MySQL, if there is one.
func (s *scan) delimits() bool {
	const word = "delimiter"
	b, _ := s.in.Peek(len(word) + 1)
	if len(b) <= len(word) || !strings.EqualFold(string(b[:len(word)]), word) || b[len(word)] != ' ' && b[len(word)] != '\t' {
		return false
	}
	s.skip(len(word))
	if d := strings.Fields(s.restOfLine()); len(d) > 0 {
		s.delimiter = d[0]
	}
	return true
}

// errEnds ends a statement of pgbench without a delimiter: one with \gset behind it.
var errEnds = errors.New("the statement ends")

// allowed returns why a command of a client may not run; nil: it may, in a script.
func (s *scan) allowed(command string) error {
	word, _, _ := strings.Cut(strings.TrimPrefix(command, "\\"), " ")
	if !s.scripted || !slices.Contains(commands[s.dialect], word) {
		return clientCommand(command)
	}
	return nil
}

// commands are the commands that a script may have.
var commands = map[Dialect][]string{
	MySQL:    {"set", "if", "elif", "else", "endif"},
	Postgres: {"set", "gset", "aset", "if", "elif", "else", "endif", "sleep", "startpipeline", "endpipeline", "syncpipeline"},
}

// add adds a byte of the statement, with the whole quote or comment that it begins.
func (s *scan) add(c byte) error {
	s.put(c)
	switch {
	case wordByte(c):
		if len(s.word) < mostPlain {
			s.word = append(s.word, upper(c))
		}
		return nil
	case c == '\'' || s.dialect == MySQL && c == '"':
		escapes := s.dialect == MySQL || string(s.word) == "E"
		s.endWord()
		s.mark("''")
		return s.quote(c, escapes, false)
	case c == '"' || c == '`' && s.dialect == MySQL:
		s.endWord()
		s.plainly(`"`)
		defer s.plainly(`"`)
		return s.quote(c, false, true)
	case c == '$' && s.dialect == Postgres:
		return s.dollar()
	case c == '#' && s.dialect == MySQL, c == '-' && s.isDashes():
		s.endWord()
		s.keepLine()
		s.mark(" ")
		return nil
	}
	s.endWord()
	return s.other(c)
}

// isDashes says whether the second dash of a comment follows.
func (s *scan) isDashes() bool {
	return s.dialect == Postgres && s.ahead("-") || s.dialect == MySQL && s.dashes("-")
}

// dashes says whether the text goes on with dashes that begin a comment of MySQL: a blank or a control character
// follows.
func (s *scan) dashes(text string) bool {
	b, _ := s.in.Peek(len(text) + 1) // fewer bytes are not equal
	return len(b) > len(text) && string(b[:len(text)]) == text && (b[len(text)] <= ' ' || b[len(text)] == 0x7f)
}

// other adds a byte that is no part of a word and begins no quote.
func (s *scan) other(c byte) error {
	switch {
	case c == '/' && s.dialect == MySQL && s.ahead("*!"):
		s.conditional(len("*!"))
	case c == '/' && s.dialect == MySQL && s.ahead("*M!"):
		s.conditional(len("*M!"))
	case c == '/' && s.ahead("*"):
		s.keep(1)
		return s.blockComment(true)
	case c == '*' && s.executable > 0 && s.ahead("/"):
		s.executable--
		s.keep(1)
		s.mark(" ")
	case c == '\\' && s.scripted && s.ahead(";"): // of pgbench: sent together with the next statement
		s.keep(1)
	case c == '\\' && !(s.dialect == MySQL && s.ahead("N")):
		if err := s.allowed("\\" + s.restOfLine()); err != nil {
			return err
		}
		return errEnds
	case c == ',' || c == '(' || c == ')' || c == '=' || c == ';':
		s.mark(string(c))
	default:
		s.mark(" ")
	}
	return nil
}

// mark adds to the plain text what is no word. Between commas and brackets that is nothing, so that the plain
// text of many rows stays short.
func (s *scan) mark(text string) {
	if s.joined() && strings.Contains(",() ''", text) || text == " " && strings.HasSuffix(s.plain.String(), " ") {
		return
	}
	s.plainly(text)
}

// plainly adds to the plain text as far as it goes.
func (s *scan) plainly(text string) {
	if s.plain.Len() < mostPlain {
		s.plain.WriteString(text)
	}
}

// joined says whether the plain text ends with a comma or a bracket.
func (s *scan) joined() bool {
	text := s.plain.String()
	return text != "" && strings.IndexByte(",()", text[len(text)-1]) >= 0
}

// conditional begins a comment whose inside some versions of the server run: the first bytes and the number
// of the version, behind which a word may follow at once.
func (s *scan) conditional(begin int) {
	s.executable++
	s.keep(begin)
	for b, err := s.in.Peek(1); err == nil && b[0] >= '0' && b[0] <= '9'; b, err = s.in.Peek(1) {
		s.keep(1)
	}
}

// keep copies n bytes to the text alone.
func (s *scan) keep(n int) {
	for range n {
		if c, err := s.next(); err == nil {
			s.put(c)
		}
	}
}

// number matches a number, behind which servers begin the next word without a space: 1.INTO OUTFILE.
var number = regexp.MustCompile(`^(0X[0-9A-F]*|[0-9.]+(E[0-9]+)?)`)

// endWord adds the last word to the plain text, without a number.
func (s *scan) endWord() {
	if len(s.word) == 0 || s.dialect == MySQL && s.plain.Len() >= mostPlain {
		s.word = s.word[:0]
		return
	}
	word := string(s.word)
	if c := word[0]; c >= '0' && c <= '9' || c == '.' {
		word = number.ReplaceAllLiteralString(word, "")
	}
	if word != "" && !(word == "NULL" && s.joined()) {
		s.plainly(" " + word)
		if s.dialect == Postgres {
			s.follow(word)
		}
		s.last = word
	}
	s.word = s.word[:0]
}

// follow counts bodies in the SQL standard's form: BEGIN ATOMIC ...; END.
func (s *scan) follow(word string) {
	switch {
	case word == "ATOMIC" && s.last == "BEGIN":
		s.body = 1
	case s.body > 0 && word == "CASE":
		s.body++
	case s.body > 0 && word == "END":
		s.body--
	}
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '@' || c == '.' || c >= 0x80
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}
