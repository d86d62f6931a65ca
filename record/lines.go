package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"unicode"
)

// mostWorkers bounds, together with longestLine, the memory of the lines being decoded.
const mostWorkers = 8

// pending is a line on its way through a decoder. Lines are decoded in parallel and used in order.
type pending struct {
	number int // from 1
	raw    []byte
	last   bool
	line   Line
	err    error
	done   chan struct{} // buffered: one message when the line is decoded
}

// stream decodes a record in parallel and calls use with every line, in order, and its length in
// bytes. Lines that are not wanted are empty there. It stops at a torn last line or at a hole in the
// last write, and sets Torn.
func (r *Result) stream(path string, wanted func(start []byte) bool, use func(*Line, int)) error {
	f, err := open(path, false)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	workers := min(runtime.GOMAXPROCS(0), mostWorkers)
	work, order, stop := make(chan *pending), make(chan *pending, 4*workers), make(chan struct{})
	var wait sync.WaitGroup
	defer wait.Wait()
	defer close(stop)
	for range workers {
		wait.Go(func() {
			for p := range work {
				p.decode(wanted)
			}
		})
	}
	used := make(chan *pending, cap(order))
	wait.Go(func() {
		defer close(order)
		defer close(work)
		readLines(f, used, func(p *pending) bool {
			select {
			case order <- p:
				work <- p
				return true
			case <-stop:
				return false
			}
		})
	})
	return r.inOrder(order, used, path, info.Size(), use)
}

// errHole means zero bytes in a line. A power cut leaves them: any of the disk blocks of a write
// that was not synced may be missing.
var errHole = errors.New("a hole, as a power cut or a damaged disk leaves it")

// errEmpty means a line of which no field is set.
var errEmpty = errors.New("an empty line")

// mostAtOnce is more than Append writes at once. A hole further from the end is damage: it lies in
// lines that had been synced.
const mostAtOnce = 4 << 20 // bytes

// decode reads a line that is wanted. The last line is always read: after a power cut it may be
// damaged although its newline is there.
func (p *pending) decode(wanted func([]byte) bool) {
	p.line = Line{}
	if p.err == nil && bytes.IndexByte(p.raw, 0) >= 0 {
		p.err = errHole
	}
	if p.err == nil && bytes.Count(p.raw, []byte{','}) > mostMembers {
		p.err = fmt.Errorf("more than %d values in a line: %w", mostMembers, ErrBounds)
	}
	if p.err == nil && (p.last || wanted(p.raw[:min(len(p.raw), startOfLine)])) {
		if p.err = json.Unmarshal(p.raw, &p.line); p.err == nil && p.line == (Line{}) {
			p.err = errEmpty
		}
	}
	if p.err == nil {
		p.err = p.line.check()
	}
	if p.err != nil {
		p.line = Line{}
	}
	p.done <- struct{}{}
}

// readLines passes each line of f to next, until next returns false, a read fails or the file ends.
// It fills again the buffers that come back through used.
func readLines(f io.Reader, used <-chan *pending, next func(*pending) bool) {
	br := bufio.NewReaderSize(f, 1<<20)
	for n := 1; ; n++ {
		var p *pending
		select {
		case p = <-used:
		default:
			p = &pending{done: make(chan struct{}, 1)}
		}
		p.number = n
		p.raw, p.err = readLine(br, p.raw[:0])
		if errors.Is(p.err, io.EOF) && len(p.raw) == 0 {
			return
		}
		_, more := br.Peek(1)
		p.last = errors.Is(more, io.EOF)
		over := p.err != nil // read now: a worker owns p after next
		if !next(p) || over {
			return
		}
	}
}

// longestLine is far more than tare writes: the longest blocks have about 100 KB.
const longestLine = 8 << 20 // bytes

var errLong = fmt.Errorf("a line of more than %d bytes", longestLine)

// readLine appends the next line to b, with its end.
func readLine(br *bufio.Reader, b []byte) ([]byte, error) {
	for {
		part, err := br.ReadSlice('\n')
		switch b = append(b, part...); {
		case len(b) > longestLine:
			return b, errLong
		case !errors.Is(err, bufio.ErrBufferFull):
			return b, err
		}
	}
}

// inOrder waits for each line in turn, checks it and calls use.
func (r *Result) inOrder(lines <-chan *pending, used chan<- *pending, path string, size int64, use func(*Line, int)) error {
	at, kept, order := int64(0), 0, newSequence(&r.Plan)
	for p := range lines {
		<-p.done
		if p.err == nil && p.line.Block == nil && p.line != (Line{}) {
			kept++
		}
		switch {
		case p.number > mostLines, kept > mostKept:
			return fmt.Errorf("%s:%d: more lines than a record may have: %w", path, p.number, ErrBounds)
		case p.number == 1 && p.err != nil && !cutOff(p.raw):
			return damaged(path, errors.New("it does not begin as a record does"))
		case errors.Is(p.err, io.EOF): // no newline
			r.Torn = len(bytes.TrimSpace(p.raw)) > 0
			return nil
		case p.err != nil && p.last && !errors.Is(p.err, errLong), errors.Is(p.err, errHole) && size-at <= mostAtOnce:
			r.Torn = true
			return nil
		case p.err != nil:
			return damaged(fmt.Sprintf("%s:%d", path, p.number), p.err)
		case p.line.Run != nil:
			if err := readBy(fmt.Sprintf("%s:%d", path, p.number), p.line.Run.Schema, RecordSchema); err != nil {
				return err
			}
		}
		if err := order.add(&p.line, p.number); err != nil {
			return fmt.Errorf("%s:%d: %w", path, p.number, err)
		}
		use(&p.line, len(p.raw))
		at += int64(len(p.raw))
		select {
		case used <- p:
		default:
		}
	}
	return nil
}

// cutOff reports whether a damaged first line may be the beginning of a line of a record, as after a
// kill, or zero bytes, as after a power cut. If not, the file is no record.
func cutOff(raw []byte) bool {
	text := bytes.Trim(raw, "\x00\n")
	return len(text) == 0 || text[0] == '{' && bytes.IndexFunc(text, unicode.IsControl) < 0
}

// startOfLine is how many bytes from the beginning of a line suffice for isBlock.
const startOfLine = 64

// isBlock reports, from its beginning, whether a line that Append wrote has a block.
func isBlock(start []byte) bool { return bytes.Contains(start, []byte(`,"block":{`)) }
