package analysis

import (
	"slices"

	"github.com/tarelab/tare/record"
)

// leaveOutUnasked leaves out the layers that a run skipped (Workload.LayersOnLoss): they were launched once, and have no
// window.
func (t *table) leaveOutUnasked() {
	if !t.load.LayersOnLoss {
		return
	}
	var kept []int
	for i, a := range t.load.Arms {
		_, failed := t.failed[a.Name]
		if a.Name == t.load.Baseline || a.Twin || a.Name == t.load.Question || t.taken[i] > 0 || failed {
			kept = append(kept, i)
		} else {
			t.unasked = append(t.unasked, a.Name)
		}
	}
	if len(t.unasked) > 0 {
		t.keep(kept)
	}
}

// keep leaves only some columns of the table. The others have no windows. The layer below an arm is then the next one that
// is left.
func (t *table) keep(columns []int) {
	below := map[string]string{}
	for _, a := range t.load.Arms {
		below[a.Name] = a.Step
	}
	at := make([]int, len(t.arms)) // new column by old
	arms, taken := []record.Arm(nil), []int(nil)
	for to, from := range columns {
		at[from] = to
		arms, taken = append(arms, t.load.Arms[from]), append(taken, t.taken[from])
	}
	t.load.Arms, t.arms, t.taken, t.index = arms, nil, taken, map[string]int{}
	for i := range t.load.Arms {
		a := &t.load.Arms[i]
		t.arms, t.index[a.Name] = append(t.arms, a.Name), i
		for slices.Contains(t.unasked, a.Step) {
			a.Step = below[a.Step]
		}
		if slices.Contains(t.unasked, a.Against) {
			a.Against = ""
		}
	}
	for i := range t.rows {
		t.rows[i].keep(columns, at)
	}
	why := map[whose]record.Said{}
	for w, reason := range t.seen.why {
		why[whose{at[w.arm], w.column}] = reason
	}
	t.seen.why = why
}

func (r *row) keep(columns, at []int) {
	var windows []*window
	for to, from := range columns {
		w := r.windows[from]
		if w != nil {
			w.arm = to
		}
		windows = append(windows, w)
	}
	r.windows = windows
	for _, list := range [][]int{r.order, r.dropped} {
		for i, arm := range list {
			list[i] = at[arm]
		}
	}
}
