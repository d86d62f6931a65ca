package sqlfile

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/tarelab/tare/internal/base/hint"
)

// Facts are what a check of a file finds.
type Facts struct {
	// Statements is the number of statements, Bytes the size without compression.
	Statements int
	Bytes      int64
	// SHA256 is the hash of the text without compression, in hexadecimal.
	SHA256 string
}

// Check reads a whole file and returns an error with the line if a statement cannot run or has more than most
// bytes. It keeps no statement in memory.
func Check(path string, d Dialect, most int) (f Facts, err error) {
	in, err := Open(path)
	if err != nil {
		return f, hint.New(fmt.Errorf("read the dump: %w", err), cmp.Or(hint.Of(err), nameRegular))
	}
	defer in.Close()
	sum := sha256.New()
	var count counter
	r := NewReader(io.TeeReader(in, io.MultiWriter(sum, &count)), d, most)
	r.counts = true
	err = Each(r, func(s Statement) error {
		f.Statements++
		for more := s.Rows; more && err == nil; {
			_, more, err = r.Row()
		}
		return err
	})
	if err != nil {
		return f, At(path, err)
	}
	if f.Statements == 0 {
		return f, At(path, errNoStatement())
	}
	f.Bytes, f.SHA256 = int64(count), hex.EncodeToString(sum.Sum(nil))
	return f, nil
}

// Each calls use for each statement that is to run.
func Each(r *Reader, use func(Statement) error) error {
	for {
		s, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case s.skip:
			continue
		}
		if err := use(s); err != nil {
			return err
		}
	}
}

// At adds the path to the error of a line: FILE:LINE.
func At(path string, err error) error {
	var at *Error
	if !errors.As(err, &at) {
		return hint.New(fmt.Errorf("%s: %w", path, err), hint.Of(err))
	}
	return hint.New(fmt.Errorf("%s:%d: %w", path, at.Line, at.Err), hint.Of(err))
}

type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
