package load

import (
	"math/rand/v2"

	"github.com/tarelab/tare/internal/wire/counter"
)

// Sequence is the random number generator of one thread of a load. At each thaw it restarts from
// the block's seed, which is the same for all arms of a block (common random numbers): all arms do
// the same operations in the same order, so unequal operations make no difference between arms.
// Faster arms only get further.
type Sequence struct {
	*rand.Rand
	pcg    *rand.PCG
	thread uint64
	thaw   int64  // the last thaw that Follow saw
	seed   uint64 // the seed of that thaw's block
}

// NewSequence is the sequence of a thread until the first thaw.
func NewSequence(seed uint64, thread int) *Sequence {
	pcg := rand.NewPCG(seed, uint64(thread))
	return &Sequence{Rand: rand.New(pcg), pcg: pcg, thread: uint64(thread)}
}

// Follow restarts the sequence if there was a thaw since the last call, and returns true then. Call
// it after counter.Memory.Begin, which returns after the thaw.
func (s *Sequence) Follow(m *counter.Memory) (anew bool) {
	thaw := m.Thawed()
	if thaw == s.thaw {
		return false
	}
	s.thaw, s.seed = thaw, m.Seed()
	s.pcg.Seed(s.seed, s.thread)
	return true
}
