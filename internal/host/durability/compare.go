package durability

import (
	"fmt"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/record"
)

// ArmFacts is what is known of an arm's durability.
type ArmFacts struct {
	Name string
	// Seen says that there was a trial. Otherwise Failed is the reason, and only the mount
	// decides the class.
	Seen     bool
	Failed   string
	Trial    storage.Trial
	Volume   storage.Facts
	Volatile bool // the overlay is mounted with "volatile" and passes no sync on
	Promises []Promise
}

// Promise is a server's setting that decides which commits survive a crash.
type Promise struct {
	Name  string
	Value string // as the server reported it
	Means string // equal for values with the same effect, such as 1 and ON
}

// Class is where the arm's data is after a sync, and why.
func (a ArmFacts) Class() (Class, record.Said) {
	switch {
	case a.Volatile:
		return page, record.Say("mounted_volatile")
	case !a.Seen && !a.Volume.Memory() && !a.Volume.Network() && !a.Volume.NoBarrier():
		return unknown, record.InProse(a.Failed)
	}
	return classOf(a.Trial, a.Volume)
}

// Facts are the findings for the manifest.
func (a ArmFacts) Facts() []record.Setting {
	class, why := a.Class()
	out := []record.Setting{{Name: "durability", Got: string(class)}, {Name: "durability.because", Got: said.English(why), Said: why}}
	if !a.Seen {
		return out
	}
	out = append(out, record.Setting{Name: "durability.sync_median", Got: fmt.Sprintf("%.3g s", a.Trial.Median)})
	for _, d := range a.Trial.Devices {
		found := counted(d, a.Trial.Syncs)
		out = append(out, record.Setting{Name: "durability." + d.Device, Got: said.English(found), Said: found})
	}
	return out
}

// Compare lists the differences between an arm and the baseline, each with both values. A value
// that is not known is no difference.
func Compare(base, arm ArmFacts) (differences []record.Said) {
	mine, why := arm.Class()
	theirs, because := base.Class()
	if mine != theirs && mine != unknown && theirs != unknown {
		differences = append(differences, otherClass(arm.Name, mine, why, base.Name, theirs, because))
	}
	for _, p := range arm.Promises {
		for _, b := range base.Promises {
			if b.Name == p.Name && b.Means != p.Means {
				differences = append(differences, record.Say("setting_differs_from", "name", p.Name, "value", p.Value, "arm", arm.Name, "other", b.Value, "baseline", base.Name))
			}
		}
	}
	return differences
}
