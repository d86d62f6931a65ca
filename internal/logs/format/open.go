package format

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
)

// headSize is how many bytes Open returns for Detect.
const headSize = 64 << 10

// foreignMagic are beginnings of files that no reader understands.
var foreignMagic = []struct{ magic, name, remedy string }{
	{"\x28\xb5\x2f\xfd", withZstd, unpackZstd},
	{"\xfd7zXZ\x00", withXZ, unpackXZ},
	{"PK\x03\x04", archive, unpackSheet},
	{"\xff\xfe", utf16, convertUTF16},
	{"\xfe\xff", utf16, convertUTF16},
	{"\x7fELF", program, nameOutput},
	{"SQLite format 3", database, nameOutput},
}

// Text is the text of a file for a reader.
type Text struct {
	io.Reader
	Known Tools
	// Asides are lines beside the tool's output, in order: headings, command lines, prose. The
	// reader adds them.
	Asides []Aside
}

// Aside is a line beside the output of a tool.
type Aside struct {
	Line int
	Text string // at most 200 bytes
}

// mostAsides bounds Asides.
const mostAsides = 10_000

// aside notes a line.
func (t *Text) aside(line int, text []byte) {
	if t != nil && len(t.Asides) < mostAsides {
		t.Asides = append(t.Asides, Aside{line, string(bytes.ToValidUTF8(bytes.TrimSpace(text[:min(len(text), 200)]), nil))})
	}
}

// Open prepares a file for the readers: it unpacks gzip and bzip2, recognised by their first bytes, and
// skips a byte order mark. head is the first 64 KiB of the text; text still has them. The caller closes
// r. Reading a truncated compressed file returns all text that could be unpacked, and then an error.
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
			return nil, nil, &Error{Text: damagedHeader(err), Remedy: checkGzip}
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
	}
	br = unwrap(br)
	head, _ = br.Peek(headSize) // reading returns an error again
	if len(head) < headSize-3 && bytes.HasPrefix(bytes.TrimSpace(head), []byte("|")) {
		head = l.unfold(head)
		return &Text{Reader: bytes.NewReader(head), Known: l}, head, nil
	}
	return &Text{Reader: br, Known: l}, bytes.Clone(head), nil
}

// readable refuses binary files.
func readable(head []byte) error {
	for _, f := range foreignMagic {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return &Error{Text: foreign(f.name), Remedy: f.remedy}
		}
	}
	if i := bytes.IndexByte(head, 0); i >= 0 {
		return &Error{Line: bytes.Count(head[:i], []byte("\n")) + 1, Text: notText, Remedy: nameOutput}
	}
	return nil
}

// unpacked makes an Error of the decompressor's errors.
type unpacked struct{ r io.Reader }

func (u unpacked) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &Error{Text: damaged(err), Remedy: copyAgain, Cut: true}
	}
	return n, err
}
