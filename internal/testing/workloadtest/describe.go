// Package workloadtest is the conformance suite of loads. It checks the description of a load, and then
// starts its processes and checks what they do. It knows the contract and no load in particular.
package workloadtest

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/counter"
)

// Run checks a load. fast are parameters with which it starts quickly, because Run starts it many times.
// The package's TestMain must call Main.
func Run(t *testing.T, w workload.Workload, fast map[string]string) {
	t.Run("description", func(t *testing.T) { describe(t, w) })
	t.Run("stages", func(t *testing.T) { stages(t, w, fast) })
	t.Run("live", func(t *testing.T) { live(t, w, fast) })
	t.Run("trouble", func(t *testing.T) { trouble(t, w, fast) })
}

var word = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

func describe(t *testing.T, w workload.Workload) {
	if !word.MatchString(w.Name()) {
		t.Errorf("the name %q is not a word in lower case", w.Name())
	}
	if title := said.English(w.Title()); title == "" || strings.ContainsAny(title, "\n\r") {
		t.Errorf("the title %q is not one line", title)
	}
	if _, err := workload.Complete(w, nil); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
	if _, err := workload.Complete(w, map[string]string{"no such parameter": "1"}); err == nil {
		t.Error("an unknown parameter is accepted")
	}
	seen := map[string]bool{}
	for _, p := range w.Params() {
		t.Run(p.Name, func(t *testing.T) { param(t, w, p) })
		if seen[p.Name] {
			t.Errorf("parameter %s is there twice", p.Name)
		}
		seen[p.Name] = true
	}
}

func param(t *testing.T, w workload.Workload, p workload.Param) {
	if !word.MatchString(p.Name) {
		t.Errorf("the name %q is not a word in lower case", p.Name)
	}
	if p.Help == "" || strings.ContainsAny(p.Help, "\n\r") {
		t.Errorf("the help %q is not one line", p.Help)
	}
	if p.Check == nil {
		t.Fatal("has no check")
	}
	for _, good := range append([]string{p.Default}, p.Words...) {
		if err := p.Check(good); err != nil {
			t.Errorf("its own value is refused: %v", err)
		}
	}
	wrong := []string{"", " ", "nonsense", "-1", "NaN", "1e400", "99999999999999999999", p.Default + "x"}
	if p.Text {
		wrong = []string{"", "two\nlines", "a\x00b"}
	}
	for _, bad := range wrong {
		_, err := workload.Complete(w, map[string]string{p.Name: bad})
		switch {
		case err == nil:
			t.Errorf("%q is accepted", bad)
		case !strings.Contains(err.Error(), p.Name) || !strings.Contains(err.Error(), w.Name()):
			t.Errorf("the error for %q does not name %s and %s: %v", bad, w.Name(), p.Name, err)
		}
	}
}

// somewhere is a place for tasks that are not started.
var somewhere = wire.Place{Volume: "/some/where", Listen: "127.0.0.1:1", Dial: "127.0.0.2:2"}

func stages(t *testing.T, w workload.Workload, fast map[string]string) {
	for _, given := range []map[string]string{nil, fast} {
		s := mustStages(t, w, given)
		if again := mustStages(t, w, given); !reflect.DeepEqual(tasks(s), tasks(again)) || s.Key != again.Key || s.Threads != again.Threads {
			t.Error("the same parameters give different stages")
		}
		if s.Threads < 1 {
			t.Errorf("%d threads", s.Threads)
		}
		if n := len(s.Values); n > counter.MaxValues {
			t.Errorf("%d numbers of its own, at most %d fit", n, counter.MaxValues)
		}
		if w := s.Windowed; w != nil && !(0 < w.Least && w.Least <= w.Usual && w.Discard >= 0 && w.Limit > 0) {
			t.Errorf("windows on request: %+v", *w)
		}
		if s.Load == nil {
			t.Error("there is no load")
		}
		if (s.Prepare == nil) != (s.Key == "") {
			t.Errorf("a data set needs a key and only a data set does; the key is %q", s.Key)
		}
		if strings.ContainsAny(s.Key, "/ \t\n") {
			t.Errorf("the key %q is not fit for a file name", s.Key)
		}
		metrics(t, s.Metrics)
		if len(s.Values) > 0 {
			metrics(t, append([]workload.Metric{workload.Throughput}, s.Values...))
		}
	}
	if first := mustStages(t, w, nil).Metrics[0]; first != workload.Throughput {
		t.Errorf("by default the primary metric is %s, want throughput", first.Name)
	}
}

func metrics(t *testing.T, ms []workload.Metric) {
	seen := map[string]bool{}
	for _, m := range ms {
		if m.Name == "" || m.Unit == "" || m.Better*m.Better != 1 || m.Quantile < 0 || m.Quantile >= 1 {
			t.Errorf("metric %+v is incomplete", m)
		}
		if seen[m.Name] {
			t.Errorf("metric %s is there twice", m.Name)
		}
		seen[m.Name] = true
	}
	if !seen[workload.Throughput.Name] {
		t.Error("throughput is not among the metrics")
	}
}

// tasks are all tasks of the stages.
func tasks(s workload.Stages) (out []workload.Task) {
	if s.Prepare != nil {
		out = append(out, s.Prepare("/some/where"))
	}
	if s.Server != nil {
		out = append(out, s.Server(somewhere))
	}
	return append(out, s.Load(somewhere))
}

func mustStages(t *testing.T, w workload.Workload, given map[string]string) workload.Stages {
	t.Helper()
	v, err := workload.Complete(w, given)
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.Stages(v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
