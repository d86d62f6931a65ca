package export

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

const notebook = "../../../docs/notebook/tare.ipynb"

// execute runs a notebook with Jupyter's own client, and a cell more that prints what the notebook computed.
const execute = `
import json, sys
import nbformat
from nbclient import NotebookClient
nb = nbformat.read(sys.argv[1], as_version=4)
nbformat.validate(nb)
for cell in nb.cells:
    if cell.cell_type == 'code' and (cell.outputs or cell.execution_count):
        sys.exit('the notebook is stored with outputs')
nb.cells.append(nbformat.v4.new_code_cell('''
print(json.dumps({
    'latencies': {'/'.join(name): row for name, row in latencies.T.to_dict().items()},
    'effects': effects[['workload', 'metric', 'arm', 'percent', 'low', 'high']].to_dict('records'),
    'windows': len(windows),
}))
'''))
NotebookClient(nb, timeout=600, kernel_name='python3', resources={'metadata': {'path': sys.argv[2]}}).execute()
outputs = [o for cell in nb.cells for o in cell.get('outputs', [])]
said = ''.join(o.text for o in nb.cells[-1].outputs if o.output_type == 'stream' and o.name == 'stdout')
print(json.dumps({
    'images': sum('image/png' in o.get('data', {}) for o in outputs),
    'warnings': [o.text for o in outputs if o.output_type == 'stream' and o.name == 'stderr'],
    'values': json.loads(said),
}))
`

// executed is what a notebook computed.
type executed struct {
	Images   int
	Warnings []string
	Values   struct {
		Latencies map[string]map[string]float64 // by workload/arm and percentile
		Effects   []struct {
			Workload, Metric, Arm string
			Percent, Low, High    float64
		}
		Windows int
	}
}

// runNotebook runs the notebook in dir. home keeps the settings and caches of Python.
func runNotebook(t *testing.T, dir, home string) (out executed) {
	t.Helper()
	python := testneed.Python(t, "python3-nbclient", "nbclient", "ipykernel", "pandas", "matplotlib")
	cmd := exec.Command(python, "-c", execute, filepath.Join(dir, "tare.ipynb"), dir)
	cmd.Env = append(os.Environ(), "HOME="+home, "IPYTHONDIR="+home, "JUPYTER_RUNTIME_DIR="+home, "JUPYTER_CONFIG_DIR="+home, "MPLCONFIGDIR="+home)
	b, err := cmd.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Logf("%s", failed.Stderr)
		}
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return out
}

// The notebook beside a result shows its effects, windows and latencies, the same as tare computes them. It is stored without
// outputs.
func TestNotebook(t *testing.T) {
	home := t.TempDir()
	for name, dir := range map[string]string{"shipped": shippedResult, "withheld": realResult} {
		t.Run(name, func(t *testing.T) {
			e := effectsOf(t, dir)
			work := t.TempDir()
			if err := os.CopyFS(filepath.Join(work, "result"), os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			files := exported(t, e, filepath.Join(work, "result"))
			b, err := os.ReadFile(notebook)
			if err != nil {
				t.Fatal(err)
			}
			files[filepath.Join(work, "tare.ipynb")] = b
			for path, b := range files {
				if err := os.WriteFile(path, b, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got := runNotebook(t, work, home)
			if want := 1 + 2*len(e.Workloads); got.Images != want || len(got.Warnings) > 0 {
				t.Errorf("%d charts, want %d; warnings %q", got.Images, want, got.Warnings)
			}
			wantLatencies(t, dir, got)
			wantEffects(t, e, got)
		})
	}
}

func wantLatencies(t *testing.T, dir string, got executed) {
	t.Helper()
	r, err := record.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	all, windows := map[string][]record.Histogram{}, 0
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		for _, w := range l.Block.Windows {
			if w.Dropped == "" {
				name := l.Block.Workload + "/" + w.Arm
				all[name] = append(all[name], w.Latency)
				windows++
			}
		}
	}
	if windows == 0 || got.Values.Windows != windows || len(got.Values.Latencies) != len(all) {
		t.Errorf("%d windows of %d arms, want %d of %d", got.Values.Windows, len(got.Values.Latencies), windows, len(all))
	}
	for name, hs := range all {
		h := record.Merge(hs...)
		for percentile, q := range map[string]float64{"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99.9": 0.999} {
			if x, want := got.Values.Latencies[name][percentile], h.Quantile(q); !(math.Abs(x/want-1) < 1e-9) {
				t.Errorf("%s of %s: %v, want %v", percentile, name, x, want)
			}
		}
	}
}

func wantEffects(t *testing.T, e *record.Effects, got executed) {
	t.Helper()
	want := map[string]*record.Ratio{}
	for _, x := range append(e.Effects, e.Twin...) {
		if x.Typical != nil {
			want[strings.Join([]string{x.Workload, x.Metric, x.Arm}, " ")] = x.Typical
		}
	}
	if len(want) == 0 || len(got.Values.Effects) != len(want) {
		t.Errorf("%d effects, want %d", len(got.Values.Effects), len(want))
	}
	for _, x := range got.Values.Effects {
		name := strings.Join([]string{x.Workload, x.Metric, x.Arm}, " ")
		r := want[name]
		if r == nil {
			t.Errorf("the notebook has %s", name)
			continue
		}
		for _, pair := range [][2]float64{{x.Percent, r.Ratio}, {x.Low, r.Low}, {x.High, r.High}} {
			if math.Abs(pair[0]-100*(pair[1]-1)) > 1e-5 {
				t.Errorf("%s: %v %%, want the ratio %v", name, pair[0], pair[1])
			}
		}
	}
}
