package nodes

import (
	"fmt"
	"io"

	"github.com/tarelab/tare/internal/outside/dirtar"
)

// writeRecord writes a result directory as an archive. If tare ended before it made the
// directory the archive is empty.
func writeRecord(w io.Writer, dir string) error {
	if err := dirtar.Write(w, dir); err != nil {
		return fmt.Errorf("send the result: %w", err)
	}
	return nil
}

// readRecord unpacks an archive of writeRecord.
func readRecord(r io.Reader, dir string) (files int, err error) {
	if files, err = dirtar.Read(r, dir, false); err != nil {
		err = fmt.Errorf("receive the result: %w", err)
	}
	return files, err
}

// unpack unpacks into dir the archive that send writes. An error of send comes before one
// of the archive.
func unpack(dir string, send func(to io.Writer) error) error {
	r, w := io.Pipe()
	unpacked := make(chan error, 1)
	go func() {
		_, err := readRecord(r, dir)
		r.CloseWithError(err)
		unpacked <- err
	}()
	err := send(w)
	w.CloseWithError(err)
	if unpackErr := <-unpacked; err == nil {
		err = unpackErr
	}
	return err
}
