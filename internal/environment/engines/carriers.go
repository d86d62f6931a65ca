package engines

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/cgroup"
)

// carriers are the programs that carry the packets of a rootless container: they are
// part of what it costs, and are beside the load, frozen and counted with the arm.
type carriers struct {
	mu     sync.Mutex
	pids   []int
	called []string
}

// carrying are the names of their binaries.
var carrying = []string{"slirp4netns", "pasta", "pasta.avx2", "rootlessport", "rootlesskit", "docker-proxy"}

// take puts them from the engine's group beside the arm.
func (c *carriers) take(from, beside cgroup.Group) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	pids, err := from.Pids()
	if err != nil {
		return err
	}
	for _, pid := range pids {
		exe, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
		if err != nil || !slices.Contains(carrying, filepath.Base(exe)) {
			continue
		}
		if err := beside.Add(pid); err != nil {
			return err
		}
		c.pids = append(c.pids, pid)
		if name := filepath.Base(exe); !slices.Contains(c.called, name) {
			c.called = append(c.called, name)
		}
	}
	return nil
}

// giveBack puts them back, frozen or not: a daemon whose container has ended asks them
// to close its port, and says that it has ended after they have answered.
func (c *carriers) giveBack(to cgroup.Group) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, pid := range c.pids {
		if err := to.Add(pid); err != nil && !errors.Is(err, unix.ESRCH) {
			errs = append(errs, err)
		}
	}
	c.pids = nil
	return errors.Join(errs...)
}

func (c *carriers) names() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.Sort(c.called)
	return strings.Join(c.called, ", ")
}
