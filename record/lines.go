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

// mostWorkers bounds the lines that are in memory at once, with longestLine.
const mostWorkers = 8

// pending is a line of a record that is decoded beside others and taken in order.
type pending struct {
	number int // from 1
	raw    []byte
	last   bool
	line   Line
	err    error
	done   chan struct{} // holds one
}

// stream decodes a record and calls take with every line in order and its length
// in bytes. Few lines are in memory at once. It is over at a torn last line, or at a hole
// in what was written last, which it reports in Torn.
func (r *Result) stream(path string, wanted func(start []byte) bool, take func(*Line, int)) error {
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
			reader := newPlain()
			for p := range work {
				p.decode(reader, wanted)
			}
		})
	}
	used := make(chan *pending, cap(order))
	wait.Go(func() {
		defer close(order)
		defer close(work)
		cut(f, used, func(p *pending) bool {
			select {
			case order <- p:
				work <- p
				return true
			case <-stop:
				return false
			}
		})
	})
	return r.inOrder(order, used, path, info.Size(), take)
}

// errHole means zeros where a line should be. A power cut leaves them: of the blocks of a
// write that was not synced any may be on the disk, in any order.
var errHole = errors.New("a hole, as a power cut or a damaged disk leaves it")

// errEmpty means a line without a time and without anything else.
var errEmpty = errors.New("an empty line")

// mostAtOnce is more than one write of Append: what is lost with a hole further from the
// end had been synced.
const mostAtOnce = 4 << 20 // bytes

// decode reads a line that is wanted, and the last one, which may be damaged though it has
// its end: after a power cut.
func (p *pending) decode(reader *plain, wanted func([]byte) bool) {
	p.line = Line{}
	if p.err == nil && bytes.IndexByte(p.raw, 0) >= 0 {
		p.err = errHole
	}
	if p.err == nil && bytes.Count(p.raw, []byte{','}) > mostMembers {
		p.err = fmt.Errorf("more than %d values in a line: %w", mostMembers, ErrBounds)
	}
	if p.err == nil && (p.last || wanted(p.raw[:min(len(p.raw), startOfLine)])) {
		if !reader.line(p.raw, &p.line) {
			p.line = Line{}
			p.err = json.Unmarshal(p.raw, &p.line)
		}
		if p.err == nil && p.line == (Line{}) {
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

// cut hands out the lines of a record until one is refused, in what is used up where
// there is any.
func cut(f io.Reader, used <-chan *pending, hand func(*pending) bool) {
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
		over := p.err != nil // it is another's to write once it is handed out
		if !hand(p) || over {
			return
		}
	}
}

// longestLine is far more than a line that tare writes: some blocks are 100 KB.
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

func (r *Result) inOrder(lines <-chan *pending, used chan<- *pending, path string, size int64, take func(*Line, int)) error {
	at, kept := int64(0), 0
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
		take(&p.line, len(p.raw))
		at += int64(len(p.raw))
		select {
		case used <- p:
		default:
		}
	}
	return nil
}

// cutOff says that the first line of a record may be one that was cut off: it begins as a
// line does, with no byte that a line does not have, or holds nothing, as a power cut leaves it.
func cutOff(raw []byte) bool {
	text := bytes.Trim(raw, "\x00\n")
	return len(text) == 0 || text[0] == '{' && bytes.IndexFunc(text, unicode.IsControl) < 0
}

// startOfLine is how much of a line tells what it holds.
const startOfLine = 64

// aBlock says that a line begins as Append writes those that hold a block.
func aBlock(start []byte) bool { return bytes.Contains(start, []byte(`,"block":{`)) }
