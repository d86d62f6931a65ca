package gvisor

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/record"
)

// bound is how long runsc may take to make a sandbox.
const bound = time.Minute

// running is a runsc process that waits for its sandbox.
type running struct {
	environment.Running
	group   cgroup.Group
	ooms    uint64 // out-of-memory kills in the group before it started
	log     string // file with the messages of runsc
	pidFile string // has the pid of the sentry
	done    chan struct{}
	exit    environment.Exit
}

// failed is runsc's exit code for its own errors.
const failed = 128

func (r *running) Done() <-chan struct{}  { return r.done }
func (r *running) Exit() environment.Exit { return r.exit }

// follow waits for the end, and ends a sandbox that is out of memory and does not end itself.
func (r *running) follow() {
	r.done = make(chan struct{})
	go func() {
		defer close(r.done)
		tick := time.NewTicker(graceOfOOM)
		defer tick.Stop()
		for before := false; ; {
			select {
			case <-r.Running.Done():
				r.exit = r.exitOf(r.Running.Exit())
				return
			case <-tick.C:
				now := r.outOfMemory()
				if before && now {
					_ = r.Kill() // an error means that the sandbox has ended
				}
				before = now
			}
		}
	}()
}

// graceOfOOM is how long, at least, a sandbox may take to end after an out-of-memory kill. It never
// ends by itself if the kernel killed the process that runs the load's code instead of the sentry.
const graceOfOOM = 2 * time.Second

// outOfMemory says whether the kernel killed a process of the group for memory.
func (r *running) outOfMemory() bool {
	n, err := r.group.OOMKills()
	return err == nil && n > r.ooms
}

// exitOf interprets runsc's exit code: the code of the process, or 128 plus the number of the signal
// that ended it.
func (r *running) exitOf(e environment.Exit) environment.Exit {
	killed := environment.Exit{Code: -1, Signal: unix.SignalName(unix.SIGKILL)}
	if r.outOfMemory() {
		killed.OOM = true
		return killed
	}
	name := unix.SignalName(unix.Signal(e.Code - failed))
	switch {
	case e.Code == failed:
		return environment.Exit{Code: -1, Err: fmt.Errorf("%s: %s", runtime, r.lastMessage())}
	case e.Code > failed && name != "":
		return environment.Exit{Code: -1, Signal: name}
	default:
		return e
	}
}

// lastMessage is the last line of runsc's log.
func (r *running) lastMessage() string {
	b, _ := os.ReadFile(r.log)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return last
	}
	return "it failed without a word"
}

// awaitSandbox waits until runsc has made the sandbox, or has ended.
func (r *running) awaitSandbox(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := r.sandbox(); err == nil {
			return nil
		}
		select {
		case <-r.done:
			return r.exit.Err
		case <-ctx.Done():
			return fmt.Errorf("%s made no sandbox: %w", runtime, ctx.Err())
		case <-tick.C:
		}
	}
}

// sandbox is the pid of the sentry.
func (r *running) sandbox() (int, error) {
	b, err := os.ReadFile(r.pidFile)
	if err != nil {
		return 0, fmt.Errorf("find the sandbox: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0, fmt.Errorf("find the sandbox: %s says %q", r.pidFile, b)
	}
	return pid, nil
}

// settings are the namespaces of the sentry.
func (r *running) settings() ([]record.Setting, error) {
	pid, err := r.sandbox()
	if err != nil {
		return nil, err
	}
	var all []record.Setting
	for _, ns := range []string{"mnt", "pid", "net", "user"} {
		its, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, ns))
		if err != nil {
			return all, fmt.Errorf("read back the sandbox's %s namespace: %w", ns, err)
		}
		mine, err := os.Readlink("/proc/thread-self/ns/" + ns)
		if err != nil {
			return all, fmt.Errorf("read back the %s namespace: %w", ns, err)
		}
		got := "own"
		if its == mine {
			got = "host's"
		}
		all = append(all, record.Setting{Name: "sandbox.namespace." + ns, Got: got})
	}
	return all, nil
}
