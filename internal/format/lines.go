package format

import (
	"bytes"
	"errors"
	"io"
)

const (
	firstBuffer = 64 << 10
	maxLine     = 1 << 20
)

// Lines cuts a reader into lines without keeping any: memory is one buffer, at
// most 1 MiB, whatever the size of the input. Line ends are LF or CR LF; a CR
// inside a line, as progress displays leave it, hides what is before it.
// The time that kubectl logs and docker logs put before every line is left out.
type Lines struct {
	r          io.Reader
	buf        []byte
	start, end int
	line       []byte
	number     int
	offset     int64 // of buf[0]
	at         int64
	torn, long bool
	tooLong    []int // lines of which only the beginning was read, the first few
	err        error
	unread     bool
	doc        []byte // of Document
}

// NewLines starts at the beginning of r. The caller closes what r came from.
func NewLines(r io.Reader) *Lines {
	return &Lines{r: r, buf: make([]byte, firstBuffer)}
}

// Next moves to the next line and says whether there is one.
func (l *Lines) Next() bool {
	if l.unread {
		l.unread = false
		return true
	}
	l.long = false
	for from := 0; ; {
		if i := bytes.IndexByte(l.buf[l.start+from:l.end], '\n'); i >= 0 {
			l.take(from+i, from+i+1)
			return true
		}
		from = l.end - l.start
		if l.err != nil {
			return l.last()
		}
		if from >= maxLine {
			return l.cut()
		}
		l.fill()
	}
}

// Back makes the next call of Next stay on the line of now.
func (l *Lines) Back() { l.unread = true }

// take makes buf[start:start+n] the line and moves on by skip bytes.
func (l *Lines) take(n, skip int) {
	line := l.buf[l.start : l.start+n]
	if n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if bytes.IndexByte(line, '\r') >= 0 { // the far quicker question first
		line = line[bytes.LastIndexByte(line, '\r')+1:]
	}
	l.line, l.at = unstamp(line), l.offset+int64(l.start)
	l.start += skip
	l.number++
}

// last hands out what no line end follows.
func (l *Lines) last() bool {
	if l.start == l.end {
		l.line = nil
		return false
	}
	l.torn = true
	l.take(l.end-l.start, l.end-l.start)
	return true
}

// cut hands out the first MiB of a line without end and skips the rest.
func (l *Lines) cut() bool {
	l.line, l.at, l.long = bytes.Clone(l.buf[l.start:l.end]), l.offset+int64(l.start), true
	l.number++
	if len(l.tooLong) < 4 {
		l.tooLong = append(l.tooLong, l.number)
	}
	for l.err == nil {
		l.start = l.end
		l.fill()
		if i := bytes.IndexByte(l.buf[l.start:l.end], '\n'); i >= 0 {
			l.start += i + 1
			return true
		}
	}
	l.start, l.torn = l.end, true
	return true
}

// fill reads more behind what is left.
func (l *Lines) fill() {
	if l.start > 0 {
		copy(l.buf, l.buf[l.start:l.end])
		l.offset += int64(l.start)
		l.end -= l.start
		l.start = 0
	}
	if l.end == len(l.buf) {
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	for range 100 {
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		if l.err = err; n > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}

// Bytes is the line without its end, valid until the next call of Next.
func (l *Lines) Bytes() []byte { return l.line }

// Number is the line's number, from 1; after the last one, how many there are.
func (l *Lines) Number() int { return l.number }

// Offset is the place of the line's first byte in the input, from 0.
func (l *Lines) Offset() int64 { return l.at }

// Torn says that the input stopped inside this line: a number at its end may
// have lost digits.
func (l *Lines) Torn() bool { return l.torn }

// Long says that this line was longer than 1 MiB and is cut.
func (l *Lines) Long() bool { return l.long }

// Doubts adds what is doubtful in the lines themselves to the warnings of a reader
// that is at the end, and lists all of them.
func (l *Lines) Doubts(w *Warnings) []Warning {
	for _, n := range l.tooLong {
		w.Add(n, "the line is longer than 1 MiB; only its beginning was looked at", "no tool that is known writes such a line: check what it is")
	}
	return w.List()
}

// Err is the error that ended the input, nil at its regular end.
func (l *Lines) Err() error {
	if errors.Is(l.err, io.EOF) {
		return nil
	}
	return l.err
}

// unstamp leaves out an RFC 3339 time and the blank behind it at the beginning
// of a line: kubectl logs --timestamps, docker logs -t.
func unstamp(line []byte) []byte {
	if len(line) < 20 || line[4] != '-' || line[7] != '-' || line[10] != 'T' || line[13] != ':' || line[16] != ':' {
		return line
	}
	i := 19
	for i < len(line) && i < 40 && line[i] != ' ' {
		i++
	}
	if i == len(line) {
		return line[i:]
	}
	if line[i] != ' ' || line[0]-'0' > 9 || line[i-1] != 'Z' && line[i-1]-'0' > 9 {
		return line
	}
	return line[i+1:]
}
