package nodes

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/undo/journal"
)

// host runs tare on the node and restores the node. Its process has left all namespaces of the
// pod except the network, and lives as long as tare.
type host struct {
	order
	about      About
	journal    *journal.Journal
	undo       journal.UndoStack
	dir        string // on the node, with all files that the helper writes there but the journal
	tree       *cgroup.Tree
	group      cgroup.Group // tare's own, beside the cgroups of the pods
	kubeconfig string       // empty: the API server is not reached from the node
	cluster    *kube.Cluster
	exe        *os.File
	token, ca  []byte // of the helper's service account
}

const selfPath = "/proc/self/exe"

// dirOf is the directory of a run on the node.
func dirOf(nodeRun string) string {
	return filepath.Join(journal.StateDir(), journal.Prefix+nodeRun)
}

// onHost runs the role roleHost. Its arguments are the name of the process whose namespaces it
// has entered, the descriptors of this binary, of the token and of the CA, and its task.
func onHost(args []string) (code int, err error) {
	if len(args) < 5 {
		return 1, errors.New("this command is for tare itself")
	}
	runtime.LockOSThread() // Pdeathsig fires when the thread ends that forked
	// A lost client must not end this process.
	signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP)
	var files [3]*os.File
	for i := range files {
		fd, err := strconv.Atoi(args[i+1])
		if err != nil {
			return 1, err
		}
		files[i] = os.NewFile(uintptr(fd), "inherited")
	}
	h := &host{exe: files[0], about: About{Namespaces: args[0]}}
	for i, to := range []*[]byte{&h.token, &h.ca} {
		if *to, err = io.ReadAll(files[i+1]); err != nil {
			return 1, fmt.Errorf("read the service account: %w", err)
		}
	}
	if args[4] == taskAwait && len(args) == 6 {
		awaitGone(dirOf(args[5]))
		return 0, nil
	}
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &h.order)
	}
	if err != nil {
		return 1, fmt.Errorf("read the order: %w", err)
	}
	return h.run(listen(in))
}

// awaitGone waits for the end of a run's directory, which is removed last when the node
// is restored. The caller bounds the time.
func awaitGone(dir string) {
	for {
		if _, err := os.Stat(dir); err != nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// errLost is for a client that was silent for too long and then reads again: it says why there is
// no result.
var errLost = fmt.Errorf("nothing was heard of the client for %v, so the run was ended", lostAfter)

// run runs tare, sends the result to the client and restores the node. If the client is lost, run
// also removes the helper from the cluster.
func (h *host) run(c *client) (code int, err error) {
	h.cleanup() // after helpers that were killed earlier
	if h.journal, err = journal.Open(journal.StateDir(), h.NodeRun); err != nil {
		return 1, err
	}
	code = 1
	err = h.prepare()
	if err == nil {
		code, err = h.tare(c)
	}
	if code != 0 {
		h.cleanup() // after tare, should it have been killed
	}
	if err == nil {
		if err = h.send(c); err != nil {
			code = codeUnsent
		}
	}
	err = errors.Join(err, h.remove())
	if c.lost() {
		h.removeHelper()
	}
	return code, err
}

// send sends the result to a client that is not lost.
func (h *host) send(c *client) error {
	if c.lost() {
		return errLost
	}
	sent := make(chan error, 1)
	go func() { sent <- writeRecord(os.Stdout, h.resultDir()) }()
	select {
	case err := <-sent:
		return err
	case <-c.gone: // while the kubelet is stopped, the write blocks
		return errLost
	}
}

func (h *host) resultDir() string { return h.in("result") }

func (h *host) in(name string) string { return filepath.Join(h.dir, name) }

// command runs tare's copy on the node with these arguments.
func (h *host) command(args ...string) *exec.Cmd {
	cmd := exec.Command(h.in("tare"), append([]string{Command, roleTare}, args...)...)
	cmd.Dir, cmd.Env = h.in(filesDir), append(os.Environ(), "XDG_CACHE_HOME="+h.in("cache"))
	cmd.Stderr = lossy{os.Stderr}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: true}
	return cmd
}

// lossy drops output that nobody reads any more, instead of failing the writer.
type lossy struct{ io.Writer }

func (l lossy) Write(b []byte) (int, error) {
	_, _ = l.Writer.Write(b)
	return len(b), nil
}

// tare runs tare on the node and returns its exit code.
func (h *host) tare(c *client) (int, error) {
	args := append([]string{"run"}, h.Args...)
	args = append(args, "--node-about="+h.in(aboutFile), "-o", h.resultDir())
	if h.kubeconfig != "" {
		args = append(args, "--kubeconfig="+h.kubeconfig)
	}
	cmd := h.command(args...)
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("start tare on the node: %w", err)
	}
	// At the end tare kills all processes in its cgroup; this process must not be among them.
	leaveErr := h.tree.Leave(os.Getpid())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	err := h.attend(cmd, c, done)
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		err = nil
	}
	code := cmd.ProcessState.ExitCode()
	if code < 0 {
		err = errors.Join(err, fmt.Errorf("tare on the node: %s", cmd.ProcessState))
	}
	return max(code, 0), errors.Join(err, leaveErr)
}

// killAfter is how long tare may take to end after SIGTERM.
const killAfter = 2 * time.Minute

// attend waits for the end of tare. It passes interrupts on, and ends tare when the
// client is lost or the deadline has passed.
func (h *host) attend(cmd *exec.Cmd, c *client, done <-chan error) error {
	deadline := time.NewTimer(h.Deadline)
	defer deadline.Stop()
	var kill <-chan time.Time
	end := func(why string) {
		fmt.Fprintln(os.Stderr, "tare: node helper:", why)
		_ = cmd.Process.Signal(syscall.SIGTERM)
		kill = time.After(killAfter)
	}
	gone := c.gone
	for {
		select {
		case err := <-done:
			return err
		case <-c.interrupts:
			_ = cmd.Process.Signal(syscall.SIGINT)
		case <-gone:
			gone = nil
			end("the client is lost")
		case <-deadline.C:
			end(fmt.Sprintf("ended after %v", h.Deadline))
		case <-kill:
			_ = cmd.Process.Kill()
		}
	}
}

// cleanup runs tare cleanup on this node, which undoes the journals of killed runs. It does not
// touch runs that still go on.
func (h *host) cleanup() {
	cmd := exec.Command(selfPath, Command, roleTare, "cleanup")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	const busy = 7 // another run goes on here
	out, err := cmd.CombinedOutput()
	if text := strings.TrimSpace(string(out)); err != nil && cmd.ProcessState.ExitCode() != busy {
		fmt.Fprintf(os.Stderr, "tare: node helper: tare cleanup on node %s: %v\n%s\n", h.Node, err, text)
	}
}

// remove undoes everything that prepare did on the node.
func (h *host) remove() error {
	if h.tree != nil {
		_ = h.tree.Leave(os.Getpid()) // this process is in the group if tare was never started
	}
	if err := h.undo.Undo(); err != nil {
		err = hint.New(fmt.Errorf("clean up node %s: %w", h.Node, err), "tare cleanup on that node; the next run with --node-helper does it too")
		return errors.Join(err, h.journal.Close())
	}
	return h.journal.Close()
}

// clusterBound is how long the cluster may take to remove the helper of a lost client.
const clusterBound = time.Minute

// removeHelper removes the helper's namespace, and this process's pod with it. On errors
// the client's tare cleanup does it.
func (h *host) removeHelper() {
	if h.cluster == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), clusterBound)
	defer cancel()
	_ = h.cluster.DeleteNamespace(ctx, kube.NamespaceOf(h.Run), h.Run)
}
