package launch

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/namespace"
	"github.com/tarelab/tare/internal/linux/oom"
)

// The user that a neighbour runs as: nobody and nogroup.
const (
	NobodyUID = 65534
	NobodyGID = 65534
)

// Nobody makes a child an ordinary user without privileges.
type Nobody struct {
	UID, GID int // 0: unchanged, when tare itself runs as an ordinary user
	// CPU is the CPU time in seconds after which the kernel kills the process.
	CPU uint64
}

// AsNobody is Nobody with a limit of CPU time.
func AsNobody(time time.Duration) *Nobody {
	n := &Nobody{CPU: uint64(time.Seconds())}
	if os.Geteuid() == 0 {
		n.UID, n.GID = NobodyUID, NobodyGID
	}
	return n
}

// nobody makes the child an ordinary user. Open descriptors stay open.
func nobody(n *Nobody) error {
	if n == nil {
		return nil
	}
	// The neighbour is the first victim of the out-of-memory killer.
	if err := oom.Offer(oom.Neighbour); err != nil {
		return err
	}
	if n.CPU > 0 {
		limit := unix.Rlimit{Cur: n.CPU, Max: n.CPU}
		if err := unix.Setrlimit(unix.RLIMIT_CPU, &limit); err != nil {
			return fmt.Errorf("limit the neighbour's CPU time: %w", err)
		}
	}
	if n.UID != 0 {
		if err := namespace.Become(n.UID, n.GID); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("rule new privileges out: %w", err)
	}
	return nil
}
