package plan

import (
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/record"
)

// TuneWindowed chooses the lengths for a load whose tool runs anew for each window: the tool's usual
// window, or a shorter one where the budget has no room for enough usual ones. Observed.Switch holds
// all time that a window takes beyond its length and its settle time. It keeps fixed lengths other
// than zero.
func TuneWindowed(o Observed, asked workload.Windowed, fixed Lengths) (Lengths, record.Pilot) {
	out := fixed
	windowWhy := record.Say("lengths_asked")
	if out.Discard == 0 {
		out.Discard = max(asked.Discard, o.Settle)
	}
	if out.Window == 0 {
		overhead := (out.Discard + o.Switch).Seconds()
		for out.Window = asked.Usual; out.Window > max(asked.Least, o.Least) && !fits(o, out.Window, overhead); {
			out.Window = max(out.Window/2, asked.Least, o.Least)
		}
		if o.Settle >= 2*quotaPeriod {
			out.Window = out.Window.Truncate(quotaPeriod)
		}
		windowWhy = toolRunsAnew(out.Window, o.Switch)
	}
	out, launchesWhy := Allocate(o, out, 0.05, fixed)
	return out, record.Pilot{
		Pause: o.Pause, Window: out.Window.Seconds(), Discard: out.Discard.Seconds(), Blocks: out.Blocks,
		Why: everyReason(windowWhy, launchesWhy),
	}
}
