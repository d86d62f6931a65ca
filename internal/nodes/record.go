package nodes

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// writeRecord writes a result directory as a tar archive. One that is not there
// is an empty archive: tare ended before it had any.
func writeRecord(w io.Writer, dir string) error {
	out := tar.NewWriter(w)
	if _, err := os.Stat(dir); err == nil {
		if err := out.AddFS(os.DirFS(dir)); err != nil {
			return fmt.Errorf("send the record: %w", err)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("send the record: %w", err)
	}
	return nil
}

// readRecord unpacks what writeRecord wrote: directories and plain files, none
// outside of dir, none that is there already.
func readRecord(r io.Reader, dir string) (files int, err error) {
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, r) // the padding
			return files, err
		}
		if err != nil {
			return files, fmt.Errorf("receive the record: %w", err)
		}
		if !filepath.IsLocal(h.Name) {
			return files, fmt.Errorf("receive the record: a file called %q", h.Name)
		}
		path := filepath.Join(dir, h.Name)
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o755)
		case tar.TypeReg:
			files++
			err = unpack(in, path, h.FileInfo().Mode())
		}
		if err != nil {
			return files, fmt.Errorf("receive the record: %w", err)
		}
	}
}

func unpack(r io.Reader, path string, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode.Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
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
