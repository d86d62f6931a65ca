package analysis

import (
	"math"

	"github.com/tarelab/tare/record"
)

// table is the blocks of one workload that count, arranged for the estimators.
type table struct {
	load  record.Workload
	pilot *record.Pilot
	arms  []string // the baseline first
	rows  []row    // complete blocks that were not dropped
	// unit of each row: the generation, or the row itself when there is only
	// one generation. Units vary independently.
	units   int
	single  bool // one generation: the launch effect is not covered
	dropped int
	reasons map[string]int
	checks  []record.Check
	seconds float64 // from the first window to the last
}

// row is one block.
type row struct {
	generation, number, unit int
	order                    []string // arms in the order of their windows
	windows                  map[string]*record.Window
}

// tabulate arranges the lines of one workload. Blocks before the last pilot
// line were measured with another window and do not count.
func tabulate(load record.Workload, lines []record.Line) *table {
	t := &table{load: load, reasons: map[string]int{}}
	for _, a := range load.Arms {
		t.arms = append(t.arms, a.Name)
	}
	for i := range lines {
		l := &lines[i]
		switch {
		case l.Pilot != nil && l.Pilot.Workload == load.Name:
			t.pilot, t.rows, t.checks, t.dropped = l.Pilot, nil, nil, 0
			t.reasons = map[string]int{}
		case l.Check != nil && l.Check.Workload == load.Name:
			t.checks = append(t.checks, *l.Check)
		case l.Block != nil && l.Block.Workload == load.Name:
			t.add(l.Block)
		}
	}
	t.number()
	return t
}

func (t *table) add(b *record.Block) {
	if b.Dropped != "" {
		if b.Dropped != record.DropAbandoned {
			t.dropped++
			t.reasons[b.Dropped]++
		}
		return
	}
	r := row{generation: b.Generation, number: b.Number, windows: map[string]*record.Window{}}
	for i := range b.Windows {
		w := &b.Windows[i]
		r.windows[w.Arm] = w
		r.order = append(r.order, w.Arm)
	}
	if r.windows[t.load.Baseline] == nil {
		return
	}
	t.rows = append(t.rows, r)
}

// number gives every row its unit.
func (t *table) number() {
	seen := map[int]int{}
	for _, r := range t.rows {
		if _, ok := seen[r.generation]; !ok {
			seen[r.generation] = len(seen)
		}
	}
	t.single = len(seen) < 2
	t.units = len(seen)
	if t.single {
		t.units = len(t.rows)
	}
	for i := range t.rows {
		t.rows[i].unit = seen[t.rows[i].generation]
		if t.single {
			t.rows[i].unit = i
		}
	}
	t.seconds = t.span()
}

// span is the time from the first counted window to the end of the last.
func (t *table) span() float64 {
	first, last := math.Inf(1), 0.0
	for _, r := range t.rows {
		for _, w := range r.windows {
			first, last = min(first, w.Start), max(last, w.Start+w.Seconds)
		}
	}
	if last == 0 {
		return 0
	}
	return last - first
}

// generations is the number of launches that count.
func (t *table) generations() int {
	seen := map[int]bool{}
	for _, r := range t.rows {
		seen[r.generation] = true
	}
	return len(seen)
}

// arm describes an arm by name.
func (t *table) arm(name string) record.Arm {
	for _, a := range t.load.Arms {
		if a.Name == name {
			return a
		}
	}
	return record.Arm{Name: name}
}

// windowsOf is the windows of an arm in the rows that count.
func (t *table) windowsOf(arm string) []*record.Window {
	var out []*record.Window
	for _, r := range t.rows {
		if w := r.windows[arm]; w != nil {
			out = append(out, w)
		}
	}
	return out
}
