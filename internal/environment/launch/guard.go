package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/tarelab/tare/internal/journal"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// guardWord makes Main take back what a run left when tare has ended without that. An
// engine's container is no child of tare's, a kill of tare's control group ends its
// shims too, and what is frozen stays so: the kernel ends none of them with tare.
const guardWord = "guard"

// guardPipe is a guard's descriptor of a pipe that ends with tare.
const guardPipe = FirstFile

// dying is how long tare may take to be gone after the end of the pipe.
const dying = 30 * time.Second

// guarded is what the pipe says first: whose end it is, in which journal.
type guarded struct{ StateDir, Run string }

// guard waits for the end of the pipe. Another word in it says that tare has done it all
// itself.
func guard() error {
	// Tare ends by these, and then says so or not.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	in := json.NewDecoder(os.NewFile(guardPipe, "pipe"))
	var of guarded
	if err := in.Decode(&of); err != nil {
		return nil // tare ended before it changed anything
	}
	if dismissed := false; in.Decode(&dismissed) == nil {
		return nil
	}
	for end := time.Now().Add(dying); ; time.Sleep(50 * time.Millisecond) {
		_, err := journal.Undo(of.StateDir, of.Run)
		if !errors.Is(err, journal.ErrLive) || time.Now().After(end) {
			return err // what could not be taken back stays in the journal, for tare cleanup
		}
	}
}

// Guard takes back what a run left, however tare ends.
type Guard struct {
	// Inside is why a kill of tare's whole control group would end the guard too; nil:
	// it would not.
	Inside error

	pipe *os.File
	cmd  *exec.Cmd
}

// NewGuard starts the guard of a run that has its journal in stateDir. As root it is in
// no control group of tare's; groups may be nil.
func NewGuard(stateDir, run string, groups *cgroup.Tree) (*Guard, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	defer r.Close()
	cmd := exec.Command(selfPath, InitCommand, guardWord, "")
	cmd.Args[0] = "tare"
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{r}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // neither Ctrl-C nor a terminal that goes is for it
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, fmt.Errorf("start this binary: %w", err)
	}
	g := &Guard{pipe: w, cmd: cmd, Inside: errors.New("only root can take it out")}
	if err := json.NewEncoder(w).Encode(guarded{stateDir, run}); err != nil {
		g.Dismiss()
		return nil, fmt.Errorf("tell the guard its run: %w", err)
	}
	if groups != nil && os.Geteuid() == 0 {
		g.Inside = groups.Leave(cmd.Process.Pid)
	}
	return g, nil
}

// Dismiss ends the guard: everything is taken back, or stays for tare cleanup.
func (g *Guard) Dismiss() {
	_ = json.NewEncoder(g.pipe).Encode(true) // somebody may have killed it
	_ = g.pipe.Close()
	_ = g.cmd.Wait()
}
