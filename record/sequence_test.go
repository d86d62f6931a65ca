package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A record that was copied to its own end, in which a block is twice or out of its turn, or that is of another plan is
// refused with the line; the record itself is read. Report (Scan and Each) and Read say the same.
func TestRecordOfOnePlanOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := Plan{Schema: PlanSchema, Seed: 7, Workloads: []Workload{
			{Name: "a", Arms: []Arm{{Name: "host"}, {Name: "twin"}}}, {Name: "b", Arms: []Arm{{Name: "host"}}},
		}}
		lines, start := []Line{{Run: &Run{Schema: RecordSchema, ID: "one", Seed: 7}}}, 0.0
		runs := rapid.IntRange(1, 3).Draw(rt, "runs")
		launch := map[string]int{}
		for r := range runs {
			if r > 0 {
				lines = append(lines, Line{Run: &Run{Schema: RecordSchema, ID: strings.Repeat("x", r), Seed: 7}})
			}
			for _, w := range p.Workloads {
				for n := range rapid.IntRange(1, 3).Draw(rt, "blocks") {
					b := &Block{Workload: w.Name, Generation: launch[w.Name], Number: n}
					for _, a := range w.Arms {
						start += 0.5
						b.Windows = append(b.Windows, Window{Arm: a.Name, Start: start, Seconds: 0.5})
					}
					lines = append(lines, Line{Block: b})
				}
				launch[w.Name]++
			}
			lines = append(lines, Line{End: &End{Reason: "budget"}})
		}
		reads(rt, t, p, lines, nil)
		reads(rt, t, p, slices.Concat(lines, lines), ErrTwice)
		from := rapid.IntRange(1, len(lines)-1).Draw(rt, "from")
		if slices.ContainsFunc(lines[from:], func(l Line) bool { return l.Block != nil || l.Run != nil }) {
			reads(rt, t, p, slices.Concat(lines, lines[from:]), ErrTwice)
		}
		other := p
		other.Seed = 8
		reads(rt, t, other, lines, ErrForeign)
		other = p
		other.Workloads = p.Workloads[:1]
		reads(rt, t, other, lines, ErrForeign)
		other.Workloads = []Workload{{Name: "a", Arms: []Arm{{Name: "host"}, {Name: "podman"}}}, p.Workloads[1]}
		reads(rt, t, other, lines, ErrForeign)
	})
}

// reads writes a result and reads it in both ways.
func reads(rt *rapid.T, t *testing.T, p Plan, lines []Line, want error) {
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		rt.Fatal(err)
	}
	var text, plan bytes.Buffer
	for _, l := range lines {
		err = errors.Join(err, json.NewEncoder(&text).Encode(l))
	}
	err = errors.Join(err, json.NewEncoder(&plan).Encode(p))
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, RecordFile), text.Bytes(), 0o600), os.WriteFile(filepath.Join(dir, PlanFile), plan.Bytes(), 0o600))
	if err != nil {
		rt.Fatal(err)
	}
	_, whole := Read(dir)
	scanned, part := Scan(dir)
	if part == nil {
		part = scanned.Each(func(*Line) {})
	}
	for _, err := range []error{whole, part} {
		if !errors.Is(err, want) || want != nil && (!errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), RecordFile+":")) {
			rt.Fatalf("%v, want %v", err, want)
		}
	}
}
