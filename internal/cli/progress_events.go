package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// The lines of --progress json (docs/output.md). "event" tells their kind.
type (
	beginEvent struct {
		Event      string        `json:"event"` // begin
		Schema     string        `json:"schema"`
		Experiment string        `json:"experiment"`
		Dir        string        `json:"dir"`
		Seed       uint64        `json:"seed"`
		Budget     float64       `json:"budget_seconds"`
		Skipped    []record.Left `json:"skipped"` // arms and loads that this host does not have
	}
	progressEvent struct {
		Event    string        `json:"event"`           // progress
		Elapsed  float64       `json:"elapsed_seconds"` // since the run began
		Left     float64       `json:"left_seconds"`    // of the budget
		Workload string        `json:"workload"`
		Number   int           `json:"number"`             // of the workload, from 1
		Of       int           `json:"of"`                 // how many workloads there are
		Pass     int           `json:"pass"`               // from 1
		Passes   int           `json:"passes"`             // how often the run measures this workload
		Phase    string        `json:"phase"`              // prepare, launch, pilot, check, measure or done
		Arm      string        `json:"arm,omitempty"`      // that is launched or measured; empty: all
		Launch   int           `json:"launch"`             // from 1
		Block    int           `json:"block"`              // complete blocks of this launch
		Blocks   int           `json:"blocks"`             // blocks of this launch
		Dropped  int           `json:"dropped"`            // dropped windows
		Ready    int           `json:"ready,omitempty"`    // arms that are ready
		Starting int           `json:"starting,omitempty"` // arms that the launch starts
		Effects  []eventEffect `json:"effects"`            // on the primary metric so far
		Note     string        `json:"note,omitempty"`     // what delays the run
	}
	// eventEffect has a ratio with its bounds, or null before the first blocks.
	eventEffect struct {
		Arm   string   `json:"arm"`
		Ratio *float64 `json:"ratio"`
		Low   *float64 `json:"low"`
		High  *float64 `json:"high"`
	}
	noteEvent struct {
		Event string `json:"event"` // note
		Text  string `json:"text"`
	}
	endEvent struct {
		Event   string  `json:"event"`           // end
		Elapsed float64 `json:"elapsed_seconds"` // since the run began
	}
	errorEvent struct {
		Event  string `json:"event"` // error
		Text   string `json:"text"`
		Remedy string `json:"remedy,omitempty"`
		Code   int    `json:"exit_code"` // of this tare
	}
)

// progressSchema is the schema of these lines.
const progressSchema = "tare/progress/v1"

// writeEvent writes one object as a line. An error of writing is not reported: the reader is gone.
func writeEvent(w io.Writer, event any) {
	b, err := json.Marshal(event)
	if err != nil {
		b, _ = json.Marshal(errorEvent{"error", err.Error(), "", exitError})
	}
	w.Write(append(b, '\n'))
}

// events prints an object when a phase or launch begins, and else one every eventEvery.
type events struct {
	w    io.Writer
	in   messages.Catalog // English
	left func() (left, total float64)

	mu   sync.Mutex
	last string
	at   time.Time
}

const eventEvery = time.Second

func (s *events) write(event any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	writeEvent(s.w, event)
}

func (s *events) start(p *plan.Plan, dir string) {
	r := &p.Record
	s.write(beginEvent{"begin", progressSchema, r.Experiment, dir, r.Seed, r.Budget, append([]record.Left{}, p.Left...)})
}

func (s *events) say(text string) { s.write(noteEvent{"note", export.Terminal(text)}) }

func (s *events) measured(*record.Manifest, record.Workload, []record.Line) {}

func (s *events) end() {
	left, total := s.left()
	s.write(endEvent{"end", round3(total - left)})
}

func (s *events) event(e run.Event) {
	state := fmt.Sprint(e.Workload, e.Phase, e.Generation, e.Ready, e.Note, e.Loading != "")
	if state == s.last && time.Since(s.at) < eventEvery {
		return
	}
	s.last, s.at = state, time.Now()
	left, total := s.left()
	x := progressEvent{
		Event: "progress", Elapsed: round3(total - left), Left: round3(left),
		Workload: e.Workload, Number: e.Number, Of: e.Of, Pass: e.Pass, Passes: e.Passes,
		Phase: e.Phase, Arm: e.Arm, Launch: e.Generation + 1, Block: max(e.Block, 0), Blocks: e.Blocks, Dropped: e.Dropped,
		Ready: e.Ready, Starting: e.Starting, Effects: []eventEffect{}, Note: loadingText(e, s.in),
	}
	if e.Note.Key != "" {
		x.Note = s.in.Say(e.Note)
	}
	for _, a := range e.Arms {
		x.Effects = append(x.Effects, eventEffect{Arm: a.Arm})
		if last := &x.Effects[len(x.Effects)-1]; !math.IsInf(a.Half, 0) && !math.IsNaN(a.Half) {
			low, high := a.Ratio*math.Exp(-a.Half), a.Ratio*math.Exp(a.Half)
			last.Ratio, last.Low, last.High = &a.Ratio, &low, &high
		}
	}
	s.write(x)
}
