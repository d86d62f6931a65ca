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
// What was put before every line (see prefixes) is left out.
type Lines struct {
	r          io.Reader
	buf        []byte
	start, end int
	line       []byte
	number     int
	asIs       bool  // nothing stands before the lines
	returns    bool  // a CR ends a line too
	within     bool  // the line of now ends with such a CR: what follows has its number
	known      Tools // whose words tell what stands before the lines
	marks      prefixes
	markup     markup
	torn, long bool
	tooLong    []int // lines of which only the beginning was read, the first few
	err        error
	unread     bool
	doc        []byte  // of Document
	ahead      []state // lines that were looked at and not handed out
}

// state is what is known of the line of now.
type state struct {
	line       []byte
	number     int
	torn, long bool
}

func (l *Lines) now() state     { return state{bytes.Clone(l.line), l.number, l.torn, l.long} }
func (l *Lines) become(s state) { l.line, l.number, l.torn, l.long = s.line, s.number, s.torn, s.long }

// mostPieces is into how many lines one may be broken.
const mostPieces = 5

// Mended is the line of now and those behind it, of which each is a piece of one line that a
// terminal or a mail broke, as far as they are one by what is says; nil where they are not. Then
// the next line is the one behind the line of now.
func (l *Lines) Mended(is func(line []byte) bool) []byte {
	begin := l.now()
	whole := [2][]byte{bytes.Clone(begin.line), begin.line} // a break at a blank takes it away
	for k := range mostPieces - 1 {
		if k == len(l.ahead) {
			if !l.read() {
				break
			}
			l.ahead = append(l.ahead, l.now())
		}
		piece := l.ahead[k].line
		trimmed := bytes.TrimSpace(piece)
		if len(trimmed) == 0 || len(whole[1])+len(piece) > firstBuffer {
			break
		}
		whole[0] = append(whole[0], piece...)
		whole[1] = append(append(bytes.TrimRight(whole[1], " "), ' '), trimmed...)
		for i := range whole {
			if is(whole[i]) {
				l.become(l.ahead[k])
				l.line, l.ahead = whole[i], l.ahead[k+1:]
				return whole[i]
			}
		}
	}
	l.become(begin)
	return nil
}

// NewLines starts at the beginning of r. The caller closes what r came from.
func NewLines(r io.Reader) *Lines {
	return &Lines{r: r, buf: make([]byte, firstBuffer)}
}

// Returns makes every CR end a line, for what is written over and over on one line
// counts. All that one LF ends has the same number. Call it before Next.
func (l *Lines) Returns() { l.returns = true }

// ends is where a line ends; -1 where it goes on.
func (l *Lines) ends(b []byte) int {
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

// Next moves to the next line and says whether there is one.
func (l *Lines) Next() bool {
	if l.unread {
		l.unread = false
		return true
	}
	if len(l.ahead) > 0 {
		l.become(l.ahead[0])
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
		if i := l.ends(l.buf[l.start+from : l.end]); i >= 0 {
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

// begin reads the first bytes, which tell what stands before every line.
func (l *Lines) begin() {
	for l.err == nil && l.end < firstBuffer {
		l.fill()
	}
	if !l.asIs {
		l.marks, l.markup = l.known.learn(l.buf[:l.end]), learnMarkup(l.buf[:l.end])
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
	if l.line = line; !l.asIs && !l.within {
		l.line = l.markup.strip(l.marks.bare(unstamp(line)))
	}
	if !l.within {
		l.number++
	}
	l.within = l.returns && skip > n && l.buf[l.start+n] == '\r'
	l.start += skip
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

// fill reads more behind what is left.
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

// Bytes is the line without its end, valid until the next call of Next.
func (l *Lines) Bytes() []byte { return l.line }

// Number is the line's number, from 1; after the last one, how many there are.
func (l *Lines) Number() int { return l.number }

// Torn says that the input stopped inside this line: a number at its end may
// have lost digits.
func (l *Lines) Torn() bool { return l.torn }

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
