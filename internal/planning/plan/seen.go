package plan

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Seen is what one run took and showed of one load. The cache keeps it for the plans of later runs.
type Seen struct {
	Load   string            `json:"load"` // its name
	Params map[string]string `json:"params"`
	// Places are the kinds of the load's arms, see placeOf; Instances is the number of its instances.
	Places    []string         `json:"places"`
	Instances int              `json:"instances"`
	Data      []record.DataSet `json:"data,omitempty"`
	record.Known
}

// placeOf is what the time of an arm's launch depends on, beside the load and its data.
func placeOf(a record.Arm) string {
	return a.Environment + " " + a.Volume + " " + a.Image + " " + a.Neighbour
}

// placesOf has each kind of arm once, sorted, and the number of instances.
func placesOf(arms []record.Arm) (places []string, instances int) {
	for _, a := range arms {
		places = append(places, placeOf(a))
		if a.Shares == "" {
			instances++
		}
	}
	slices.Sort(places)
	return slices.Compact(places), instances
}

// SeenIn returns what a run showed of each of its loads, in the order of its plan. A load of which no window was measured
// has Begin 0.
func SeenIn(r *record.Result, e *record.Effects) ([]Seen, error) {
	watches := map[string]*watch{}
	for i := range r.Plan.Workloads {
		watches[r.Plan.Workloads[i].Name] = &watch{ops: map[string]*[2]float64{}}
	}
	var last window
	err := r.Each(func(l *record.Line) {
		switch {
		case l.Run != nil:
			last.load, last.known = "", last == (window{}) // the time between two runs is in no window's start
		case l.Block != nil && watches[l.Block.Workload] != nil:
			watches[l.Block.Workload].add(l.Block, &last)
		}
	})
	if err != nil {
		return nil, err
	}
	all := make([]Seen, len(r.Plan.Workloads))
	for i, load := range r.Plan.Workloads {
		s := &all[i]
		s.Load, s.Params = load.Name, load.Params
		s.Places, s.Instances = placesOf(load.Arms)
		s.Runs, s.Newest = 1, r.Manifest.Started.UTC().Format(time.RFC3339)
		for _, d := range r.Manifest.Data {
			if d.Workload == load.Name {
				s.Data = append(s.Data, d)
			}
		}
		watches[load.Name].fill(s, len(load.Arms))
		s.widths(load, e)
	}
	return all, nil
}

// window is the last window of a record so far.
type window struct {
	load   string
	launch int
	end    float64
	known  bool // the time since then is in the start of the next window
}

// watch adds up the times of one load. Times are in seconds since the start of the record.
type watch struct {
	begun         bool
	begin         float64 // until the first window
	span          float64 // in launches and between those that follow each other
	inside        float64 // in launches
	windows       float64
	gaps, between float64 // number and sum of the times before launches of arms arms, after the first
	arms          int
	ops           map[string]*[2]float64 // operations and windows by arm
}

// add takes the next block of the load.
func (w *watch) add(b *record.Block, last *window) {
	first := slices.IndexFunc(b.Windows, func(x record.Window) bool { return x.Start > 0 })
	if first < 0 {
		return
	}
	start := b.Windows[first].Start
	follows := last.load == b.Workload
	if !follows || last.launch != b.Generation {
		w.launched(start, len(b.Windows), follows, last)
	}
	for i := range b.Windows {
		x := &b.Windows[i]
		if x.Start <= 0 {
			continue
		}
		end := x.Start + x.Seconds
		w.span, w.inside, last.end = w.span+end-last.end, w.inside+end-last.end, end
		w.windows++
		if x.Dropped == "" {
			if w.ops[x.Arm] == nil {
				w.ops[x.Arm] = &[2]float64{}
			}
			w.ops[x.Arm][0] += float64(x.Ops)
			w.ops[x.Arm][1]++
		}
	}
	last.load, last.launch, last.known = b.Workload, b.Generation, true
}

// launched takes the time before the first window of a launch, and moves the end of the last window there.
func (w *watch) launched(start float64, arms int, follows bool, last *window) {
	gap := start - last.end
	switch {
	case !last.known:
	case !w.begun:
		w.begin = gap
	case arms > w.arms:
		w.arms, w.gaps, w.between = arms, 1, gap
	case arms == w.arms:
		w.gaps, w.between = w.gaps+1, w.between+gap
	}
	if follows {
		w.span += gap
	}
	w.begun, last.end = true, start
}

// fill computes the times, for a launch of all arms in proportion to the arms of a launch. One launch is taken to be as long
// as everything before the first window.
func (w *watch) fill(s *Seen, arms int) {
	made := 0.0
	for _, d := range s.Data {
		if d.Made {
			made += d.Seconds
		}
	}
	if s.Begin = max(w.begin-made, 0); s.Begin == 0 || w.windows == 0 {
		s.Begin = 0
		return
	}
	if s.Launch = s.Begin; w.gaps > 0 {
		s.Launch = w.between / w.gaps * float64(arms) / float64(w.arms)
	}
	s.Slot, s.Seconds = w.inside/w.windows, w.span/float64(max(arms, 1))
	operations, windows := math.Inf(1), math.Inf(1)
	for _, n := range w.ops {
		operations, windows = min(operations, n[0]), min(windows, n[1])
	}
	if len(w.ops) == arms && w.span > 0 {
		s.Operations, s.Windows = operations/w.span, windows/w.span
	}
}

// widths takes the half-widths of the primary metric, as far as the arms have enough launches for a verdict: of the question
// alone where there is one, because its layers have a part of the time, or none.
func (s *Seen) widths(load record.Workload, e *record.Effects) {
	for _, x := range e.Effects {
		asked := x.Workload == load.Name && x.Metric == load.Primary && (load.Question == "" || x.Arm == load.Question)
		if !asked || x.Typical == nil || x.Generations < metric.LeastLaunches || !x.Typical.Known() {
			continue
		}
		half := math.Sqrt(x.Typical.High/x.Typical.Low) - 1
		s.Narrowest, s.Widest = min(half, cmp.Or(s.Narrowest, half)), max(s.Widest, half)
	}
}
