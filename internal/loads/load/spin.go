package load

import (
	"context"
	"fmt"
	"math"

	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// Spin are the parameters of spin.
type Spin struct {
	// Rounds is the number of rounds of arithmetic in an operation.
	Rounds int `json:"rounds"`
	// Work multiplies Rounds: 1.01 is 1 % more work for an operation. 0 means 1.
	Work float64 `json:"work,omitempty"`
	// Idle is the share of the time, from 0 to below 1, in which a thread does no operations.
	Idle float64 `json:"idle,omitempty"`
}

// rounds is the number of rounds in an operation, with Work.
func (p Spin) rounds() int {
	if p.Work == 0 {
		return p.Rounds
	}
	return int(math.Round(float64(p.Rounds) * p.Work))
}

// runSpin does arithmetic without memory accesses or system calls. It loses throughput only by
// losing CPU time, so it is the load for losses of known size.
func runSpin(ctx context.Context, m *counter.Memory, params []byte) error {
	var p Spin
	if err := hidden.Decode(params, &p); err != nil {
		return err
	}
	rounds := p.rounds()
	if !(p.Idle >= 0 && p.Idle < 1) {
		return fmt.Errorf("idle %g: want a share below 1", p.Idle)
	}
	if rounds < 1 {
		return fmt.Errorf("rounds %d, work %g: want at least one round", p.Rounds, p.Work)
	}
	m.SetReady()
	return Each(ctx, m, func(i int) error {
		x, pause := uint64(i)+1, rest{share: p.Idle}
		for slot := m.Slot(i); !m.Stopped(); {
			start := m.Begin(slot)
			x = spin(x, rounds)
			m.End(slot, start, nil)
			if p.Idle > 0 {
				pause.after(m, start)
			}
		}
		if x == 0 { // never with xorshift; the compiler must not drop the result
			return fmt.Errorf("arithmetic of this CPU is wrong")
		}
		return nil
	})
}

// spin does rounds of xorshift64 (Marsaglia 2003, J. Stat. Softw. 8(14)). Each round depends on the
// one before, so the CPU cannot overlap them.
func spin(x uint64, rounds int) uint64 {
	for range rounds {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}
