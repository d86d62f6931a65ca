// Package agent is the first process of a pod, the agent, and tare's link to it. The agent is
// tare's binary. It takes requests at a socket (the table requests has all of them): to start a
// process, to let a load run for a window, to pause it; and it reports how a process ended. When
// the connection ends, the agent ends with all its processes.
//
// On tare's own node, tare connects to the socket and passes descriptors, and measures the load
// itself. On another node, a second process in the pod connects a stream through the API server
// with the socket, and the agent measures. The package knows processes, counters and the two ends
// of a connection; it does not know what carries the connection.
package agent

import (
	"errors"
	"net/netip"
	"syscall"
	"time"

	"github.com/tarelab/tare/internal/linux/reach"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// request is a message to an agent, as JSON. It has a number and at most one other field, which the
// table requests lists. With neither it is a heartbeat; with a number alone it asks for the clock.
type request struct {
	Number   int              `json:"number,omitempty"`
	Start    *start           `json:"start,omitempty"`
	Kill     int              `json:"kill,omitempty"` // number of the request that started the process
	Gate     *bool            `json:"gate,omitempty"`
	Pause    bool             `json:"pause,omitempty"`
	Measure  *wire.WindowSpec `json:"measure,omitempty"`
	Watch    *watchSpec       `json:"watch,omitempty"`
	Look     bool             `json:"look,omitempty"` // answered with Seen
	Echo     *probeTarget     `json:"echo,omitempty"`
	Probe    *probeTarget     `json:"probe,omitempty"`
	StopEcho bool             `json:"stop_echo,omitempty"` // answered with Handshakes
	Try      bool             `json:"try,omitempty"`       // answered with Tried
	Stop     *time.Duration   `json:"stop,omitempty"`      // all processes, within this time
	Resume   bool             `json:"resume,omitempty"`
}

// probeTarget is an address at which the agent answers with a word, or asks for it.
type probeTarget struct {
	At     netip.AddrPort
	Word   string
	Within time.Duration
}

// watchSpec is the window of a load in another pod.
type watchSpec struct{ Discard, Length time.Duration }

// start is a process to start.
type start struct {
	Args []string `json:"args"`
	Env  []string `json:"env,omitempty"` // added to the agent's; with Files the whole environment
	Dir  string   `json:"dir,omitempty"`
	// Files is the number of descriptors that come with the request: a log, and those that the
	// process inherits as 3, 4, ... 0: none, and the agent passes the output on.
	Files int `json:"files,omitempty"`
	// Threads is the number of slots of the counters, which are descriptor 3; descriptor 4 is a
	// file for facts. 0: neither.
	Threads int     `json:"threads,omitempty"`
	Bounds  *Bounds `json:"bounds,omitempty"`
}

// event is a message from an agent, as a line of JSON: the answer to the request of that number,
// or news of the process that the request started.
type event struct {
	Number     int               `json:"number,omitempty"`
	Failure    *Failure          `json:"failure,omitempty"`
	Now        int64             `json:"now,omitempty"` // CLOCK_MONOTONIC in ns, in every answer
	Pid        int               `json:"pid,omitempty"` // in the pod
	Sample     *wire.Sample      `json:"sample,omitempty"`
	Seen       *Seen             `json:"seen,omitempty"`
	Handshakes []reach.Handshake `json:"handshakes,omitempty"`
	Tried      *trialResult      `json:"tried,omitempty"`
	// News of a process.
	Log   []byte `json:"log,omitempty"`
	State *state `json:"state,omitempty"`
	Exit  *exit  `json:"exit,omitempty"`
}

// state is a state of the load (counter.Starting ...) with the settings that it read back.
type state struct {
	State uint64 `json:"state"`
	Note  string `json:"note,omitempty"`
	Facts []byte `json:"facts,omitempty"`
}

type exit struct {
	Status int  `json:"status"` // of wait(2)
	OOM    bool `json:"oom,omitempty"`
	// Why is why the agent ended it; empty: the agent did not.
	Why string `json:"why,omitempty"`
}

// Failure is an error for another process: its text, and which errors errors.Is finds in it.
type Failure struct {
	Text      string        `json:"error"`
	Errno     syscall.Errno `json:"errno,omitempty"`
	NotFrozen bool          `json:"not_frozen,omitempty"`
}

// FailureOf makes a Failure of an error; nil of nil.
func FailureOf(err error) *Failure {
	if err == nil {
		return nil
	}
	f := &Failure{Text: err.Error(), NotFrozen: errors.Is(err, wire.ErrNotFrozen)}
	errors.As(err, &f.Errno)
	return f
}

func (f *Failure) Error() string { return f.Text }

func (f *Failure) Unwrap() error {
	switch {
	case f.NotFrozen:
		return wire.ErrNotFrozen
	case f.Errno != 0:
		return f.Errno
	}
	return nil
}

// Seen is what the agent reads back of its pod.
type Seen struct {
	// Groups are files of the pod's control groups with their contents.
	Groups []record.Setting
	// Process is the security state of the load.
	Process []record.Setting
	// Volume is the file system below the load's working directory, with mount options.
	Volume []record.Setting
}

const (
	// beatEvery is the interval of heartbeats over a stream; the agent answers each. lostAfter is
	// the silence after which either side gives the other up.
	beatEvery = 5 * time.Second
	lostAfter = 45 * time.Second
	// joinBound is how long an agent waits for a connection.
	joinBound = 2 * time.Minute
)
