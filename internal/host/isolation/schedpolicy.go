package isolation

import (
	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/record"
)

// schedPolicy sets the scheduling policy of the neighbour's threads. It counts only against
// threads of the same cpu group; between groups the weights decide.
type schedPolicy struct {
	niceness bool
	policy   uint32
}

const (
	batch      = unix.SCHED_BATCH
	idlePolicy = unix.SCHED_IDLE
)

func (t schedPolicy) Describe() description {
	var d description
	switch {
	case t.niceness:
		d.Name, d.Title = "nice", record.Say("isolation_nice")
		d.Level = level{Default: "19", Check: check(niceLevel)}
	case t.policy == batch:
		d.Name, d.Title = "sched.batch", record.Say("isolation_batch")
	default:
		d.Name, d.Title = "sched.idle", record.Say("isolation_sched_idle")
	}
	return d
}

func niceLevel(s string) (int, error) { return whole(s, 1, 19) }

func (schedPolicy) Support(h facts.Host) facts.Support {
	// No controller is needed: any thread may lower its own policy. A group is needed to list
	// the threads.
	if h.Groups == nil {
		return noGroups(h)
	}
	return facts.Supported()
}

func (t schedPolicy) Settings(level string, h facts.Host) (Settings, error) {
	to := Turn{Policy: t.policy}
	if t.niceness {
		n, err := niceLevel(level)
		if err != nil {
			return Settings{}, err
		}
		to.Nice = n
	}
	// Only root can raise the policy again.
	return Settings{Threads: []Threads{{Of: Neighbour, Turn: &to}}, Live: h.Root}, nil
}
