package nodes

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
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
	"github.com/tarelab/tare/internal/linux/oom"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
)

// host looks after tare on the node: it has left the pod but for the pod's
// network, and lives as long as what it looks after.
type host struct {
	order
	about      About
	journal    *journal.Journal
	undo       journal.UndoStack
	dir        string // everything of it on the node
	tree       *cgroup.Tree
	group      cgroup.Group // of tare, beside those of the pods
	kubeconfig string       // empty: the cluster is not reached from here
	cluster    *kube.Cluster
	exe        *os.File
	token, ca  []byte
}

const selfPath = "/proc/self/exe"

// dirOf is where things are on the node.
func dirOf(nodeRun string) string {
	return filepath.Join(journal.StateDir(), journal.Prefix+nodeRun)
}

// onHost is what follows enter: whose namespaces these are, the descriptors of
// this binary, the token and the CA, and what is to be done.
func onHost(args []string) (code int, err error) {
	if len(args) < 5 {
		return 1, errors.New("this command is for tare itself")
	}
	runtime.LockOSThread() // tare ends with the thread that started it
	// A client that is gone must not end this process.
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
	if args[4] == wordCollect && len(args) == 6 {
		return 0, collect(os.Stdout, dirOf(args[5]), h.token)
	}
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &h.order)
	}
	if err != nil {
		return 1, fmt.Errorf("read what to do: %w", err)
	}
	return h.run(listen(in))
}

// run does all, and takes back what it changed.
func (h *host) run(c *client) (code int, err error) {
	h.cleanup() // of what was killed earlier
	if h.journal, err = journal.Open(journal.StateDir(), h.NodeRun); err != nil {
		return 1, err
	}
	code = 1
	err = h.prepare()
	if err == nil {
		code, err = h.tare(c)
	}
	if code != 0 {
		h.cleanup()
	}
	kept := false
	if c.lost() {
		var backErr error
		if kept, backErr = h.await(c, os.Stdout); backErr != nil {
			code, err = 1, errors.Join(err, backErr)
		}
	} else if err == nil {
		err = writeRecord(os.Stdout, h.resultDir())
	}
	if kept && code != 0 {
		h.cleanup() // once more, with the token of who came
	}
	err = errors.Join(err, h.remove())
	if c.lost() && !kept {
		h.leaveCluster()
	}
	return code, err
}

func (h *host) resultDir() string { return filepath.Join(h.dir, "result") }

// filesDir is where tare runs on the node, with the files of the order.
const filesDir = "files"

// prepare makes everything that tare needs on the node.
func (h *host) prepare() error {
	h.dir = dirOf(h.NodeRun)
	if err := h.undo.Record(h.journal, steps.Directory{Path: h.dir}, func() error { return steps.RemoveDirectory(h.dir) }); err != nil {
		return err
	}
	if err := os.Mkdir(h.dir, 0o700); err != nil {
		return fmt.Errorf("make a directory on the node: %w", err)
	}
	if err := h.copySelf(); err != nil {
		return fmt.Errorf("copy this binary to the node: %w", err)
	}
	if err := os.Mkdir(h.in(filesDir), 0o700); err != nil {
		return err
	}
	for name, text := range h.Files {
		if err := os.WriteFile(filepath.Join(h.in(filesDir), filepath.Base(name)), text, 0o600); err != nil {
			return err
		}
	}
	if err := h.leavePod(); err != nil {
		return err
	}
	h.reach()
	h.about.Node, h.about.Image, h.about.Command, h.about.Dir = h.Node, h.Image, h.Command, h.Dir
	h.about.Kubelet, h.about.Runtime = h.Kubelet, h.Runtime
	h.about.Cgroup = "/" + h.group.Path
	var err error
	if h.about.OOM, err = ordinaryOOM(); err != nil {
		return err
	}
	b, err := json.Marshal(h.about)
	if err == nil {
		err = os.WriteFile(h.in("about.json"), b, 0o600)
	}
	return err
}

func (h *host) in(name string) string { return filepath.Join(h.dir, name) }

func (h *host) copySelf() error {
	f, err := os.OpenFile(h.in("tare"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, h.exe)
	return errors.Join(err, f.Close(), h.exe.Close())
}

// leavePod moves this process out of the groups of the pod, or all would be
// measured under the pod's limits: to the top of every hierarchy, and into a
// group of its own without controllers where version 2, or the freezer, is. One
// with the cpu controller of version 1 would take the controller's real-time turn.
func (h *host) leavePod() (err error) {
	if h.tree, err = cgroup.Detect("/"); err != nil {
		return err
	}
	name := cgroup.Prefix + h.NodeRun
	plan, err := h.tree.Plan(name, nil)
	if err == nil {
		err = h.undo.Record(h.journal, steps.Group{Plan: plan}, func() error { return h.group.Remove() })
	}
	if err == nil {
		h.group, err = h.tree.Make(name, nil)
	}
	if err == nil {
		err = h.tree.Leave(os.Getpid())
	}
	if err == nil {
		err = h.group.Add(os.Getpid())
	}
	if err == nil {
		err = outside()
	}
	if err != nil {
		return fmt.Errorf("leave the control groups of the pod: %w", err)
	}
	return nil
}

// outside reads back that no group of this process is a pod's.
func outside() error {
	b, err := os.ReadFile("/proc/self/cgroup")
	if err == nil && strings.Contains(string(b), "kubepods") {
		err = fmt.Errorf("still in one:\n%s", b)
	}
	return err
}

// ordinaryOOM gives this process the chances of an ordinary one when memory runs
// out, where it may, and returns what it has.
func ordinaryOOM() (int, error) {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("0"), 0)
	return oom.Score()
}

// reachBound is how long one way to the API server may take.
const reachBound = 5 * time.Second

// reach finds the API server from here: where the client finds it, or where the
// cluster's own pods do. Without it there are no arms in pods.
func (h *host) reach() {
	token, file := h.in(tokenFile), h.in("kubeconfig")
	if err := os.WriteFile(token, h.token, 0o600); err != nil {
		fmt.Fprintln(os.Stderr, "tare: node helper:", err)
		return
	}
	ways := []kube.Server{h.Server}
	if name, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"); name != "" {
		ways = append(ways, kube.Server{URL: "https://" + net.JoinHostPort(name, port), CA: h.ca})
	}
	var errs []error
	for _, way := range ways {
		err := kube.WriteKubeconfig(file, way, token)
		if err == nil {
			h.cluster, err = answering(file, h.Run)
		}
		if err == nil {
			h.kubeconfig = file
			return
		}
		errs = append(errs, err)
	}
	fmt.Fprintf(os.Stderr, "tare: node helper: the API server is not reached from node %s, so there are no arms in pods: %v\n", h.Node, errors.Join(errs...))
}

// answering is a cluster that has answered once, about the helper of a run.
func answering(kubeconfig, run string) (*kube.Cluster, error) {
	ctx, cancel := context.WithTimeout(context.Background(), reachBound)
	defer cancel()
	c, err := kube.Access{Kubeconfig: kubeconfig}.Connect()
	if err != nil {
		return nil, err
	}
	if err = c.Helps(ctx, run); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// command is tare on the node, outside of this process's group when it has
// started.
func (h *host) command(args ...string) *exec.Cmd {
	cmd := exec.Command(h.in("tare"), append([]string{Command, wordTare}, args...)...)
	cmd.Dir, cmd.Env = h.in(filesDir), append(os.Environ(), "XDG_CACHE_HOME="+h.in("cache"))
	cmd.Stderr = lossy{os.Stderr}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: true}
	return cmd
}

// lossy goes on when nobody reads any more.
type lossy struct{ io.Writer }

func (l lossy) Write(b []byte) (int, error) {
	_, _ = l.Writer.Write(b)
	return len(b), nil
}

// tare runs what was asked for, and returns its exit code.
func (h *host) tare(c *client) (int, error) {
	args := append([]string{"run"}, h.Args...)
	args = append(args, "--node-about="+h.in("about.json"), "-o", h.resultDir())
	if h.kubeconfig != "" {
		args = append(args, "--kubeconfig="+h.kubeconfig)
	}
	cmd := h.command(args...)
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("start tare on the node: %w", err)
	}
	// It must not be ended with the group at the end.
	stepErr := h.tree.Leave(os.Getpid())
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
	return max(code, 0), errors.Join(err, stepErr)
}

// killAfter is how long tare may take to end when its client is lost.
const killAfter = 2 * time.Minute

// attend passes on what the client says until tare ends.
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

// cleanup does what the journals of killed runs on this node say. It leaves
// alone what goes on.
func (h *host) cleanup() {
	cmd := exec.Command(selfPath, Command, wordTare, "cleanup")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	if text := strings.TrimSpace(string(out)); err != nil {
		fmt.Fprintf(os.Stderr, "tare: node helper: tare cleanup on node %s: %v\n%s\n", h.Node, err, text)
	}
}

// remove takes everything back.
func (h *host) remove() error {
	if h.tree != nil {
		_ = h.tree.Leave(os.Getpid()) // when tare was never started
	}
	if err := h.undo.Undo(); err != nil {
		err = hint.New(fmt.Errorf("clean up node %s: %w", h.Node, err), "tare cleanup on that node; the next run with --node-helper does it too")
		return errors.Join(err, h.journal.Close())
	}
	return h.journal.Close()
}

// leaveBound is how long the cluster may take to forget the helper.
const leaveBound = time.Minute

// leaveCluster removes the helper of a client that is lost, and this process's
// pod with it. What fails is left to the client's tare cleanup.
func (h *host) leaveCluster() {
	if h.cluster == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveBound)
	defer cancel()
	_ = h.cluster.DeleteNamespace(ctx, kube.NamespaceOf(h.Run), h.Run)
}
