package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func armsNamed(n int) (arms []Arm) {
	for i := range n {
		arms = append(arms, Arm{Name: fmt.Sprint("arm", i)})
	}
	return arms
}

func TestPlansWithinBounds(t *testing.T) {
	long := strings.Repeat("x", MostName+1)
	many := Plan{}
	for i := range MostPairs/MostArms + 1 {
		many.Workloads = append(many.Workloads, Workload{Name: fmt.Sprint("w", i), Arms: armsNamed(MostArms)})
	}
	for name, c := range map[string]struct {
		plan Plan
		ok   bool
	}{
		"empty":                  {Plan{}, true},
		"as many arms as can be": {Plan{Workloads: []Workload{{Name: "a", Arms: armsNamed(MostArms)}}}, true},
		"one arm more":           {Plan{Workloads: []Workload{{Name: "a", Arms: armsNamed(MostArms + 1)}}}, false},
		"too many pairs":         {many, false},
		"a long name":            {Plan{Experiment: long}, false},
		"a long arm":             {Plan{Workloads: []Workload{{Name: "a", Arms: []Arm{{Name: long}}}}}, false},
		"a long title":           {Plan{Workloads: []Workload{{Name: "a", Arms: []Arm{{Name: "b", Title: InProse(strings.Repeat("x", 1<<20))}}}}}, false},
		"a long kind":            {Plan{Workloads: []Workload{{Name: "a", Kind: long}}}, false},
		"a long parameter":       {Plan{Workloads: []Workload{{Name: "a", Params: map[string]string{"x": strings.Repeat("x", 1<<20)}}}}, false},
		"a long argument":        {Plan{Command: []string{strings.Repeat("x", 1<<20)}}, false},
		"a long experiment":      {Plan{Source: strings.Repeat("x", 5<<20)}, false},
		"a workload twice":       {Plan{Workloads: []Workload{{Name: "a"}, {Name: "a"}}}, false},
		"an arm twice":           {Plan{Workloads: []Workload{{Name: "a", Arms: []Arm{{Name: "b"}, {Name: "b"}}}}}, false},
		"an arm without name":    {Plan{Workloads: []Workload{{Name: "a", Arms: []Arm{{}}}}}, false},
		"a negative budget":      {Plan{Workloads: []Workload{{Name: "a", Budget: -1}}}, false},
	} {
		if err := c.plan.Check(); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Impossible numbers are damage, with the number of the line.
func TestLinesWithinBounds(t *testing.T) {
	block := func(change func(*Block, *Window)) Line {
		l := blockLine(1)
		change(l.Block, &l.Block.Windows[0])
		return l
	}
	for name, l := range map[string]Line{
		"generation":    block(func(b *Block, _ *Window) { b.Generation = -1 }),
		"number":        block(func(b *Block, _ *Window) { b.Number = -1 }),
		"huge":          block(func(b *Block, _ *Window) { b.Generation = 1 << 40 }),
		"start":         block(func(_ *Block, w *Window) { w.Start = -1e308 }),
		"seconds":       block(func(_ *Block, w *Window) { w.Seconds = 1e308 }),
		"first_seconds": block(func(_ *Block, w *Window) { w.FirstSeconds = -1 }),
		"arm":           block(func(_ *Block, w *Window) { w.Arm = strings.Repeat("x", MostName+1) }),
		"windows":       block(func(b *Block, w *Window) { b.Windows = make([]Window, 10_000) }),
		"launch":        {Time: began, Generation: &Generation{Workload: "oltp", Number: -1}},
		"launch time":   {Time: began, Generation: &Generation{Workload: "oltp", Seconds: -1}},
		"pilot":         {Time: began, Pilot: &Pilot{Workload: "oltp", Window: -1}},
		"blocks":        {Time: began, Pilot: &Pilot{Workload: "oltp", Blocks: -1}},
		"observed":      {Time: began, Observed: &Observed{Workload: "oltp", Number: -1}},
	} {
		dir, _ := write(t, runLine(), l, blockLine(2))
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "record.jsonl:2: ") {
			t.Errorf("%s: %v, want the line named", name, err)
		}
		r, err := Scan(dir)
		if err == nil {
			err = r.Each(func(*Line) {})
		}
		if err == nil || !strings.Contains(err.Error(), "record.jsonl:2: ") {
			t.Errorf("%s, scanned: %v, want the line named", name, err)
		}
	}
}

// A plan that passes the check is small enough for a report.
func FuzzPlan(f *testing.F) {
	for _, p := range []Plan{{}, {Schema: PlanSchema, Workloads: []Workload{{Name: "a", Arms: armsNamed(3), Budget: 1}}}} {
		b, err := json.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var p Plan
		if json.Unmarshal(b, &p) != nil || p.Check() != nil {
			return
		}
		pairs := 0
		for _, w := range p.Workloads {
			if pairs += len(w.Arms); len(w.Arms) > MostArms || len(w.Name) > MostName || !validTime(w.Budget) {
				t.Fatalf("%+v", w)
			}
		}
		if pairs > MostPairs {
			t.Fatalf("%d pairs", pairs)
		}
	})
}

// nodes.json cannot name a directory outside of the result.
func FuzzNodes(f *testing.F) {
	b, err := json.Marshal(Nodes{Schema: NodesSchema, Nodes: []NodeResult{{Name: "a", Dir: "a"}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(bytes.ReplaceAll(b, []byte(`"dir":"a"`), []byte(`"dir":"../a"`)))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, NodesFile), b, 0o644); err != nil {
			t.Fatal(err)
		}
		n, err := ReadNodes(dir)
		if err != nil {
			return
		}
		for _, node := range n.Nodes {
			if path := filepath.Join(dir, node.Dir); filepath.Dir(path) != dir {
				t.Fatalf("%q is outside", path)
			}
		}
	})
}
