package cgroup

import (
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls in which helpBlocked waits. Word wordResult+2*i counts the returns of call i with
// EINTR, the word after it all other returns.
var blockedCalls = []string{"nanosleep", "futex", "futex+timeout", "epoll_wait", "epoll_wait+timeout", "poll", "read pipe", "read socket", "recv socket+SO_RCVTIMEO", "accept", "io_getevents"}

// helpBlocked waits in each of the calls on a thread of its own, by raw system calls, so that
// the kernel's own returns are counted.
func helpBlocked(s *shared) {
	var word uint32
	epoll, _ := unix.EpollCreate1(0)
	var pipe [2]int
	unix.Pipe(pipe[:])
	pair, _ := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	timed, _ := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	unix.SetsockoptTimeval(timed[0], unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 3600})
	listen, _ := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	unix.Listen(listen, 1)
	var aio uintptr
	unix.RawSyscall(unix.SYS_IO_SETUP, 8, uintptr(unsafe.Pointer(&aio)), 0)
	hour := &unix.Timespec{Sec: 3600}
	calls := []func() unix.Errno{
		func() unix.Errno { return raw(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(hour)), 0, 0, 0) },
		func() unix.Errno { return raw(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&word)), 0, 0, 0) },
		func() unix.Errno {
			return raw(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&word)), 0, 0, uintptr(unsafe.Pointer(hour)))
		},
		func() unix.Errno {
			var e [1]unix.EpollEvent
			return raw(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(&e)), 1, ^uintptr(0))
		},
		func() unix.Errno {
			var e [1]unix.EpollEvent
			return raw(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(&e)), 1, 3600_000)
		},
		func() unix.Errno {
			p := [1]unix.PollFd{{Fd: int32(pipe[0]), Events: unix.POLLIN}}
			return raw(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, uintptr(unsafe.Pointer(hour)), 0)
		},
		func() unix.Errno {
			var b [1]byte
			return raw(unix.SYS_READ, uintptr(pipe[0]), uintptr(unsafe.Pointer(&b)), 1, 0)
		},
		func() unix.Errno {
			var b [1]byte
			return raw(unix.SYS_READ, uintptr(pair[0]), uintptr(unsafe.Pointer(&b)), 1, 0)
		},
		func() unix.Errno {
			var b [1]byte
			return raw(unix.SYS_RECVFROM, uintptr(timed[0]), uintptr(unsafe.Pointer(&b)), 1, 0)
		},
		func() unix.Errno { return raw(unix.SYS_ACCEPT4, uintptr(listen), 0, 0, 0) },
		func() unix.Errno {
			var e [64]byte
			return raw(unix.SYS_IO_GETEVENTS, aio, 1, 1, uintptr(unsafe.Pointer(&e)))
		},
	}
	for i, call := range calls {
		go func() {
			runtime.LockOSThread()
			for {
				switch call() {
				case unix.EINTR:
					s[wordResult+2*i].Add(1)
				default:
					s[wordResult+2*i+1].Add(1)
					time.Sleep(time.Millisecond)
				}
			}
		}()
	}
	time.Sleep(100 * time.Millisecond)
	s[wordReady].Add(1)
	select {}
}

// raw makes a blocking call and tells Go's scheduler, so that other goroutines go on. Arguments
// five and six are 0.
func raw(nr, a, b, c, d uintptr) unix.Errno {
	_, _, e := unix.Syscall6(nr, a, b, c, d, 0, 0)
	return e
}
