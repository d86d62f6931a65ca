package load

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// System calls that the Go runtime does not know of, as a program in C makes
// them. It keeps watch over those that it knows: a thread of its own looks every
// 20 to 70 µs whether one takes long, and hands its place on. In rpc that was
// more than half of the CPU time, in commit a fifth, now more and now less, and
// different after each launch.
//
// A thread in such a call keeps its place among those that may run, see
// Blocking, and nothing may stop the world meanwhile, see KeepGarbage.

// Blocking makes room for n threads that block, beside all others. With room to
// spare the runtime also leaves the calls alone that it knows of.
func Blocking(n int) {
	runtime.GOMAXPROCS(n + max(2, runtime.NumCPU()))
}

func rawPwrite(fd int, b []byte, at int64) (int, unix.Errno) {
	n, _, err := unix.RawSyscall6(unix.SYS_PWRITE64, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), uintptr(at), 0, 0)
	return int(n), err
}

func rawRead(fd int, b []byte) (int, error) { return rawBytes(unix.SYS_READ, fd, b) }

func rawWrite(fd int, b []byte) (int, error) { return rawBytes(unix.SYS_WRITE, fd, b) }

func rawBytes(call uintptr, fd int, b []byte) (int, error) {
	n, _, err := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if err != 0 {
		return 0, err
	}
	return int(n), nil
}

func rawFdatasync(fd int) unix.Errno {
	_, _, err := unix.RawSyscall(unix.SYS_FDATASYNC, uintptr(fd), 0, 0)
	return err
}
