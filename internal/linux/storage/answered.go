package storage

import (
	"fmt"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/netmount"
)

// Answered asks a file system about a path, with a time limit: on a hard mount the server may
// be gone.
func Answered[T any](path string, ask func() (T, error)) (T, error) {
	type answer struct {
		is  T
		err error
	}
	done := make(chan answer, 1)
	go func() {
		x, err := ask()
		done <- answer{x, err}
	}()
	select {
	case a := <-done:
		return a.is, a.err
	case <-time.After(netmount.Asking):
		var none T
		return none, hint.New(fmt.Errorf("%s: its file system has not answered for %v", path, netmount.Asking),
			"if it is a network's, bring its server back or unmount it: umount -f -l")
	}
}
