package load

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// System calls without the Go runtime. For ordinary system calls the runtime's monitor thread
// wakes every 20 to 70 µs and takes the processor (P) of a thread that blocks. That took more than
// half of the CPU time of rpc and a fifth of that of commit, and varied between launches.
//
// A thread in a raw system call keeps its P, so the load needs spare ones (RaiseMaxProcs), and
// the garbage collector must not stop the world meanwhile (DisableGC).

// RaiseMaxProcs sets GOMAXPROCS so that n threads can block in raw system calls while all others
// run. With idle Ps the monitor also leaves ordinary system calls alone.
func RaiseMaxProcs(n int) {
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
