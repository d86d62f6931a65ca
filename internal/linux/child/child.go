// Package child starts programs that end with this process. The kernel ties their death
// signal to the thread that forks, and a thread of the Go runtime can end before the
// process does.
package child

import (
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// Start starts a command on a thread that lives as long as the command. ended is called
// with what Wait returned.
func Start(cmd *exec.Cmd, ended func(error)) error {
	return StartAfter(cmd, func() error { return nil }, ended)
}

// StartAfter calls a function on that thread first: what it changes there, the command
// inherits, and it ends with the thread. Where the function fails, nothing is started.
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

// Thread calls a function on a thread that ends with it, and returns at once. It is never
// the main thread, which does not end: its namespaces are what /proc/self shows.
func Thread(f func()) {
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			f()
			return // locked, so the thread ends
		}
		taken := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(taken) // another thread, for this goroutine holds the main one
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
