package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// page writes the HTML report of a result. It links the files of its data that lie beside it.
func (c *console) page(w io.Writer, r *record.Result, e *record.Effects, files ...string) error {
	g, _ := ownGate(r, e) // tare check says why there is none
	return c.reports().HTML(w, e, report.Source{Plan: r.Plan, Manifest: r.Manifest, Files: files, Gate: g})
}

// writePage writes the HTML report and the effects as CSV into a directory and returns the report's path.
func (c *console) writePage(dir string, r *record.Result, e *record.Effects) (string, error) {
	var b bytes.Buffer
	if err := export.CSV(&b, e); err != nil {
		return "", err
	}
	if err := record.WriteFile(dir, record.TableFile, b.Bytes()); err != nil {
		return "", err
	}
	files := []string{record.TableFile, record.EffectsFile, record.RecordFile, record.ManifestFile, record.PlanFile}
	files = slices.DeleteFunc(files, func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err != nil
	})
	b.Reset()
	if err := c.page(&b, r, e, files...); err != nil {
		return "", err
	}
	return filepath.Join(dir, record.PageFile), record.WriteFile(dir, record.PageFile, b.Bytes())
}

// openPage writes the HTML report again and opens it in a browser. If the result is not
// writable the report goes into a temporary directory.
func openPage(c *console, result string, write func(dir string) (path string, err error)) error {
	path, err := write(result)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		var dir string
		if dir, err = os.MkdirTemp("", "tare-report-"); err != nil {
			return err
		}
		path, err = write(dir)
	}
	if err != nil {
		return err
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	where := (&url.URL{Scheme: "file", Path: path}).String()
	fmt.Fprintln(c.stdout, where)
	if why := c.browse(where); why != "" {
		c.note("browser.none", "why", why)
	}
	return nil
}

// browse opens an address with the desktop's browser. It returns why it could not, or "".
func (c *console) browse(where string) string {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	} else if c.getenv("DISPLAY") == "" && c.getenv("WAYLAND_DISPLAY") == "" {
		return c.text("browser.display")
	}
	path, err := exec.LookPath(opener)
	if err != nil {
		return c.text("browser.opener", "name", opener)
	}
	if out, err := exec.Command(path, where).CombinedOutput(); err != nil {
		return fmt.Sprintf("%s: %v %s", opener, err, bytes.TrimSpace(out))
	}
	return ""
}
