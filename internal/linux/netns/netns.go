// Package netns makes anonymous network namespaces, held by nothing but a
// descriptor, and what lies between them: a bridge, a veth pair, addresses and
// port forwarding. No namespace has a name and none of its links is ever in
// the caller's, so all of it ends with the last process and descriptor that
// holds it. The package knows links and rules and nothing of arms.
package netns

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// New makes a network namespace with its loopback up. It lives as long as the
// descriptor, or a process in it. The caller closes it. It needs
// CAP_SYS_ADMIN.
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

// In runs f in a namespace, on a thread of its own that is not used again.
// What f starts on other goroutines is not in the namespace.
func In(ns *os.File, f func() error) error {
	return onThread(func() error {
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter the network namespace: %w", err)
		}
		return f()
	})
}

// onThread runs f on a thread that ends with it: a thread that was in another
// namespace must never serve other goroutines.
func onThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == os.Getpid() {
			// The first thread cannot end before the process: it would stay in
			// the namespace. While it is held here, another one gets the job.
			err := onThread(f)
			runtime.UnlockOSThread()
			done <- err
			return
		}
		done <- f() // not unlocked: the thread ends
	}()
	return <-done
}
