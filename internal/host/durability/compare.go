package durability

import (
	"fmt"
	"strconv"

	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/record"
)

// ArmFacts is what is known of the durability of an arm.
type ArmFacts struct {
	Name string
	// Seen says that there was a trial; else Failed says why not, and the volume
	// is judged by its mount alone.
	Seen     bool
	Failed   string
	Trial    storage.Trial
	Volume   storage.Facts
	Volatile bool // an overlay that passes no sync on
	Settings []record.Setting
}

// Class is where what the arm synced is.
func (a ArmFacts) Class() (Class, string) {
	switch {
	case a.Volatile:
		return Page, "the overlay is mounted volatile"
	case !a.Seen && !a.Volume.Memory() && !a.Volume.Network() && !a.Volume.NoBarrier():
		return Unknown, a.Failed
	}
	return classOf(a.Trial, a.Volume)
}

// Facts are what was found, for the manifest.
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
			Name: "durability." + d.Device, Got: fmt.Sprintf("%s writes, %s flushes for %d syncs", number(d.Writes), number(d.Flushes), a.Trial.Syncs),
		})
	}
	return out
}

// Compare lists in what an arm is not equal to the baseline, each with both
// sides. What could not be told is no difference.
func Compare(base, arm ArmFacts) (differences []string) {
	mine, why := arm.Class()
	theirs, because := base.Class()
	if mine != theirs && mine != Unknown && theirs != Unknown {
		differences = append(differences, fmt.Sprintf("what %s synced is %s (%s), what %s synced is %s (%s)",
			arm.Name, mine, why, base.Name, theirs, because))
	}
	have := promises(base.Settings)
	for _, p := range promises(arm.Settings) {
		for _, b := range have {
			if b.name == p.name && b.means != p.means {
				differences = append(differences, fmt.Sprintf("%s is %s in %s and %s in %s", p.name, p.value, arm.Name, b.value, base.Name))
			}
		}
	}
	return differences
}
