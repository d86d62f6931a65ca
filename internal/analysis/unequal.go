package analysis

import (
	"slices"

	"github.com/tarelab/tare/record"
)

// unequalTo names the settings of durability in which two arms differ, from the differences of
// each to the baseline; nothing where there are none.
func (c *compared) unequalTo(arm, base string) record.Said {
	mine, theirs := differences(c.unequal, c.load.Name, arm), differences(c.unequal, c.load.Name, base)
	if slices.Equal(mine, theirs) {
		return record.Said{}
	}
	if len(mine) == 0 {
		mine = theirs
	}
	return record.Say("unequal_durability", "differences", mine)
}

func differences(all []record.Unequal, load, arm string) []record.Said {
	for _, u := range all {
		if u.Workload == load && u.Arm == arm {
			return u.Differences
		}
	}
	return nil
}

// unequalWarnings warns of arms that are compared although their durability differs.
func unequalWarnings(all []record.Unequal, load string) (out []record.Warning) {
	for _, u := range all {
		if u.Workload != load {
			continue
		}
		out = append(out, unequalArm(u.Differences).of(load, u.Arm))
	}
	return out
}
