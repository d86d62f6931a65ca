// Package nodes runs tare on nodes of a cluster from outside, through the node
// helper: a privileged pod into which this very binary is copied, and from which
// it enters the namespaces of the node's host. There tare runs as if somebody had
// started it on the node; what it prints and its record come back, and nothing is
// left. The package knows how to get there and nothing of what is measured.
package nodes

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tarelab/tare/internal/outside/kube"
)

// Command is the hidden command as which tare starts itself in the helper.
const Command = kube.HelperCommand

// Words after it.
const (
	wordEnter   = "enter" // from the helper's pod into the host
	wordHost    = "host"  // there: what was asked for
	wordTare    = "tare"  // the command line
	wordRun     = "run"
	wordCollect = kube.WordCollect
)

// order is what the client asks for, the first line of the standard input.
type order struct {
	Run     string // of the client: its namespace is called after it
	NodeRun string // of the node's own journal
	Node    string
	Image   string // of the helper
	Kubelet string // its version
	Runtime string // that of containers, likewise
	// Args are those of tare run, Files what they name, by base name.
	Args  []string
	Files map[string][]byte
	// Command repeats the run; the seed is added on the node.
	Command  []string
	Dir      string      // where the client will have the record
	Server   kube.Server // where the client finds the cluster
	Deadline time.Duration
}

// The words of the client after its order, a byte each. Silence and the end of
// the input both mean that the client is lost.
const (
	beat      = '.'
	interrupt = 'i'
)

const (
	beatEvery = 5 * time.Second
	lostAfter = 45 * time.Second
)

// About is what tare on a node is told of how it came there.
type About struct {
	Node       string   `json:"node"`
	Image      string   `json:"image"`
	Namespaces string   `json:"namespaces"`
	Cgroup     string   `json:"cgroup"`
	OOM        int      `json:"oom_score_adj"`
	Kubelet    string   `json:"kubelet"`
	Runtime    string   `json:"runtime"`
	Command    []string `json:"command"`
	Dir        string   `json:"dir"` // of the record, in the end
}

// ReadAbout reads what the helper wrote.
func ReadAbout(file string) (a About, err error) {
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &a)
	}
	if err != nil {
		err = fmt.Errorf("read what the node helper says: %w", err)
	}
	return a, err
}

// Main is the hidden command; tare is the command line.
func Main(args []string, tare func(args []string) int) int {
	if len(args) == 0 {
		args = []string{""}
	}
	var err error
	code := 1
	switch args[0] {
	case wordTare:
		return tare(args[1:])
	case wordEnter:
		err = enter(args[1:])
	case wordHost:
		code, err = onHost(args[1:])
	default:
		err = errors.New("this command is for tare itself")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tare: node helper:", err)
		return max(code, 1)
	}
	return code
}
