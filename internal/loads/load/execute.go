package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/again"
	"github.com/tarelab/tare/internal/linux/clonetree"
	"github.com/tarelab/tare/internal/linux/memfd"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// Bounds of what a command may write, in bytes: outputFull ends it, and at most
// longestOutput is looked at.
const (
	outputFull    = 64 << 20
	longestOutput = 4 << 20
)

// outputCheck is how often a running command is asked how much it wrote.
const outputCheck = 250 * time.Millisecond

// find finds the program where the command starts.
func (p Executions) find() (string, error) {
	if len(p.Args) == 0 || p.Args[0] == "" {
		return "", errors.New("no command")
	}
	name := p.Args[0]
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		name = filepath.Join(p.Dir, name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w; an arm with a root file system of its own sees what is on the host's root file system, "+
			"and what files=%s copies into its data directory, where the command starts", err, p.Args[0])
	}
	return path, nil
}

// memoryOutput is where a command writes: no disk, no reader that would need
// CPU time meanwhile, and no end to wait for but the command's own.
func memoryOutput() (*os.File, error) {
	f, err := memfd.Create("tare-output", nil)
	if err != nil {
		return nil, err
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFL, unix.O_APPEND); err != nil {
		return nil, errors.Join(fmt.Errorf("make room for the output: %w", err), f.Close())
	}
	return f, nil
}

// CommandEnv is what the names of the variables begin with in the load's environment
// that are the command's alone.
const CommandEnv = "TARE_COMMAND_"

func commandEnviron() []string {
	all := os.Environ()
	for i, v := range all {
		all[i] = strings.TrimPrefix(v, CommandEnv)
	}
	return all
}

// execute executes the command once. It took 0 when it could not be started.
func (w *worker) execute() (took time.Duration, err error) {
	if err := w.out.Truncate(0); err != nil {
		return 0, fmt.Errorf("forget the last output: %w", err)
	}
	began := time.Now()
	p, err := os.StartProcess(w.path, w.Args, &os.ProcAttr{
		Dir: w.Dir, Env: w.env, Files: []*os.File{nothing(), w.out, w.out},
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL},
	})
	if err != nil {
		return 0, fmt.Errorf("start the command: %w", err)
	}
	watch := w.watch(p)
	awaitEnd(p.Pid)
	took = max(time.Since(began), 1)
	why := watch.stop()
	state, err := p.Wait()
	w.reapOthers()
	if err != nil {
		return took, fmt.Errorf("wait for the command: %w", err)
	}
	return took, w.judge(state, why)
}

// awaitEnd returns when a child has ended, and leaves it to be waited for: until
// then its number is nobody else's.
func awaitEnd(pid int) {
	_ = again.Do(func() error { return unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) })
}

// nothing is standard input.
var nothing = sync.OnceValue(func() *os.File {
	f, err := os.Open(os.DevNull)
	if err != nil {
		return os.Stdin
	}
	return f
})

// judge says whether an execution went well, with the last lines of its output
// where not.
func (w *worker) judge(state *os.ProcessState, why error) error {
	ws, _ := state.Sys().(syscall.WaitStatus)
	switch {
	case why != nil:
	case ws.Signaled():
		why = fmt.Errorf("the command was ended by %s", unix.SignalName(ws.Signal()))
	case !slices.Contains(w.Codes, ws.ExitStatus()):
		why = fmt.Errorf("the command ended with exit code %d", ws.ExitStatus())
	default:
		return nil
	}
	out, err := w.output(1 << 16)
	if err != nil {
		return errors.Join(why, err)
	}
	return fmt.Errorf("%w%s", why, LastOf(out))
}

// output is the last bytes of what the command wrote, at most limit.
func (w *worker) output(limit int64) ([]byte, error) {
	st, err := w.out.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the output: %w", err)
	}
	from := max(0, st.Size()-limit)
	b, err := io.ReadAll(io.NewSectionReader(w.out, from, st.Size()-from))
	if err != nil {
		return nil, fmt.Errorf("read the output: %w", err)
	}
	return b, nil
}

// LastOf is the last lines of an output, below an error.
func LastOf(out []byte) string {
	const lines, width = 5, 300
	text := strings.TrimSpace(strings.ToValidUTF8(string(out), "?"))
	if text == "" {
		return " (it wrote nothing)"
	}
	all := strings.Split(text, "\n")
	all = all[max(0, len(all)-lines):]
	for i, l := range all {
		all[i] = l[:min(len(l), width)]
	}
	return ":\n  " + strings.Join(all, "\n  ")
}

// watcher ends a command that must not go on.
type watcher struct {
	w     *worker
	pid   int
	timer *time.Timer
	end   time.Time
	quit  func() bool

	mu   sync.Mutex
	over bool // it has ended
	why  error
}

func (w *worker) watch(p *os.Process) *watcher {
	t := &watcher{w: w, pid: p.Pid, end: time.Now().Add(time.Duration(w.Timeout * float64(time.Second)))}
	t.quit = context.AfterFunc(w.ctx, func() { t.kill(errors.New("told to end")) })
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = time.AfterFunc(min(outputCheck, time.Until(t.end)), t.look)
	return t
}

// look ends a command that takes too long or writes too much.
func (t *watcher) look() {
	if time.Now().After(t.end) {
		t.kill(fmt.Errorf("the command took longer than %v and was ended", time.Duration(t.w.Timeout*float64(time.Second))))
		return
	}
	if st, err := t.w.out.Stat(); err == nil && st.Size() > outputFull {
		t.kill(fmt.Errorf("the command wrote more than %d MiB and was ended; redirect what nobody reads", outputFull>>20))
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.timer.Reset(min(outputCheck, time.Until(t.end)+time.Millisecond))
	}
}

// kill ends the command with all that it started and did not detach.
func (t *watcher) kill(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	t.why = why
	// The group is the command's own, and its leader was not waited for yet.
	_ = unix.Kill(-t.pid, unix.SIGKILL)
}

// stop ends the watch; why says that the command was ended by it.
func (t *watcher) stop() (why error) {
	t.quit()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	t.timer.Stop()
	return t.why
}

// reapOthers waits for what commands left to this process where it is the first
// of its pid namespace: nobody else does. With several workers it cannot tell
// them from commands that run.
func (c *commander) reapOthers() {
	if os.Getpid() != 1 || len(c.workers) > 1 {
		return
	}
	for {
		if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); pid <= 0 || err != nil {
			return
		}
	}
}

// CommandFiles are the parameters of command-prepare.
type CommandFiles struct {
	// Files and directories to copy into Dir.
	Files []string `json:"files"`
	Dir   string   `json:"dir"`
}

// copyFiles copies what a command needs into the data directory.
func copyFiles(_ context.Context, params []byte) error {
	var p CommandFiles
	if err := hidden.Decode(params, &p); err != nil {
		return err
	}
	for _, f := range p.Files {
		if err := clonetree.Copy(filepath.Join(p.Dir, filepath.Base(f)), f); err != nil {
			return err
		}
	}
	return nil
}
