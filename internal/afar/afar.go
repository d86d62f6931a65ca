// Package afar runs a load where tare is not. This binary is there as an agent,
// the first process of a pod: over a stream it is told to start the load and
// whatever belongs to it, to let the load run for a window, to read its counters,
// to pause it. It ends, and everything there with it, when the stream does. The
// package knows processes, counters and two ends of a stream, and nothing of
// what carries it.
package afar

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/linux/reach"
	"github.com/tarelab/tare/record"
)

// Command is the hidden command as which tare starts itself there.
const Command = "__afar"

// Words after it.
const (
	wordAgent = "agent" // SOCKET [DIR]: the first process
	wordJoin  = "join"  // SOCKET: leads the standard streams to it
	wordFill  = "fill"  // DIR: unpacks what comes in
)

// AgentArgs are the arguments of this binary as an agent, which is asked at the
// socket, and removes a directory before it ends; empty: none.
func AgentArgs(socket, remove string) []string {
	args := []string{Command, wordAgent, socket}
	if remove != "" {
		args = append(args, remove)
	}
	return args
}

// JoinArgs are those of a process whose standard input and output are then the
// stream to the agent.
func JoinArgs(socket string) []string { return []string{Command, wordJoin, socket} }

// FillArgs are those of a process that makes a directory of the archive that
// comes in.
func FillArgs(dir string) []string { return []string{Command, wordFill, dir} }

// Main is the hidden command.
func Main(args []string) int {
	err := errors.New("this command is for tare itself")
	if len(args) > 2 && args[0] == wordAgent {
		err = errors.Join(runAgent(args[1]), os.RemoveAll(args[2]))
	} else if len(args) == 2 {
		switch args[0] {
		case wordAgent:
			err = runAgent(args[1])
		case wordJoin:
			err = join(args[1])
		case wordFill:
			err = fill(os.Stdin, args[1])
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tare:", err)
		return 1
	}
	return 0
}

// request is what the agent is told, as a line of JSON. But for a beat it has a
// number, and exactly one more field.
type request struct {
	Number   int                     `json:"number,omitempty"`
	Start    *start                  `json:"start,omitempty"`
	Kill     int                     `json:"kill,omitempty"` // the process that was started with that number
	Gate     *bool                   `json:"gate,omitempty"`
	Pause    bool                    `json:"pause,omitempty"`
	Measure  *environment.WindowSpec `json:"measure,omitempty"`
	Watch    *watch                  `json:"watch,omitempty"`
	Look     bool                    `json:"look,omitempty"` // for an event with Seen
	Echo     *probeTarget            `json:"echo,omitempty"`
	Probe    *probeTarget            `json:"probe,omitempty"`
	StopEcho bool                    `json:"stop_echo,omitempty"` // for an event with Handshakes
	Try      bool                    `json:"try,omitempty"`       // for an event with Tried
	Stop     *time.Duration          `json:"stop,omitempty"`      // all that was started, within that
	Resume   bool                    `json:"resume,omitempty"`
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
	Env  []string `json:"env,omitempty"` // beside the agent's
	Dir  string   `json:"dir"`
	// Threads is the number of slots of the counters that it inherits as
	// descriptor 3, with a file for facts as descriptor 4; 0: neither.
	Threads int     `json:"threads,omitempty"`
	Bounds  *Bounds `json:"bounds,omitempty"`
}

// event is what the agent says, as a line: the answer to the request of that
// number, or what happened to the process that was started with it.
type event struct {
	Number     int                 `json:"number,omitempty"`
	Failure    string              `json:"failure,omitempty"`
	Now        int64               `json:"now,omitempty"` // CLOCK_MONOTONIC ns, of every answer
	Sample     *environment.Sample `json:"sample,omitempty"`
	Seen       *Seen               `json:"seen,omitempty"`
	Handshakes []reach.Handshake   `json:"handshakes,omitempty"`
	Tried      *trialResult        `json:"tried,omitempty"`
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
	// beatEvery is how often either side says that it is there, and lostAfter the
	// silence after which it is given up.
	beatEvery = 5 * time.Second
	lostAfter = 45 * time.Second
	// joinBound is how long an agent waits for a stream.
	joinBound = 2 * time.Minute
)
