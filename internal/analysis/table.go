package analysis

import (
	"cmp"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// table has the windows of one workload for the estimators: a row for each block, a column for each
// arm. A block may lack any of its windows.
type table struct {
	load  record.Workload
	pilot *record.Pilot
	arms  []string // the baseline is among them
	index map[string]int
	cpus  int // of the host; 0: unknown
	rows  []row
	// units is the number of units that vary independently: launches, or rows if there is only one
	// launch.
	units   int
	single  bool // one launch: intervals do not contain the variance between launches
	checks  []record.Check
	seconds float64           // of all launches that count, with their start
	starts  map[int]float64   // seconds until a launch was started, by launch
	taken   []int             // windows by arm, with those that do not count
	lost    map[string]int    // dropped windows by reason
	said    map[string]string // detail of the last dropped window, by reason
	damaged int               // blocks with a dropped window
	blocks  int               // all blocks
	// alpha is the error probability of the intervals that reports call 95 %. It is below 5 % if the
	// run stopped on width or was continued, because both looked at the data before.
	alpha          float64
	twins          int // loads of the run that have a twin with windows
	seen           observations
	runs           int                    // Run lines so far
	continued      bool                   // a Run line since the last pilot: it continues the record
	stoppedOnWidth bool                   // the run stopped on the width of its intervals
	made           int                    // launches, also those that do not count any more
	failed         map[string]record.Said // why the last launch of an arm failed, by arm
	unasked        []string               // arms that were left out, see leaveOutUnasked
}

// row is one block.
type row struct {
	launch, number, unit int
	order                []int     // arms in the order of their windows, with those that do not count
	windows              []*window // by arm; nil: none that counts
	dropped              []int     // arms whose windows were dropped
}

func newTable(load record.Workload, cpus int) *table {
	t := &table{load: load, cpus: cpus, index: map[string]int{}, starts: map[int]float64{}, failed: map[string]record.Said{}, seen: observations{column: map[string]int{}, why: map[whose]record.Said{}}}
	for i, a := range load.Arms {
		t.arms = append(t.arms, a.Name)
		t.index[a.Name] = i
	}
	t.forget()
	return t
}

// forget drops what was measured with another length of window.
func (t *table) forget() {
	t.rows, t.checks, t.damaged, t.blocks = nil, nil, 0, 0
	t.lost, t.said, t.taken = map[string]int{}, map[string]string{}, make([]int, len(t.arms))
}

// tabulate arranges the lines of one workload.
func tabulate(load record.Workload, cpus int, lines []record.Line) *table {
	t := newTable(load, cpus)
	for i := range lines {
		t.line(&lines[i])
	}
	return t.finish()
}

// line adds one line of the record. A pilot line makes the blocks before it not count, as
// their windows have another length, unless a run continues the record with windows of the
// same quality.
func (t *table) line(l *record.Line) {
	switch {
	case l.Run != nil:
		t.runs++
		t.continued = t.runs > 1
	case l.End != nil:
		t.stoppedOnWidth = t.stoppedOnWidth || l.End.Reason == "precision"
	case l.Pilot != nil && l.Pilot.Workload == t.load.Name:
		if !t.continued || t.settledSince(l.Pilot) {
			t.forget()
		}
		t.pilot, t.continued = l.Pilot, false
	case l.Check != nil && l.Check.Workload == t.load.Name:
		t.checks = append(t.checks, *l.Check)
	case l.Generation != nil && l.Generation.Workload == t.load.Name:
		t.starts[t.launchID(l.Generation.Number)] = l.Generation.Seconds
		t.made = max(t.made, l.Generation.Number+1)
		for _, left := range l.Generation.Left {
			t.failed[left.Arm] = left.Reason
		}
	case l.Block != nil && l.Block.Workload == t.load.Name:
		t.add(l.Block)
	}
}

// launchID numbers the launches of continued runs apart from those of the runs before.
func (t *table) launchID(generation int) int { return generation + max(t.runs-1, 0)<<32 }

func (t *table) add(b *record.Block) {
	t.made = max(t.made, b.Generation+1)
	r := row{launch: t.launchID(b.Generation), number: b.Number, windows: make([]*window, len(t.arms))}
	var order []*window
	lost := false
	for i := range b.Windows {
		w := &b.Windows[i]
		arm, ok := t.index[w.Arm]
		if !ok {
			continue
		}
		why := w.Dropped
		x := t.compact(arm, w)
		order = append(order, x)
		if why == record.DropAbandoned {
			continue
		}
		t.taken[arm]++
		if why != "" {
			t.lost[why]++
			if w.Detail != "" {
				t.said[why] = t.load.Name + "/" + w.Arm + ": " + w.Detail
			}
			r.dropped = append(r.dropped, arm)
			lost = true
			continue
		}
		r.windows[arm] = x
	}
	slices.SortStableFunc(order, func(a, b *window) int { return cmp.Compare(a.start, b.start) })
	for _, w := range order {
		r.order = append(r.order, w.arm)
	}
	if len(order) == 0 {
		return
	}
	t.blocks++
	if lost {
		t.damaged++
	}
	t.rows = append(t.rows, r)
}

// finish numbers the units of the rows and computes what depends on all lines.
func (t *table) finish() *table {
	seen := map[int]int{}
	for i := range t.rows {
		r := &t.rows[i]
		if _, ok := seen[r.launch]; !ok {
			seen[r.launch] = len(seen)
		}
		r.unit = seen[r.launch]
	}
	t.single = len(seen) < 2
	t.units = len(seen)
	if t.single {
		t.units = len(t.rows)
		for i := range t.rows {
			t.rows[i].unit = i
		}
	}
	t.leaveOutUnasked()
	t.seconds = t.span()
	t.alpha = 1 - t.level(t.stoppedOnWidth)
	return t
}

// level is the confidence at which to compute what is shown as 95 %.
func (t *table) level(stopped bool) float64 {
	if t.load.UntilDecided {
		return stat.Level(true, t.load.LayersOnLoss, stat.Looks(t.made)+max(t.runs-1, 0))
	}
	return stat.Level(stopped, t.load.LayersOnLoss, max(t.runs, 1))
}

// span is the time of the launches that count, in seconds: their start, and from the first
// window to the last. The time of other workloads between two launches is not in it.
func (t *table) span() float64 {
	first, last := map[int]float64{}, map[int]float64{}
	var launches []int
	for _, r := range t.rows {
		for _, w := range r.windows {
			if w == nil {
				continue
			}
			if _, ok := first[r.launch]; !ok {
				first[r.launch] = math.Inf(1)
				launches = append(launches, r.launch)
			}
			first[r.launch] = min(first[r.launch], w.start)
			last[r.launch] = max(last[r.launch], w.start+w.seconds)
		}
	}
	sum := 0.0
	for _, l := range launches {
		sum += last[l] - first[l] + t.starts[l]
	}
	return sum
}

// all yields the windows that count.
func (t *table) all() func(yield func(*window) bool) {
	return func(yield func(*window) bool) {
		for _, r := range t.rows {
			for _, w := range r.windows {
				if w != nil && !yield(w) {
					return
				}
			}
		}
	}
}

// launches is the number of launches that count.
func (t *table) launches() int {
	if !t.single {
		return t.units
	}
	return min(len(t.rows), 1)
}

// arm finds an arm by its name.
func (t *table) arm(name string) record.Arm {
	if i, ok := t.index[name]; ok {
		return t.load.Arms[i]
	}
	return record.Arm{Name: name}
}

// at is the window of an arm in a row; nil where none counts.
func (t *table) at(r *row, arm string) *window {
	if i, ok := t.index[arm]; ok {
		return r.windows[i]
	}
	return nil
}

// windowsOf returns the windows of an arm that count.
func (t *table) windowsOf(arm string) []*window {
	var out []*window
	for i := range t.rows {
		if w := t.at(&t.rows[i], arm); w != nil {
			out = append(out, w)
		}
	}
	return out
}

// twin is the name of the twin; empty without one.
func (t *table) twin() string {
	for _, a := range t.load.Arms {
		if a.Twin {
			return a.Name
		}
	}
	return ""
}

// control returns the columns that arms are compared with: the baseline and its twin.
func (t *table) control() []int {
	out := []int{t.index[t.load.Baseline]}
	if twin := t.twin(); twin != "" {
		out = append(out, t.index[twin])
	}
	return out
}
