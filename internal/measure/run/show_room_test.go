package run

import (
	"testing"
	"time"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/planning/plan"
)

// noteOf is the note of an event in English.
func noteOf(e Event) string {
	if e.Note.Key == "" {
		return ""
	}
	return messages.In(messages.English).Say(e.Note)
}

// After its first launch a turn with room for fewer launches than a verdict needs says so, with a budget in which it has
// enough. A first pass, fixed launches and a load that compares nothing have no note.
func TestShowRoom(t *testing.T) {
	for name, c := range map[string]struct {
		change func(l *loadRun)
		want   string
	}{
		"too few":        {func(*loadRun) {}, "room for 2 of the 4 launches that verdicts need; --budget 3m would do"},
		"enough":         {func(l *loadRun) { l.schedule.lengths.Generations = 4 }, ""},
		"first pass":     {func(l *loadRun) { l.schedule.question = []string{"host", "twin", "container"} }, ""},
		"fixed":          {func(l *loadRun) { l.schedule.plan.Generations = 2 }, ""},
		"continued":      {func(l *loadRun) { l.run.config.Earlier = &Earlier{} }, ""},
		"baseline alone": {func(l *loadRun) { l.load.Arms = l.load.Arms[:2] }, ""},
	} {
		s := scheduled(40 * time.Second)
		s.plan.Record.Budget, s.load.Budget = 80, 40
		s.observed.Launch, s.lengths.Generations = 8*time.Second, 2
		s.launches, s.launchTime = 1, 8*time.Second
		said := ""
		p := &plan.Plan{Loads: []plan.Load{*s.load}}
		l := &loadRun{load: s.load, schedule: *s, run: &runner{config: Config{Plan: p, Progress: func(e Event) { said = noteOf(e) }}}}
		c.change(l)
		l.showRoom(15 * time.Second)
		if said != c.want {
			t.Errorf("%s: %q, want %q", name, said, c.want)
		}
	}
}
