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

// bound is how long a sandbox may take to begin.
const bound = time.Minute

// running is a sandbox: the runsc that waits for it.
type running struct {
	environment.Running
	group   cgroup.Group
	ooms    uint64 // kills in the group before it started
	log     string // what runsc itself has to say
	pidFile string
	done    chan struct{}
	exit    environment.Exit
}

// failed is runsc's exit code for what it could not do itself.
const failed = 128

func (r *running) Done() <-chan struct{}  { return r.done }
func (r *running) Exit() environment.Exit { return r.exit }

// follow waits for the end.
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
					_ = r.Kill() // a sandbox that has just ended is no concern
				}
				before = now
			}
		}
	}()
}

// graceOfOOM is how long a sandbox may take to end by itself, at least, when the kernel has
// ended one of its processes for want of memory. Where that was one which runs the load's
// code, and not the one that waits for it, it never ends.
const graceOfOOM = 2 * time.Second

func (r *running) outOfMemory() bool {
	n, err := r.group.OOMKills()
	return err == nil && n > r.ooms
}

// exitOf reads runsc's exit code, which is the process's own, or 128 and the number of
// the signal that ended it.
func (r *running) exitOf(e environment.Exit) environment.Exit {
	killed := environment.Exit{Code: -1, Signal: unix.SignalName(unix.SIGKILL)}
	if r.outOfMemory() {
		killed.OOM = true
		return killed
	}
	name := unix.SignalName(unix.Signal(e.Code - failed))
	switch {
	case e.Code == failed:
		return environment.Exit{Code: -1, Err: fmt.Errorf("%s: %s", Runtime, r.said())}
	case e.Code > failed && name != "":
		return environment.Exit{Code: -1, Signal: name}
	default:
		return e
	}
}

// said is the last line of runsc's log.
func (r *running) said() string {
	b, _ := os.ReadFile(r.log)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return last
	}
	return "it failed without a word"
}

// begun waits until runsc has made the sandbox, or ended.
func (r *running) begun(ctx context.Context) error {
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
			return fmt.Errorf("%s made no sandbox: %w", Runtime, ctx.Err())
		case <-tick.C:
		}
	}
}

// sandbox is the process that is the kernel.
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

// settings are what the host says of the process that is the kernel.
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
