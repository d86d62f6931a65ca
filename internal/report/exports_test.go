package report

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

func TestOpenMetricsGolden(t *testing.T) {
	for _, name := range []string{"user", "zero", "empty"} {
		var b bytes.Buffer
		if err := export.OpenMetrics(&b, fixtures()[name]); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".openmetrics", b.Bytes())
	}
}

// strictReader reads every file named in its arguments with the parser of
// OpenMetrics' reference implementation, which refuses whatever the
// specification forbids, and prints name, labels and value of each sample.
const strictReader = `
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for path in sys.argv[1:]:
    with open(path, encoding='utf-8', newline='') as f:
        try:
            families = list(text_string_to_metric_families(f.read()))
        except ValueError as e:
            sys.exit('%s: %s' % (path, e))
    print(json.dumps([[s.name, s.labels, repr(s.value)] for m in families for s in m.samples]))
`

// The reference parser accepts what is printed of any effects, and reads back
// every ratio; names are hostile in the drawn ones.
func TestOpenMetricsIsValid(t *testing.T) {
	python := testneed.Python(t, "python3-prometheus-client", "prometheus_client.openmetrics.parser")
	dir := t.TempDir()
	var paths []string
	write := func(e *record.Effects) {
		var b bytes.Buffer
		if err := export.OpenMetrics(&b, e); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, strconv.Itoa(len(paths)))
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	rich := fixtures()["rich"]
	write(rich)
	for _, name := range []string{"user", "killed", "hopeless", "empty", "zero"} {
		write(fixtures()[name])
	}
	rapid.Check(t, func(t *rapid.T) {
		e := rich
		hostile := *e
		hostile.Experiment = drawText().Draw(t, "experiment")
		hostile.Host.Kernel = "\"\\\n" + drawText().Draw(t, "kernel")
		hostile.Effects = drawEffects(t, []string{"a", `b"\`, drawText().Draw(t, "workload")}, "effects")
		hostile.Arms = append(slices.Clone(e.Arms), record.ArmResult{Workload: "a", Arm: "host", Values: map[string]record.Value{
			drawText().Draw(t, "metric"): record.Number(drawFloat().Draw(t, "value")), "queue depth (max)": record.Number(3), "p50": record.Missing(record.InProse("no")),
		}})
		write(&hostile)
	})
	out, err := exec.Command(python, append([]string{"-c", strictReader}, paths...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wantRatios(t, rich, out)
}

// wantRatios finds every known ratio of the effects in the first line.
func wantRatios(t *testing.T, e *record.Effects, out []byte) {
	t.Helper()
	line, _, _ := bytes.Cut(out, []byte("\n"))
	var samples [][3]any
	if err := json.Unmarshal(line, &samples); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range samples {
		l := s[1].(map[string]any)
		if l["estimate"] == "typical" {
			got[strings.Join([]string{s[0].(string), l["workload"].(string), l["metric"].(string), l["arm"].(string)}, " ")] = s[2].(string)
		}
		for name := range l {
			if name == "run" || name == "id" || name == "seed" {
				t.Errorf("label %s differs from run to run", name)
			}
		}
	}
	for _, x := range e.Effects {
		if x.Typical == nil {
			continue
		}
		key := strings.Join([]string{x.Workload, x.Metric, x.Arm}, " ")
		for name, want := range map[string]float64{"tare_effect_ratio ": x.Typical.Ratio, "tare_effect_ratio_low ": x.Typical.Low, "tare_effect_ratio_high ": x.Typical.High} {
			// Fractions have nine digits.
			if v, err := strconv.ParseFloat(got[name+key], 64); err != nil || math.Abs(v-want) > 1e-8*want {
				t.Errorf("%s%s is %q, want %v", name, key, got[name+key], want)
			}
		}
	}
}
