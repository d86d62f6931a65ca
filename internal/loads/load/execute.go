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

// A command that writes more than maxOutput bytes is killed. The value is searched in the last maxRead
// bytes.
const (
	maxOutput = 64 << 20
	maxRead   = 4 << 20
)

// outputCheck is the interval between two checks of a running command's output size.
const outputCheck = 250 * time.Millisecond

// find returns the path of the program.
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

// memoryOutput makes a memfd for the output of a command. It needs no disk, and no reader that takes
// CPU time. A pipe would have to be read until the last child of the command closes it.
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

// CommandEnv is the prefix of variables for the command in the load's environment. The command gets
// them without the prefix.
const CommandEnv = "TARE_COMMAND_"

func commandEnviron() []string {
	all := os.Environ()
	for i, v := range all {
		all[i] = strings.TrimPrefix(v, CommandEnv)
	}
	return all
}

// execute executes the command once and returns its duration, 0 if it could not be started.
func (w *worker) execute() (took time.Duration, err error) {
	if err := w.out.Truncate(0); err != nil {
		return 0, fmt.Errorf("clear the last output: %w", err)
	}
	began := time.Now()
	p, err := os.StartProcess(w.path, w.Args, &os.ProcAttr{
		Dir: w.Dir, Env: w.env, Files: []*os.File{devNull(), w.out, w.out},
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
	return took, w.exitError(state, why)
}

// awaitEnd returns when a child has ended and does not reap it, so that the kernel cannot give its
// pid to another process.
func awaitEnd(pid int) {
	_ = again.Do(func() error { return unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) })
}

// devNull is /dev/null, the standard input of commands.
var devNull = sync.OnceValue(func() *os.File {
	f, err := os.Open(os.DevNull)
	if err != nil {
		return os.Stdin
	}
	return f
})

// exitError returns the error of an execution with the last lines of its output, nil if it succeeded.
// why is the reason for which the watcher killed the command, if it did.
func (w *worker) exitError(state *os.ProcessState, why error) error {
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
	return fmt.Errorf("%w%s", why, LastLines(out))
}

// output returns the last bytes of the command's output, at most limit.
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

// LastLines returns the last lines of an output, indented to follow an error message.
func LastLines(out []byte) string {
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

// watcher kills a command at its timeout, when it writes too much, and at SIGTERM.
type watcher struct {
	w     *worker
	pid   int
	timer *time.Timer
	end   time.Time
	quit  func() bool // ends the wait for SIGTERM

	mu   sync.Mutex
	over bool  // the command has ended
	why  error // reason of the kill
}

func (w *worker) watch(p *os.Process) *watcher {
	t := &watcher{w: w, pid: p.Pid, end: time.Now().Add(time.Duration(w.Timeout * float64(time.Second)))}
	t.quit = context.AfterFunc(w.ctx, func() { t.kill(errors.New("told to end")) })
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = time.AfterFunc(min(outputCheck, time.Until(t.end)), t.check)
	return t
}

// check kills the command if it takes too long or writes too much, else it sets the next check.
func (t *watcher) check() {
	if time.Now().After(t.end) {
		t.kill(fmt.Errorf("the command took longer than %v and was ended", time.Duration(t.w.Timeout*float64(time.Second))))
		return
	}
	if st, err := t.w.out.Stat(); err == nil && st.Size() > maxOutput {
		t.kill(fmt.Errorf("the command wrote more than %d MiB and was ended; redirect what nobody reads", maxOutput>>20))
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.timer.Reset(min(outputCheck, time.Until(t.end)+time.Millisecond))
	}
}

// kill kills the process group of the command.
func (t *watcher) kill(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	t.why = why
	// The group's id is still the command's: its leader has not been reaped.
	_ = unix.Kill(-t.pid, unix.SIGKILL)
}

// stop ends the watch and returns why the watcher killed the command, nil if it did not.
func (t *watcher) stop() (why error) {
	t.quit()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	t.timer.Stop()
	return t.why
}

// reapOthers reaps orphans of the command if this process is process 1 of its pid namespace. With
// several workers it does not: it could reap the command of another worker.
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
	// Files are files and directories that are copied into Dir.
	Files []string `json:"files"`
	Dir   string   `json:"dir"`
}

// copyFiles copies the files that a command needs into the data directory.
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
