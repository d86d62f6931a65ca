package load

import (
	"context"
	"fmt"

	"github.com/tarelab/tare/internal/counter"
)

// Spin are the parameters of spin.
type Spin struct {
	// Rounds of arithmetic per operation.
	Rounds int `json:"rounds"`
}

// runSpin does arithmetic that needs nothing but a CPU: no memory, no system
// call. What it loses, it loses of CPU time; so it shows losses of known size.
func runSpin(ctx context.Context, m *counter.Memory, params []byte) error {
	var p Spin
	if err := decode(params, &p); err != nil {
		return err
	}
	if p.Rounds < 1 {
		return fmt.Errorf("rounds %d: want at least 1", p.Rounds)
	}
	m.SetReady()
	return each(ctx, m, func(i int) error {
		x := uint64(i) + 1
		for slot := m.Slot(i); !m.Stopped(); {
			start := m.Begin(slot)
			x = spin(x, p.Rounds)
			m.End(slot, start, nil)
		}
		if x == 0 { // a xorshift never reaches 0; the result must be used
			return fmt.Errorf("arithmetic of this CPU is wrong")
		}
		return nil
	})
}

// spin is rounds of xorshift64 (Marsaglia 2003, J. Stat. Softw. 8(14)), each of
// which needs the one before.
func spin(x uint64, rounds int) uint64 {
	for range rounds {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}
