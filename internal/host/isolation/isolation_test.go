package isolation

import (
	"slices"
	"testing"

	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/record"
)

// Every mechanism is described, found by its name, and checks its level.
func TestDescriptions(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range All() {
		d := m.Describe()
		if d.Name == "" || d.Title.IsZero() || seen[d.Name] {
			t.Errorf("%#v: name %q, title %v, or named twice", m, d.Name, d.Title)
		}
		seen[d.Name] = true
		found, level, err := Parse(d.Name)
		if err != nil || found != m || level != d.Level.Default {
			t.Errorf("%s: parsed as %#v at %q, %v", d.Name, found, level, err)
		}
		if d.Level.Check == nil {
			if _, _, err := Parse(d.Name + "=1"); err == nil {
				t.Errorf("%s takes no level and took one", d.Name)
			}
			continue
		}
		if d.Level.Check(d.Level.Default) != nil {
			t.Errorf("%s: level %+v", d.Name, d.Level)
		}
		for _, bad := range []string{"", "x", "-99999999999", "1e999%", "NaN%"} {
			if d.Level.Check(bad) == nil {
				t.Errorf("%s takes the level %q", d.Name, bad)
			}
		}
	}
	if _, _, err := Parse("cpu.idel"); err == nil || err.Error() != `unknown isolation "cpu.idel"; did you mean "cpu.idle"?` {
		t.Errorf("an unknown one: %v", err)
	}
}

// Without groups only none is possible, and every no has a reason.
func TestSupportWithoutGroups(t *testing.T) {
	h := facts.Host{NoGroups: facts.Unsupported(record.InProse("not mounted"), record.InProse("mount them")), Control: facts.Control{CPUs: []int{0, 1}}}
	for _, m := range All() {
		s := m.Support(h)
		if name := m.Describe().Name; (s.Answer == facts.Yes) != (name == None) || s.Answer != facts.Yes && s.Reason.IsZero() {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestCutLeavesTheArmACPU(t *testing.T) {
	h := facts.Host{Control: facts.Control{CPUs: []int{0, 2, 5}}}
	first, last, err := cut("1", h)
	if err != nil || !slices.Equal(first, []int{0, 2}) || !slices.Equal(last, []int{5}) {
		t.Errorf("cut into %v and %v, %v", first, last, err)
	}
	if _, _, err := cut("3", h); err == nil {
		t.Error("nothing is left for the arm and that is no error")
	}
}
