// Package nodes runs tare on the nodes of a cluster from another machine, through the
// node helper: a privileged pod into which tare copies its own binary. From there tare
// enters the namespaces of the node's host and runs as if an administrator had started
// it on the node. Progress and result come back over the stream of pods/exec; nothing
// is left on the node. The package must not know what is measured.
package nodes

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tarelab/tare/internal/outside/kube"
)

// Command is the hidden command as which tare starts itself in the helper's pod and on
// the node.
const Command = kube.HelperCommand

// The roles of Command are its first argument.
const (
	roleEnter = kube.HelperEnter // in the pod: enters the host's namespaces and becomes roleHost
	roleHost  = "host"           // on the host: does a task and restores the node
	roleTare  = "tare"           // on the host: the ordinary command line
)

// The tasks of roleHost.
const (
	taskRun   = "run"          // reads an order from standard input and runs it
	taskAwait = kube.TaskAwait // waits until the node is restored
)

// order is what the client asks for: the first line of the helper's standard input, as
// JSON.
type order struct {
	Run     string // of the client; the helper's namespace is called after it
	NodeRun string // of the journal on the node
	Node    string
	Image   string // of the helper
	Kubelet string // version
	Runtime string // container runtime and its version
	// Args are the arguments of tare run, Files the files that they name, by base name.
	Args  []string
	Files map[string][]byte
	// Command repeats the run; tare on the node adds the seed.
	Command  []string
	Dir      string      // of the result, on the client's machine
	Server   kube.Server // API server as the client reaches it
	Deadline time.Duration
}

// After its order the client sends single bytes. Silence for lostAfter and the end of
// the input both mean that the client is lost.
const (
	beat      = '.'
	interrupt = 'i'
)

const (
	beatEvery = 5 * time.Second
	lostAfter = 45 * time.Second
)

// codeUnsent is the exit code of taskRun when the result was not sent as a whole: nothing
// of it may be used. Other codes are those of tare on the node.
const codeUnsent = 125

// About tells tare on a node how it got there, for the manifest and the report.
type About struct {
	Node       string   `json:"node"`
	Image      string   `json:"image"`
	Namespaces string   `json:"namespaces"`
	Cgroup     string   `json:"cgroup"`
	OOM        int      `json:"oom_score_adj"`
	Kubelet    string   `json:"kubelet"`
	Runtime    string   `json:"runtime"`
	Command    []string `json:"command"`
	Dir        string   `json:"dir"` // of the result, on the client's machine
}

// ReadAbout reads the file that the helper wrote.
func ReadAbout(file string) (a About, err error) {
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &a)
	}
	if err != nil {
		err = fmt.Errorf("read how the node helper started this run: %w", err)
	}
	return a, err
}

// Main is the hidden command; tare is the ordinary command line.
func Main(args []string, tare func(args []string) int) int {
	if len(args) == 0 {
		args = []string{""}
	}
	var err error
	code := 1
	switch args[0] {
	case roleTare:
		return tare(args[1:])
	case roleEnter:
		err = toHost(args[1:])
	case roleHost:
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
