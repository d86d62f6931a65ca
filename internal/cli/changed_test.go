package cli

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tarelab/tare/record"
)

// odd are values that replace others.
var odd = []any{nil, -1, 0, 1, 1 << 40, -1 << 62, 1e308, -1e308, 5e-324, "", "x", strings.Repeat("x", 2000), "host", "container", "throughput",
	[]any{}, []any{nil}, map[string]any{}, map[string]any{"missing": "x"}, true}

// altered replaces a random value inside a JSON value.
func altered(r *rand.Rand, v any) any {
	switch x := v.(type) {
	case []any:
		if len(x) > 0 && r.IntN(8) > 0 {
			i := r.IntN(len(x))
			switch r.IntN(6) {
			case 0:
				return append(slices.Clone(x), x[i])
			case 1:
				return slices.Delete(slices.Clone(x), i, i+1)
			}
			x[i] = altered(r, x[i])
			return x
		}
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		if len(keys) > 0 && r.IntN(8) > 0 {
			k := keys[r.IntN(len(keys))]
			if r.IntN(8) == 0 {
				delete(x, k)
			} else {
				x[k] = altered(r, x[k])
			}
			return x
		}
	}
	return odd[r.IntN(len(odd))]
}

// damage changes a file of a result: one value, some bytes, or the length.
func damage(r *rand.Rand, b []byte, lines bool) []byte {
	switch r.IntN(5) {
	case 0: // bytes
		b = slices.Clone(b)
		for range 1 + r.IntN(4) {
			b[r.IntN(len(b))] = byte(r.IntN(256))
		}
		return b
	case 1: // cut, or cut and gone on with
		at := r.IntN(len(b))
		return append(slices.Clone(b[:at]), b[min(len(b), at+r.IntN(300)*r.IntN(2)):]...)
	}
	parts := [][]byte{b}
	if lines {
		parts = bytes.SplitAfter(b, []byte("\n"))
	}
	i := r.IntN(len(parts))
	var v any
	if json.Unmarshal(parts[i], &v) != nil {
		return b
	}
	changed, err := json.Marshal(altered(r, v))
	if err != nil {
		return b
	}
	parts[i] = append(changed, '\n')
	return slices.Concat(parts...)
}

// shortened is a real result with few blocks, so that the analysis takes little time.
func shortened(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, name := range []string{record.PlanFile, record.ManifestFile, record.RecordFile} {
		b, err := os.ReadFile(filepath.Join(realResult, name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = b
	}
	var kept [][]byte
	blocks := 0
	for line := range bytes.Lines(all[record.RecordFile]) {
		if bytes.Contains(line, []byte(`"block":{`)) {
			if blocks++; blocks%4 > 0 {
				continue
			}
		}
		kept = append(kept, line)
	}
	all[record.RecordFile] = slices.Concat(kept...)
	return all
}

// A result whose plan names arms that it does not have is reported or refused, in every form.
func TestPlansWithoutTheirArms(t *testing.T) {
	files := shortened(t)
	for name, change := range map[string]func(w *record.Workload){
		"no arms":             func(w *record.Workload) { w.Arms = nil },
		"no question":         func(w *record.Workload) { w.Question = "gone" },
		"no baseline":         func(w *record.Workload) { w.Baseline = "gone" },
		"no arm below":        func(w *record.Workload) { w.Arms[len(w.Arms)-1].Step = "gone" },
		"baseline alone":      func(w *record.Workload) { w.Arms = w.Arms[:1] },
		"no baseline at all":  func(w *record.Workload) { w.Baseline, w.Question = "", "container" },
		"question is no arm":  func(w *record.Workload) { w.Question = w.Baseline },
		"no neighbour there":  func(w *record.Workload) { w.Arms[len(w.Arms)-1].Neighbour = "gone" },
		"launched by no arm":  func(w *record.Workload) { w.Arms[len(w.Arms)-1].Shares = "gone" },
		"the twin is another": func(w *record.Workload) { w.Arms[len(w.Arms)-1].Twin = true },
	} {
		dir := filepath.Join(t.TempDir(), "r")
		var p record.Plan
		if err := json.Unmarshal(files[record.PlanFile], &p); err != nil {
			t.Fatal(err)
		}
		for i := range p.Workloads {
			change(&p.Workloads[i])
		}
		for file, b := range files {
			if err := os.WriteFile(filepath.Join(mkdir(t, dir), file), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := record.WriteJSON(dir, record.PlanFile, p); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"report", dir, "-v"}, {"report", dir, "--format", "html"}, {"check", dir, "--max-cost", "throughput=5%"}} {
			if out, said, code := called(t, args...); out == "" && said == "" || code > exitInvalid {
				t.Errorf("%s, %q: exit %d\n%s", name, args, code, said)
			}
		}
	}
}

// Results that are changed at random, cut or overwritten: every command ends with one of its exit
// codes, and prints an error if it prints nothing else.
func TestChangedResults(t *testing.T) {
	times := 100
	if n, err := strconv.Atoi(os.Getenv("TARETEST_CHANGES")); err == nil {
		times = n
	}
	r := rand.New(rand.NewPCG(24, 24))
	files := shortened(t)
	dir := filepath.Join(t.TempDir(), "r")
	codes := map[int]int{}
	for n := range times {
		names := []string{record.RecordFile, record.RecordFile, record.PlanFile, record.ManifestFile}
		victim := names[r.IntN(len(names))]
		for name, b := range files {
			if name == victim {
				b = damage(r, b, name == record.RecordFile)
			}
			if err := os.WriteFile(filepath.Join(mkdir(t, dir), name), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		args := [][]string{{"report", dir}, {"report", dir, "--format", "html"}, {"report", dir, "--format", "json"},
			{"check", dir, "--max-cost", "throughput=5%"}, {"compare", realResult, dir, "--force"}}[n%5]
		out, said, code := called(t, args...)
		codes[code]++
		good := []int{exitOK, exitError, exitUsage}
		if args[0] == "check" {
			good = append(good, exitExceeded, exitUndecided, exitInvalid)
		}
		if !slices.Contains(good, code) || (code == exitError || code == exitUsage) != (out == "") || (code == exitError || code == exitUsage) && said == "" {
			t.Errorf("change %d of %s, %q: exit %d, %d bytes\n%s", n, victim, args, code, len(out), said)
		}
	}
	if codes[exitOK] < times/10 || codes[exitError] < times/20 {
		t.Errorf("exit codes %v: the changes are all of a kind", codes)
	}
}
