package durability

import (
	"fmt"
	"strconv"

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
func (a ArmFacts) Class() (Class, string) {
	switch {
	case a.Volatile:
		return Page, mountedVolatile
	case !a.Seen && !a.Volume.Memory() && !a.Volume.Network() && !a.Volume.NoBarrier():
		return Unknown, a.Failed
	}
	return classOf(a.Trial, a.Volume)
}

// Facts are the findings for the manifest.
func (a ArmFacts) Facts() []record.Setting {
	class, why := a.Class()
	out := []record.Setting{{Name: "durability", Got: string(class)}, {Name: "durability.because", Got: why}}
	if !a.Seen {
		return out
	}
	out = append(out, record.Setting{Name: "durability.sync_median", Got: fmt.Sprintf("%.3g s", a.Trial.Median)})
	for _, d := range a.Trial.Devices {
		number := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
		out = append(out, record.Setting{
			Name: "durability." + d.Device, Got: counted(number(d.Writes), number(d.Flushes), a.Trial.Syncs),
		})
	}
	return out
}

// Compare lists the differences between an arm and the baseline, each with both values. A value
// that is not known is no difference.
func Compare(base, arm ArmFacts) (differences []string) {
	mine, why := arm.Class()
	theirs, because := base.Class()
	if mine != theirs && mine != Unknown && theirs != Unknown {
		differences = append(differences, otherClass(arm.Name, mine, why, base.Name, theirs, because))
	}
	for _, p := range arm.Promises {
		for _, b := range base.Promises {
			if b.Name == p.Name && b.Means != p.Means {
				differences = append(differences, otherPromise(p.Name, p.Value, arm.Name, b.Value, base.Name))
			}
		}
	}
	return differences
}
