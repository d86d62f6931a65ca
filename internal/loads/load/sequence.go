package load

import (
	"math/rand/v2"

	"github.com/tarelab/tare/internal/wire/counter"
)

// Sequence is the random numbers of one thread of a load. At every thaw it
// begins anew from the seed that was announced, which all arms of a block are
// given: they do the same operations in the same order, and what differs between
// operations is no difference between arms (common random numbers). Arms that
// are faster only get further.
type Sequence struct {
	*rand.Rand
	pcg    *rand.PCG
	thread uint64
	thaw   int64  // the one that is followed, and
	seed   uint64 // what was announced before it
}

// NewSequence is the sequence before the first thaw.
func NewSequence(seed uint64, thread int) *Sequence {
	pcg := rand.NewPCG(seed, uint64(thread))
	return &Sequence{Rand: rand.New(pcg), pcg: pcg, thread: uint64(thread)}
}

// Follow begins anew when there was a thaw since it was last called, and says
// so. Call it after counter.Memory.Begin: before it, the thaw may be still to
// come.
func (s *Sequence) Follow(m *counter.Memory) (anew bool) {
	thaw := m.Thawed()
	if thaw == s.thaw {
		return false
	}
	s.thaw, s.seed = thaw, m.Seed()
	s.pcg.Seed(s.seed, s.thread)
	return true
}
