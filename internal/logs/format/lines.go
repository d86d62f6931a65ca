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

// Lines splits a reader into lines. It needs one buffer of at most 1 MiB, whatever the size of the
// input. Lines end with LF or CR LF. A CR inside of a line drops the text before it, as on a terminal,
// where progress displays overwrite their line. Lines also drops the prefixes that log collectors write
// before each line, and markup.
type Lines struct {
	r          io.Reader
	buf        []byte
	start, end int
	line       []byte
	number     int
	asIs       bool  // prefixes and markup are not removed
	returns    bool  // a CR ends a line too
	within     bool  // the current line ends with such a CR: the next has the same number
	known      Tools // tools whose words show where a prefix ends
	prefixes   prefixes
	markup     markup
	torn, long bool  // the current line has no line end; it was longer than 1 MiB
	tooLong    []int // numbers of the first few lines longer than 1 MiB
	err        error
	unread     bool    // Next must return the current line again
	doc        []byte  // the buffer of Document
	ahead      []state // lines that Mended has read ahead
}

// state is a copy of the current line with its number and flags.
type state struct {
	line       []byte
	number     int
	torn, long bool
}

func (l *Lines) save() state     { return state{bytes.Clone(l.line), l.number, l.torn, l.long} }
func (l *Lines) restore(s state) { l.line, l.number, l.torn, l.long = s.line, s.number, s.torn, s.long }

// maxPieces bounds the pieces that Mended joins.
const maxPieces = 5

// Mended joins the current line with the lines after it until accept returns true: a terminal or a mail
// program may have broken one line into several. The result becomes the current line. If accept takes
// none, Mended returns nil, and the next line is the one after the current line.
func (l *Lines) Mended(accept func(line []byte) bool) []byte {
	first := l.save()
	whole := [2][]byte{bytes.Clone(first.line), first.line} // with and without a blank at the break
	for k := range maxPieces - 1 {
		if k == len(l.ahead) {
			if !l.read() {
				break
			}
			l.ahead = append(l.ahead, l.save())
		}
		piece := l.ahead[k].line
		trimmed := bytes.TrimSpace(piece)
		if len(trimmed) == 0 || len(whole[1])+len(piece) > firstBuffer {
			break
		}
		whole[0] = append(whole[0], piece...)
		whole[1] = append(append(bytes.TrimRight(whole[1], " "), ' '), trimmed...)
		for i := range whole {
			if accept(whole[i]) {
				l.restore(l.ahead[k])
				l.line, l.ahead = whole[i], l.ahead[k+1:]
				return whole[i]
			}
		}
	}
	l.restore(first)
	return nil
}

// newLines reads lines from r. The caller closes the file behind r.
func newLines(r io.Reader) *Lines {
	return &Lines{r: r, buf: make([]byte, firstBuffer)}
}

// Returns makes every CR end a line, for tools whose overwritten lines count. All lines up to one LF have
// the same number. Call it before Next.
func (l *Lines) Returns() { l.returns = true }

// lineEnd returns the index of the first line end in b; -1: there is none.
func (l *Lines) lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if !l.returns {
		return lf
	}
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// Next moves to the next line and reports whether there is one.
func (l *Lines) Next() bool {
	if l.unread {
		l.unread = false
		return true
	}
	if len(l.ahead) > 0 {
		l.restore(l.ahead[0])
		l.ahead = l.ahead[1:]
		return true
	}
	return l.read()
}

// read reads the next line.
func (l *Lines) read() bool {
	l.long = false
	if l.number == 0 {
		l.begin()
	}
	for from := 0; ; {
		if i := l.lineEnd(l.buf[l.start+from : l.end]); i >= 0 {
			l.setLine(from+i, from+i+1)
			return true
		}
		from = l.end - l.start
		if l.err != nil {
			return l.last()
		}
		if from >= maxLine {
			return l.longLine()
		}
		l.fill()
	}
}

// begin reads the first buffer and learns prefixes and markup from it.
func (l *Lines) begin() {
	for l.err == nil && l.end < firstBuffer {
		l.fill()
	}
	if !l.asIs {
		l.prefixes, l.markup = l.known.learn(l.buf[:l.end]), learnMarkup(l.buf[:l.end])
	}
}

// Back makes the next call of Next stay on the current line.
func (l *Lines) Back() { l.unread = true }

// setLine makes buf[start:start+n] the current line and advances start by skip bytes: n and the line end.
func (l *Lines) setLine(n, skip int) {
	line := l.buf[l.start : l.start+n]
	if n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if bytes.IndexByte(line, '\r') >= 0 { // most lines have no CR, and IndexByte is faster than LastIndexByte
		line = line[bytes.LastIndexByte(line, '\r')+1:]
	}
	if l.line = line; !l.asIs && !l.within {
		l.line = l.markup.strip(l.prefixes.bare(unstamp(line)))
	}
	if !l.within {
		l.number++
	}
	l.within = l.returns && skip > n && l.buf[l.start+n] == '\r'
	l.start += skip
}

// last makes the rest of the input, which has no line end, the current line.
func (l *Lines) last() bool {
	if l.start == l.end {
		l.line = nil
		return false
	}
	l.torn = true
	l.setLine(l.end-l.start, l.end-l.start)
	return true
}

// longLine makes the first MiB of a longer line the current line and skips the rest.
func (l *Lines) longLine() bool {
	l.line, l.long = bytes.Clone(l.buf[l.start:l.end]), true
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

// fill moves the unused bytes to the beginning of the buffer and reads more behind them.
func (l *Lines) fill() {
	if l.start > 0 {
		copy(l.buf, l.buf[l.start:l.end])
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

// Bytes returns the current line without its end, valid until the next call of Next.
func (l *Lines) Bytes() []byte { return l.line }

// Number returns the number of the current line, from 1; after the last, the number of lines.
func (l *Lines) Number() int { return l.number }

// Torn reports that the input ended inside of the current line, so that its last number may lack digits.
func (l *Lines) Torn() bool { return l.torn }

// Err returns the error that ended the input; nil at a regular end.
func (l *Lines) Err() error {
	if errors.Is(l.err, io.EOF) {
		return nil
	}
	return l.err
}

// unstamp removes an RFC 3339 timestamp and a blank from the beginning of a line, as kubectl logs --timestamps
// and docker logs -t write it.
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
