// Package agent is the first process of a pod, and how tare speaks with it. This
// binary is there as an agent: it is told at a socket to start a process, to let a
// load run for a window, to read its counters, to pause it; and it says how what it
// started has ended. It ends, and everything there with it, when the connection does.
// A pod on this node is asked at its socket and handed descriptors: what it starts is
// then measured from here. One elsewhere is asked over a stream that another process
// there leads to the socket, and measures by itself. The package knows processes,
// counters and two ends of a connection, and nothing of what carries it.
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

// request is what an agent is told, as a line of JSON. But for a beat it has a
// number, and one more field, or none where only the clock is asked for.
type request struct {
	Number   int              `json:"number,omitempty"`
	Start    *start           `json:"start,omitempty"`
	Kill     int              `json:"kill,omitempty"` // the process that was started with that number
	Gate     *bool            `json:"gate,omitempty"`
	Pause    bool             `json:"pause,omitempty"`
	Measure  *wire.WindowSpec `json:"measure,omitempty"`
	Watch    *watch           `json:"watch,omitempty"`
	Look     bool             `json:"look,omitempty"` // for an event with Seen
	Echo     *probeTarget     `json:"echo,omitempty"`
	Probe    *probeTarget     `json:"probe,omitempty"`
	StopEcho bool             `json:"stop_echo,omitempty"` // for an event with Handshakes
	Try      bool             `json:"try,omitempty"`       // for an event with Tried
	Stop     *time.Duration   `json:"stop,omitempty"`      // all that was started, within that
	Resume   bool             `json:"resume,omitempty"`
}

// probeTarget is what to answer at an address, or to ask there until the answer comes.
type probeTarget struct {
	At     netip.AddrPort
	Word   string
	Within time.Duration
}

// watch is what to observe beside a window of a load that is in another pod.
type watch struct{ Discard, Length time.Duration }

// start is a process to start.
type start struct {
	Args []string `json:"args"`
	Env  []string `json:"env,omitempty"` // beside the agent's; with descriptors: all of it
	Dir  string   `json:"dir,omitempty"`
	// Files is how many descriptors come with the request: a log, and what the process
	// inherits as descriptors 3, 4, ... 0: none, and the agent passes on what it prints.
	Files int `json:"files,omitempty"`
	// Threads is the number of slots of the counters that it inherits as
	// descriptor 3, with a file for facts as descriptor 4; 0: neither.
	Threads int     `json:"threads,omitempty"`
	Bounds  *Bounds `json:"bounds,omitempty"`
}

// event is what the agent says, as a line: the answer to the request of that
// number, or what happened to the process that was started with it.
type event struct {
	Number     int               `json:"number,omitempty"`
	Failure    *Failure          `json:"failure,omitempty"`
	Now        int64             `json:"now,omitempty"` // CLOCK_MONOTONIC ns, of every answer
	Pid        int               `json:"pid,omitempty"` // of what was started, as the pod numbers it
	Sample     *wire.Sample      `json:"sample,omitempty"`
	Seen       *Seen             `json:"seen,omitempty"`
	Handshakes []reach.Handshake `json:"handshakes,omitempty"`
	Tried      *trialResult      `json:"tried,omitempty"`
	// Of a process.
	Log   []byte `json:"log,omitempty"`
	State *state `json:"state,omitempty"`
	Exit  *exit  `json:"exit,omitempty"`
}

// state is what a load says of itself, with what it read back.
type state struct {
	State uint64 `json:"state"`
	Note  string `json:"note,omitempty"`
	Facts []byte `json:"facts,omitempty"`
}

type exit struct {
	Status int  `json:"status"` // of wait(2)
	OOM    bool `json:"oom,omitempty"`
	// Why is what the agent ended it for.
	Why string `json:"why,omitempty"`
}

// Failure is an error on its way to another process: its text, and what errors.Is
// finds in it there.
type Failure struct {
	Text      string        `json:"error"`
	Errno     syscall.Errno `json:"errno,omitempty"`
	NotFrozen bool          `json:"not_frozen,omitempty"`
}

// FailureOf is an error to be sent; nil where there is none.
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

// Seen is what the agent sees of where it is.
type Seen struct {
	// Groups are files of its own control groups and what is in them.
	Groups []record.Setting
	// Process is the security state of the load.
	Process []record.Setting
	// Volume is the file system of the working directory of the load, and its mount
	// options.
	Volume []record.Setting
}

const (
	// beatEvery is how often tare says over a stream that it is there, and has an
	// answer, and lostAfter the silence after which either side is given up.
	beatEvery = 5 * time.Second
	lostAfter = 45 * time.Second
	// joinBound is how long an agent waits for somebody to ask.
	joinBound = 2 * time.Minute
)
