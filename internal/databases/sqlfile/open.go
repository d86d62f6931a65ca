package sqlfile

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/undo/trust"
)

// The first bytes of files.
var (
	gzipped  = []byte{0x1f, 0x8b}
	zstded   = []byte{0x28, 0xb5, 0x2f, 0xfd}
	bzipped  = []byte("BZh")
	xzed     = []byte{0xfd, '7', 'z', 'X', 'Z', 0}
	archived = []byte("PGDMP")
	tarred   = []byte("toc.dat") // pg_dump --format=tar
)

// mostWindow bounds the memory for zstd in bytes; zstd itself refuses larger windows unless it is told otherwise.
const mostWindow = 128 << 20

// file is an open file, uncompressed.
type file struct {
	io.Reader
	file *os.File
	done func()
}

func (f *file) Close() error {
	f.done()
	return f.file.Close()
}

// Open opens a file of SQL: text, or text that gzip, zstd or bzip2 compressed.
func Open(path string) (io.ReadCloser, error) {
	f, err := trust.OpenGiven(path)
	if err != nil {
		return nil, err
	}
	text, done, err := uncompressed(f)
	if err != nil {
		return nil, errors.Join(hint.New(fmt.Errorf("%s: %w", path, err), hint.Of(err)), f.Close())
	}
	return &file{text, f, done}, nil
}

// uncompressed returns the text of a file, and a function that releases what the reader holds.
func uncompressed(f io.Reader) (io.Reader, func(), error) {
	nothing := func() {}
	in := bufio.NewReaderSize(f, 1<<16)
	begin, err := in.Peek(len(tarred))
	if err != nil && err != io.EOF {
		return nil, nothing, err
	}
	switch {
	case bytes.HasPrefix(begin, gzipped):
		r, err := gzip.NewReader(in)
		return r, nothing, err
	case bytes.HasPrefix(begin, zstded):
		r, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow))
		if err != nil {
			return nil, nothing, err
		}
		return r, r.Close, nil
	case bytes.HasPrefix(begin, bzipped):
		return bzip2.NewReader(in), nothing, nil
	case bytes.HasPrefix(begin, xzed):
		return nil, nothing, hint.New(errors.New("compressed with xz, which tare does not read"), "xz -dk FILE, and name the file without .xz")
	case bytes.HasPrefix(begin, archived), bytes.HasPrefix(begin, tarred):
		return nil, nothing, hint.New(errors.New("an archive of pg_dump, and no SQL"), "pg_restore -f dump.sql FILE, or pg_dump --format=plain")
	}
	return in, nothing, nil
}
