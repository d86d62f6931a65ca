package journal

// Held is a step whose change the user asked for, and which stays when tare ends: Undo leaves it, and
// only Release undoes it.
type Held interface {
	Step
	// Held marks the type.
	Held()
}

func isHeld(s Step) bool { _, ok := s.(Held); return ok }

// heldMode says what becomes of Held steps.
type heldMode int

const (
	leaveHeld   heldMode = iota
	releaseHeld          // undo them like others
	forgetHeld           // remove them from the journal; the change stays
)

// Release is Undo for Held steps, too.
func Release(stateDir, run string, kinds Kinds) (Report, error) {
	return undo(stateDir, run, kinds, releaseHeld, undoBound)
}

// Forget is Undo that also removes Held steps from the journal. Their changes stay.
func Forget(stateDir, run string, kinds Kinds) (Report, error) {
	return undo(stateDir, run, kinds, forgetHeld, undoBound)
}

// Restarted says whether the machine was restarted after the journal was written.
func (h Header) Restarted() bool { return h.writtenIn() == earlierBoot }
