package isolation

import (
	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/host/facts"
)

// schedPolicy is how the neighbour's threads are scheduled among the threads of their
// cpu group. Between groups it counts for nothing: the groups' weights do.
type schedPolicy struct {
	niceness bool
	policy   uint32
}

const (
	batch      = unix.SCHED_BATCH
	idlePolicy = unix.SCHED_IDLE
)

func (t schedPolicy) Describe() Description {
	var d Description
	switch {
	case t.niceness:
		d.Name, d.Title = "nice", "a lower priority among the threads of its cpu group"
		d.Level = Level{Default: "19", Help: "1 to 19, the least", Check: check(niceLevel)}
	case t.policy == batch:
		d.Name, d.Title = "sched.batch", "SCHED_BATCH: woken threads do not interrupt others"
	default:
		d.Name, d.Title = "sched.idle", "SCHED_IDLE: the least priority among the threads of its cpu group"
	}
	return d
}

func niceLevel(s string) (int, error) { return whole(s, 1, 19) }

func (schedPolicy) Support(h facts.Host) facts.Support {
	// Every thread may give up its turn; its group lists the threads.
	if h.Groups == nil {
		return facts.Unsupported("no control groups: "+h.GroupsWhy, h.GroupsRemedy)
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
	// Only root can take it back.
	return Settings{Threads: []Threads{{Of: Neighbour, Turn: &to}}, Live: h.Root}, nil
}
