package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/arms/agent"
	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// Agent is the connection to the agent, the first process of a pod, on this node.
type Agent struct {
	*agent.Link
	Pid   int    // in this host's pid namespace
	Procs string // file cgroup.procs of the agent's container
}

// StartByAgent lets the agent start a child in group, and returns when the child executes the
// load. The child gets its Request over a socket, as in any arm. Memory of the child is
// accounted in c.Group, the group of the container.
func (g *Sandbox) StartByAgent(ctx context.Context, a Agent, c Child, group cgroup.Group) (environment.Running, error) {
	if err := errors.Join(g.Open(), ctx.Err()); err != nil {
		return nil, err
	}
	parent, child, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	started, pid, err := a.startChild(ctx, c, child)
	child.Close()
	if err != nil {
		return nil, err
	}
	p, err := openProcess(pid, c.Group)
	if err != nil {
		return nil, err
	}
	go a.await(p, started)
	stop := context.AfterFunc(ctx, func() { parent.Close() })
	err = instructChild(p, c, group, parent)
	if !stop() {
		err = errors.Join(ctx.Err(), err)
	}
	if err != nil {
		err = errors.Join(err, p.Kill())
		<-p.done
		return nil, err
	}
	return p, g.track(p)
}

// startChild lets the agent start a child and returns its pid on this host.
func (a Agent) startChild(ctx context.Context, c Child, socket *os.File) (*agent.Process, int, error) {
	log, err := c.log()
	if err != nil {
		return nil, 0, err
	}
	defer log.Close()
	args := []string{InitCommand, strconv.Itoa(FirstFile + len(c.Files))}
	p, inside, err := a.StartWith(ctx, args, environ(), append(append([]*os.File{log}, c.Files...), socket)...)
	if err != nil {
		return nil, 0, err
	}
	pid, err := a.hostPid(inside)
	return p, pid, err
}

// hostPid is the pid on this host of the process that has the pid inside in the pod. The process
// waits for its Request, so it exists.
func (a Agent) hostPid(inside int) (int, error) {
	b, err := os.ReadFile(a.Procs)
	if err != nil {
		return 0, fmt.Errorf("find the pod's process: %w", err)
	}
	for _, word := range strings.Fields(string(b)) {
		pid, _ := strconv.Atoi(word)
		status, err := statusOf(pid)
		if err != nil {
			continue // it has ended
		}
		numbers := strings.Fields(status["NSpid"])
		if len(numbers) > 0 && numbers[len(numbers)-1] == strconv.Itoa(inside) && status["PPid"] == strconv.Itoa(a.Pid) {
			return pid, nil
		}
	}
	return 0, fmt.Errorf("find the pod's process: no child of process %d has pid %d in the pod", a.Pid, inside)
}

// instructChild moves the child into its group and sends its Request. It returns when the child
// executes the load.
func instructChild(p *Process, c Child, group cgroup.Group, parent *net.UnixConn) error {
	if len(group.Dirs) > 0 {
		if err := group.Add(p.pid); err != nil {
			return err
		}
		if err := membershipOf(group).check(strconv.Itoa(p.pid)); err != nil {
			return err
		}
	}
	r := c.Request
	r.Files = len(c.Files)
	return sendRequest(parent, r)
}

// await waits until the child has ended. When the agent ends, the kernel ends the child, but only
// after a thaw.
func (a Agent) await(p *Process, started *agent.Process) {
	select {
	case <-started.Done():
	case <-a.Over():
	}
	for end := time.Now().Add(reapBound); !p.ended(time.Second) && time.Now().Before(end); {
		thaw(p.group)
	}
	p.end(func() environment.Exit {
		if p.killed && a.isOver() { // the kill ended the whole container; the pod has no fault
			return environment.Exit{Code: -1, Signal: "SIGKILL"}
		}
		<-started.Done()
		return started.Exit()
	})
}

func (a Agent) isOver() bool {
	select {
	case <-a.Over():
		return true
	default:
		return false
	}
}
