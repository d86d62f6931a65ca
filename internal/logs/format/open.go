package format

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// headSize is how much Open looks at and hands out for Detect.
const headSize = 64 << 10

// What files begin with that no reader here understands, and what to do.
var foreignMagic = []struct{ magic, name, remedy string }{
	{"\x28\xb5\x2f\xfd", "compressed with zstd", "unpack it first: zstd -d FILE"},
	{"\xfd7zXZ\x00", "compressed with xz", "unpack it first: xz -d FILE"},
	{"PK\x03\x04", "a ZIP archive or a spreadsheet", "unpack it first, or save the sheet as CSV"},
	{"\xff\xfe", "UTF-16 text", "convert it first: iconv -f UTF-16 -t UTF-8 FILE"},
	{"\xfe\xff", "UTF-16 text", "convert it first: iconv -f UTF-16 -t UTF-8 FILE"},
	{"\x7fELF", "a program", "name the file with the benchmark's output"},
	{"SQLite format 3", "a database", "name the file with the benchmark's output"},
}

// Text is the text of a file on its way to a reader, and what is known beside it.
type Text struct {
	io.Reader
	Known Tools
	// Asides are the lines that are no output of the reader's tool: headings, command
	// lines, prose. The reader fills them in, in order.
	Asides []Aside
}

// Aside is a line beside the output of a tool.
type Aside struct {
	Line int
	Text string // at most 200 bytes
}

// mostAsides bounds what is kept of a file that is mostly no output.
const mostAsides = 10_000

// aside keeps a line.
func (t *Text) aside(line int, text []byte) {
	if t != nil && len(t.Asides) < mostAsides {
		t.Asides = append(t.Asides, Aside{line, string(bytes.ToValidUTF8(bytes.TrimSpace(text[:min(len(text), 200)]), nil))})
	}
}

// Open prepares a file for the readers: it unpacks gzip and bzip2, known by
// their first bytes and not by the name, and skips a byte order mark. head is
// the beginning of the text, up to 64 KiB, which the returned reader still
// has. The caller closes r. A compressed file that is cut off ends with an
// error of the reader after all text that could be had.
func (l Tools) Open(r io.Reader) (text *Text, head []byte, err error) {
	br := bufio.NewReaderSize(r, headSize)
	magic, err := br.Peek(6)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	switch {
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, nil, &Error{Text: fmt.Sprintf("the gzip header is damaged: %v", err), Remedy: "check the file with gzip -t"}
		}
		br = bufio.NewReaderSize(unpacked{z}, headSize)
	case bytes.HasPrefix(magic, []byte("BZh")):
		br = bufio.NewReaderSize(unpacked{bzip2.NewReader(br)}, headSize)
	}
	head, err = br.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return nil, nil, err
	}
	if err := readable(head); err != nil {
		return nil, nil, err
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		br.Discard(3)
		head = head[3:]
	}
	if len(head) < headSize-3 && bytes.HasPrefix(bytes.TrimSpace(head), []byte("|")) {
		head = l.unfold(head)
		return &Text{Reader: bytes.NewReader(head), Known: l}, head, nil
	}
	return &Text{Reader: br, Known: l}, bytes.Clone(head), nil
}

func readable(head []byte) error {
	for _, f := range foreignMagic {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return &Error{Text: "the input is " + f.name, Remedy: f.remedy}
		}
	}
	if i := bytes.IndexByte(head, 0); i >= 0 {
		return &Error{Line: bytes.Count(head[:i], []byte("\n")) + 1, Text: "the input is not text (a zero byte)",
			Remedy: "name the file with the benchmark's output"}
	}
	return nil
}

// unpacked says of what an error of the decompressor is.
type unpacked struct{ r io.Reader }

func (u unpacked) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &Error{Text: fmt.Sprintf("the compressed input is damaged or cut off: %v", err),
			Remedy: "copy the file again; what came before the damage was read", Cut: true}
	}
	return n, err
}
