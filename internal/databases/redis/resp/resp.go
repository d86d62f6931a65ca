// Package resp writes commands and reads answers in version 2 of the serialization protocol of Redis
// and Valkey, the default of all versions. It allocates nothing once its buffer is large enough, and
// knows nothing of connections or of the meaning of commands and answers.
package resp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Error is an error that the server answered, for example "ERR unknown command".
type Error string

func (e Error) Error() string { return string(e) }

// Head appends the head of a command of so many words, including its name.
func Head(b []byte, words int) []byte {
	return append(strconv.AppendInt(append(b, '*'), int64(words), 10), "\r\n"...)
}

// Word appends one word of a command.
func Word[T string | []byte](b []byte, w T) []byte {
	b = append(strconv.AppendInt(append(b, '$'), int64(len(w)), 10), "\r\n"...)
	return append(append(b, w...), "\r\n"...)
}

// Command appends a whole command.
func Command(b []byte, words ...string) []byte {
	b = Head(b, len(words))
	for _, w := range words {
		b = Word(b, w)
	}
	return b
}

const (
	firstBuffer = 16 << 10
	longestLine = 64 << 10
	longestText = 512 << 20 // the limit of the servers
)

// errProtocol means an answer that violates the protocol. The answers after it cannot be read.
var errProtocol = errors.New("the answer does not follow the protocol of Redis")

// Reader reads answers, one after the other.
type Reader struct {
	from       io.Reader
	buf        []byte
	start, end int
}

// NewReader reads from r, whose Read may return fewer bytes than asked for.
func NewReader(r io.Reader) *Reader { return &Reader{from: r, buf: make([]byte, firstBuffer)} }

// Buffered is true if bytes were read beyond the last answer.
func (r *Reader) Buffered() bool { return r.end > r.start }

// Answer reads one whole answer. It calls keep, unless keep is nil, for each text and number in order,
// also those of an array; the bytes are valid until keep returns, and nil is a null. After an Error,
// which the server answered, the next answer can be read; after any other error none can.
func (r *Reader) Answer(keep func(text []byte)) error {
	var refused error
	for left := 1; left > 0; left-- {
		line, err := r.line()
		if err != nil {
			return err
		}
		switch kind, rest := line[0], line[1:]; kind {
		case '-':
			refused = Error(bytes.ToValidUTF8(rest, []byte("?")))
		case '+', ':':
			if keep != nil {
				keep(rest)
			}
		case '$', '*':
			n, err := length(rest)
			if err != nil {
				return err
			}
			switch {
			case kind == '*':
				left += max(n, 0)
			case n >= 0:
				if err := r.text(n, keep); err != nil {
					return err
				}
			case keep != nil:
				keep(nil)
			}
		default:
			return fmt.Errorf("%w: it begins with %q", errProtocol, line[:min(len(line), 40)])
		}
	}
	return refused
}

// length is the length of a text or an array, -1 for a null.
func length(b []byte) (n int, err error) {
	if string(b) == "-1" {
		return -1, nil
	}
	for _, c := range b {
		if c < '0' || c > '9' || n > longestText {
			return 0, fmt.Errorf("%w: %q is no length", errProtocol, b[:min(len(b), 40)])
		}
		n = 10*n + int(c-'0')
	}
	if len(b) == 0 || n > longestText {
		return 0, fmt.Errorf("%w: a length of %q", errProtocol, b[:min(len(b), 40)])
	}
	return n, nil
}

// line is the next line without CR and LF; it has at least one byte.
func (r *Reader) line() ([]byte, error) {
	for seen := 0; ; {
		if i := bytes.IndexByte(r.buf[r.start+seen:r.end], '\n'); i >= 0 {
			line := r.buf[r.start : r.start+seen+i]
			r.start += seen + i + 1
			if n := len(line); n < 2 || line[n-1] != '\r' {
				return nil, fmt.Errorf("%w: a line without its end", errProtocol)
			}
			return line[:len(line)-1], nil
		}
		if seen = r.end - r.start; seen > longestLine {
			return nil, fmt.Errorf("%w: a line of more than %d bytes", errProtocol, longestLine)
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// text reads a text of n bytes with the CR and LF after it.
func (r *Reader) text(n int, keep func([]byte)) error {
	if keep == nil {
		for n += 2; n > r.end-r.start; {
			n -= r.end - r.start
			r.start = r.end
			if err := r.fill(); err != nil {
				return err
			}
		}
		r.start += n
		return nil
	}
	for r.end-r.start < n+2 {
		if err := r.fill(); err != nil {
			return err
		}
	}
	keep(r.buf[r.start : r.start+n])
	r.start += n + 2
	return nil
}

// fill reads more bytes behind the unread ones.
func (r *Reader) fill() error {
	if r.start > 0 {
		copy(r.buf, r.buf[r.start:r.end])
		r.start, r.end = 0, r.end-r.start
	}
	if r.end == len(r.buf) {
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
	n, err := r.from.Read(r.buf[r.end:])
	r.end += n
	switch {
	case n > 0:
		return nil
	case err == nil:
		return io.ErrNoProgress
	case err == io.EOF && r.Buffered():
		return io.ErrUnexpectedEOF
	}
	return err
}
