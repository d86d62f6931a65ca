// Package netns makes anonymous network namespaces and what connects them: a bridge, a veth
// pair, addresses and port forwarding. A namespace has no name, only descriptors and processes
// hold it, and no link is ever in the caller's namespace, so everything ends with the last
// descriptor or process. The package knows links and rules, and no arms.
package netns

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// New makes a network namespace with its loopback up. It lives as long as the descriptor, which
// the caller closes, or a process in it. New needs CAP_SYS_ADMIN.
func New() (*os.File, error) {
	var ns *os.File
	err := onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("make a network namespace: %w", err)
		}
		var err error
		if ns, err = os.Open("/proc/thread-self/ns/net"); err != nil {
			return fmt.Errorf("hold the network namespace: %w", err)
		}
		if err := up("lo"); err != nil {
			ns.Close()
			return err
		}
		return nil
	})
	return ns, err
}

// In runs f in a namespace, on a thread that is not used again. Goroutines that f starts are
// not in the namespace.
func In(ns *os.File, f func() error) error {
	return onThread(func() error {
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter the network namespace: %w", err)
		}
		return f()
	})
}

// onThread runs f on a thread that ends with f: a thread that was in another namespace must not
// run other goroutines.
func onThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == os.Getpid() {
			// The main thread cannot end before the process and would stay in the namespace.
			// This goroutine holds the main thread while onThread uses another.
			err := onThread(f)
			runtime.UnlockOSThread()
			done <- err
			return
		}
		done <- f() // not unlocked, so the thread ends
	}()
	return <-done
}
