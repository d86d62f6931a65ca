package cli

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/host/apply"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

// Words of tare advise --apply and --undo.
const (
	applyNeedsAdvice = "--apply needs the directory of an advice with a proved remedy"
	noProof          = "the advice has no proved remedy"
	nobodyConfirms   = "--apply changes something that runs, and standard input is no terminal where a person could confirm it"
	applyQuestion    = "Apply? [y/N] "
	nothingApplied   = "nothing is changed"
	nothingHeld      = "nothing is applied"
	notWatched       = "interrupted: the settings stay, their effect was not watched"
	appliedHeading   = "settings that tare advise --apply made"
)

func listed(settings []record.RemedySetting) string {
	var keys []string
	for _, s := range settings {
		keys = append(keys, string(s.Key))
	}
	return strings.Join(keys, ", ")
}

func noTargetFor(on record.SettingOn, settings []record.RemedySetting) string {
	return fmt.Sprintf("the remedy also sets %s of the %s, which has no target; it is proved for all settings together", listed(settings), on)
}

func bothSides(c record.Candidate) string {
	return "the remedy sets " + listed(c.Apply) + " of load and neighbour: each needs its target"
}

// targetsFor is the remedy of a missing target.
func targetsFor(sides map[record.SettingOn][]record.RemedySetting) string {
	var words []string
	for _, on := range []record.SettingOn{record.OnLoad, record.OnNeighbour} {
		if len(sides[on]) > 0 {
			words = append(words, fmt.Sprintf("--apply %s=TARGET", on))
		}
	}
	return cmp.Or(strings.Join(words, " "), "tare advise DIR -v prints the lines to apply it by hand")
}

// describe prints what changes.
func (v *applier) describe() {
	c := v.loss.Candidates[*v.loss.Remedy]
	v.say("%s", v.paint(v.stdout, bold, strings.Join(c.Does, "; ")))
	for _, t := range v.targets {
		v.say("%s, %s", t.Target, theSide(t.on))
		for _, s := range t.Steps {
			line := fmt.Sprintf("%s: %s -> %s", s.Name, cmp.Or(s.From, "not set"), cmp.Or(s.To, "not set"))
			if s.Back != s.From {
				line += ", taken back as " + s.Back
			}
			if !s.Lasts() {
				line += ", until the machine restarts"
			}
			v.say("  %s", line)
		}
	}
	v.say("  way back: %s", undoWays(v.UndoAfter))
}

func theSide(on record.SettingOn) string { return "the " + string(on) }

func undoWays(after string) string {
	if after == "" {
		return "tare advise --undo"
	}
	return "tare advise --undo, and a timer of systemd in " + after
}

func applied(run, after string) string {
	text := "applied as " + run + "; it stays until tare advise --undo " + run
	if after != "" {
		text += ", or for " + after
	}
	return text
}

// counters prints the target's own counters before and after.
func (v *applier) counters(t appliedTarget, after []apply.Counter) {
	v.say("%s, %s each:", t.Target, watchTime)
	for i, b := range t.before {
		if reason := cmp.Or(b.Why, after[i].Why); reason != "" {
			v.say("  %-12s skipped: %s", b.Title, reason)
			continue
		}
		v.say("  %-12s %s -> %s of the time", b.Title, ofTime(b.Value), ofTime(after[i].Value))
	}
}

// ofTime is a ratio; of CPU used it may be above 1.
func ofTime(x float64) string {
	if math.IsNaN(x) {
		return "unknown"
	}
	return fmt.Sprintf("%.1f %%", 100*x)
}

// takenBack says what --undo did with a setting.
func takenBack(state apply.State, forget bool) string {
	if forget {
		return "the entry is removed, the setting stays"
	}
	switch state {
	case apply.Gone:
		return "the target is gone, the entry is removed"
	case apply.NotSet:
		return "was not in force, the entry is removed"
	case apply.Ended:
		return "ended with a restart of the machine, the entry is removed"
	}
	return "taken back"
}

func heldLine(run string, h journal.Held) string {
	return fmt.Sprintf("stays: %s (tare advise --undo %s)", h, run)
}

// appliedLine is a setting in tare doctor.
func appliedLine(x appliedAnswer) string {
	text := x.Setting + ": " + x.State
	if x.Now != "" {
		text += ", now " + x.Now
	}
	if x.Reason != "" {
		text += ": " + x.Reason
	}
	if until, err := time.Parse(time.RFC3339, x.Until); err == nil {
		text += ", until " + until.Local().Format(time.DateTime)
	}
	if x.Overdue {
		text += ", which is over"
	}
	return text
}
