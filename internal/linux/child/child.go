// Package child starts programs that end with this process. The kernel sends the parent-death
// signal when the thread that forked ends, and a thread of the Go runtime may end before the
// process does.
package child

import (
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// Start starts a command on a thread that lives as long as the command. ended gets the result
// of Wait.
func Start(cmd *exec.Cmd, ended func(error)) error {
	return StartAfter(cmd, func() error { return nil }, ended)
}

// StartAfter calls before on that thread first. The command inherits what before changes of the
// thread, and nothing else in the process does. If before fails, the command is not started.
func StartAfter(cmd *exec.Cmd, before func() error, ended func(error)) error {
	started := make(chan error)
	Thread(func() {
		err := before()
		if err == nil {
			err = cmd.Start()
		}
		started <- err
		if err == nil {
			ended(cmd.Wait())
		}
	})
	return <-started
}

// Thread calls f on a thread that ends with f, and returns at once. It is never the main
// thread, which cannot end and whose namespaces /proc/self shows.
func Thread(f func()) {
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			f()
			return // the thread is locked and ends
		}
		taken := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(taken) // this goroutine holds the main thread
			f()
		}()
		<-taken
		runtime.UnlockOSThread()
	}()
}

// Run runs a command to its end on one thread.
func Run(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}
