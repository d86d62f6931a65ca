package export

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/record"
)

var update = flag.Bool("update", false, "write the effects of the record beside the notebook")

// shippedResult is the result that the notebook reads, and real is another one, in which some intervals are withheld.
const (
	shippedResult = "../../../docs/notebook/result"
	realResult    = "../../../record/testdata/quick"
)

func effectsOf(t *testing.T, dir string) *record.Effects {
	t.Helper()
	r, err := record.Scan(dir)
	if err != nil {
		t.Fatal(err)
	}
	e, err := analysis.Analyse(r)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// exported writes the effects of a result beside its record, as a run does.
func exported(t *testing.T, e *record.Effects, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for name, print := range map[string]func(io.Writer, *record.Effects) error{record.EffectsFile: JSON, record.TableFile: CSV} {
		var b bytes.Buffer
		if err := print(&b, e); err != nil {
			t.Fatal(err)
		}
		all[filepath.Join(dir, name)] = b.Bytes()
	}
	return all
}

// The effects beside the notebook are those that this tare finds in the record there; -update writes them.
func TestShippedResult(t *testing.T) {
	for path, want := range exported(t, effectsOf(t, shippedResult), shippedResult) {
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not of this tare (go test -update writes it): %v", path, err)
		}
	}
}
