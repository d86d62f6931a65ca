package child

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Ending are the signals that ask this process to end. SIGHUP is none where it was ignored when the process started, as
// nohup does: signal.Notify would undo that.
func Ending() []os.Signal {
	all := []os.Signal{unix.SIGINT, unix.SIGTERM}
	if !signal.Ignored(unix.SIGHUP) {
		all = append(all, unix.SIGHUP)
	}
	return all
}
