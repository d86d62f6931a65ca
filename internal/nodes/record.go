package nodes

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/tarelab/tare/internal/dirtar"
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
	if files, err = dirtar.Read(r, dir); err != nil {
		err = fmt.Errorf("receive the record: %w", err)
	}
	return files, err
}

// collectBound is how long the record stays on the node when the client is lost.
const collectBound = 2 * time.Minute

const collectedFile = "collected"

// await keeps the record for a client that comes back, and says whether it did.
func (h *host) await() bool {
	for end := time.Now().Add(collectBound); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if _, err := os.Stat(h.in(collectedFile)); err == nil {
			return true
		}
		if err := os.WriteFile(h.in(endedFile), nil, 0o600); err != nil {
			return false
		}
	}
	return false
}

// endedFile says that tare has ended: the record is whole.
const endedFile = "ended"

// collect writes the record of a run whose client was lost and has come back.
func collect(nodeRun string) error {
	dir := dirOf(nodeRun)
	for {
		if _, err := os.Stat(dir); err != nil {
			return fmt.Errorf("the record is gone: %w", err)
		}
		if _, err := os.Stat(filepath.Join(dir, endedFile)); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	err := writeRecord(os.Stdout, filepath.Join(dir, "result"))
	return errors.Join(err, os.WriteFile(filepath.Join(dir, collectedFile), nil, 0o600))
}
