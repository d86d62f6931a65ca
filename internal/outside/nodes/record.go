package nodes

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/tarelab/tare/internal/outside/dirtar"
)

// writeRecord writes a result directory. One that is not there is an empty
// archive: tare ended before it had any.
func writeRecord(w io.Writer, dir string) error {
	if err := dirtar.Write(w, dir); err != nil {
		return fmt.Errorf("send the record: %w", err)
	}
	return nil
}

// readRecord unpacks what writeRecord wrote.
func readRecord(r io.Reader, dir string) (files int, err error) {
	if files, err = dirtar.Read(r, dir, false); err != nil {
		err = fmt.Errorf("receive the record: %w", err)
	}
	return files, err
}

// unpack makes a directory of the record that is sent. Why it was not sent goes before what is
// wrong with it.
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

// collectBound is how long the record stays on the node when the client is lost.
const collectBound = 2 * time.Minute

const collectedFile = "collected"

// errSilent is a client that was lost and is heard again.
var errSilent = fmt.Errorf("nothing was heard of the client for %v, as if it were lost: the run was ended early", lostAfter)

// await keeps the record for a client that comes back, and says whether it did: with a
// connection of its own, or on the old one, to which the record is written.
func (h *host) await(c *client, to io.Writer) (kept bool, err error) {
	for end := time.Now().Add(collectBound); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if _, err := os.Stat(h.in(collectedFile)); err == nil {
			return true, nil
		}
		select {
		case <-c.back:
			return true, errors.Join(errSilent, writeRecord(to, h.resultDir()))
		default:
		}
		if err := os.WriteFile(h.in(endedFile), nil, 0o600); err != nil {
			return false, nil
		}
	}
	return false, nil
}

// endedFile says that tare has ended: the record is whole.
const endedFile = "ended"

// tokenFile is what tare on the node is to the cluster.
const tokenFile = "token"

// restoreBound is how long tare on the node may take to restore it when its record
// has been collected.
const restoreBound = time.Minute

// collect writes the record of a run whose client was lost and has come back, with
// a token: that of a pod that was removed is not good for anything any more. It
// returns when the node is restored, for the client then takes the rights away.
func collect(w io.Writer, dir string, token []byte) error {
	if err := renew(filepath.Join(dir, tokenFile), token); err != nil {
		return fmt.Errorf("the record is gone: %w", err)
	}
	for {
		if _, err := os.Stat(dir); err != nil {
			return fmt.Errorf("the record is gone: %w", err)
		}
		if _, err := os.Stat(filepath.Join(dir, endedFile)); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	err := writeRecord(w, filepath.Join(dir, "result"))
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, collectedFile), nil, 0o600))
	for end := time.Now().Add(restoreBound); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if _, gone := os.Stat(dir); gone != nil {
			return err
		}
	}
	return errors.Join(err, fmt.Errorf("the node is not restored after %v", restoreBound))
}

// renew replaces a file as a whole.
func renew(path string, text []byte) error {
	next := path + ".new"
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return err
	}
	return os.Rename(next, path)
}
