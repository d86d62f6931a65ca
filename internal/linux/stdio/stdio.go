// Package stdio follows the output of another process to a pipe through a stream of the C
// library, with the last lines, which stay in the stream's buffer until it is full. It knows
// the layout of glibc's FILE on 64-bit machines and not the content. It only reads: the other
// process is not affected.
package stdio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Words of glibc's struct _IO_FILE (libio/bits/types/struct_FILE.h), whose layout is part of
// its ABI.
const (
	fileMagic     = 0xfbad0000
	fileWriteBase = 32
	fileWritePtr  = 40
	fileBufBase   = 56
	fileBufEnd    = 64
	fileNumber    = 112
	fileBytes     = 120
)

// maxBuffer is an upper bound of the buffer of a stream on a pipe, in bytes.
const maxBuffer = 1 << 16

// Stream is a pipe and the stream that writes to it. It is not safe for concurrent use.
type Stream struct {
	pid   int
	pipe  *os.File
	fd    int
	inode uint64
	// memory is /proc/PID/mem; nil: process_vm_readv(2) is allowed, or was not tried. The load's end closes it.
	memory *os.File

	at      uint64 // address of the FILE; 0: not known
	buffer  uint64 // address of its buffer; 0: not known
	arrived uint64 // bytes that came through the pipe
	given   uint64 // bytes passed on, from the start of the stream
	chunk   []byte
	ended   bool

	before, after file   // copies of the FILE
	waiting       []byte // copy of its buffer, made between them
	local         [3]unix.Iovec
	remote        [3]unix.RemoteIovec
}

// New follows the output of process pid; pipe is the reading end, which the caller closes.
func New(pid int, pipe *os.File) (*Stream, error) {
	s := &Stream{pid: pid, pipe: pipe, fd: int(pipe.Fd()), chunk: make([]byte, 1<<16)}
	if err := unix.SetNonblock(s.fd, true); err != nil {
		return nil, fmt.Errorf("follow a stream: %w", err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(s.fd, &st); err != nil {
		return nil, fmt.Errorf("follow a stream: %w", err)
	}
	s.inode = st.Ino
	return s, nil
}

// Ended says whether every writer has closed the pipe.
func (s *Stream) Ended() bool { return s.ended }

// Follow passes on what is new since the last call, in pieces that need not end at line ends. A
// line is passed on when it was printed whole, or when its block was written.
func (s *Stream) Follow(take func([]byte)) error {
	if _, err := s.drain(take); err != nil || s.at == 0 {
		return err
	}
	waiting := s.bufferedLines()
	// If the pipe had new data, it may be the data that bufferedLines just read from the buffer.
	if n, err := s.drain(take); err != nil || n > 0 {
		return err
	}
	s.passOn(s.arrived, waiting, take)
	return nil
}

// drain reads the pipe until it is empty and returns the number of bytes.
func (s *Stream) drain(take func([]byte)) (n int, err error) {
	for {
		got, err := unix.Read(s.fd, s.chunk)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return n, nil
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return n, fmt.Errorf("follow a stream: %w", err)
		case got == 0:
			s.ended = true
			return n, nil
		}
		s.passOn(s.arrived, s.chunk[:got], take)
		s.arrived += uint64(got)
		n += got
	}
}

// passOn passes on the part of b that was not passed on yet; b begins at an offset of the stream.
func (s *Stream) passOn(offset uint64, b []byte, take func([]byte)) {
	if skip := s.given - offset; skip < uint64(len(b)) {
		take(b[skip:])
		s.given = offset + uint64(len(b))
	}
}

// bufferedLines returns the whole lines in the stream's buffer. The other process goes on
// meanwhile, so it returns nothing unless all of this holds:
//
//   - after the buffer was copied the pointers are the same or further ahead;
//   - the buffer is not full: a full buffer may have been written and be filled again before
//     the pointers show it;
//   - only full buffers have come through the pipe so far. After a buffer that was not full,
//     such as the last one when the stream is closed, the process may have been preempted
//     before it reset the pointers, and the buffer then still looks unwritten.
//
// The C library moves the pointer after it has copied a string into the buffer, but may move
// it before it stores a single character, such as the one that ends a line. On a machine that
// shows another processor's writes in another order, all are visible long before the kernel
// has copied first the buffer and then the pointers.
func (s *Stream) bufferedLines() []byte {
	if s.buffer == 0 {
		s.findBuffer()
	}
	if s.buffer == 0 || s.arrived%uint64(len(s.waiting)) != 0 || !s.read() {
		return nil
	}
	base, next, again := s.before.word(fileWriteBase), s.before.word(fileWritePtr), s.after.word(fileWritePtr)
	switch {
	case !s.before.valid() || !s.after.valid():
		return nil
	case base != s.buffer || s.after.word(fileWriteBase) != base:
		return nil
	case next <= base || next >= base+uint64(len(s.waiting)) || again < next:
		return nil
	}
	b := s.waiting[:next-base]
	return b[:bytes.LastIndexByte(b, '\n')+1]
}

// findBuffer reads the address of the buffer, which the stream gets at the first write.
func (s *Stream) findBuffer() {
	if n, err := s.readMemory(s.at, s.before[:]); err != nil || n != len(s.before) || !s.before.valid() {
		return
	}
	base, end := s.before.word(fileBufBase), s.before.word(fileBufEnd)
	if base == 0 || end <= base || end-base > maxBuffer {
		return
	}
	s.buffer, s.waiting = base, make([]byte, end-base)
	s.local = [3]unix.Iovec{
		{Base: &s.before[0], Len: fileBytes}, {Base: &s.waiting[0], Len: end - base}, {Base: &s.after[0], Len: fileBytes},
	}
	s.remote = [3]unix.RemoteIovec{{Base: uintptr(s.at), Len: fileBytes}, {Base: uintptr(base), Len: int(end - base)}, {Base: uintptr(s.at), Len: fileBytes}}
}

// read copies the FILE, its buffer, and the FILE again.
func (s *Stream) read() bool {
	if s.memory != nil {
		for i, part := range [][]byte{s.before[:], s.waiting, s.after[:]} {
			if n, err := s.readMemory(uint64(s.remote[i].Base), part); err != nil || n != len(part) {
				return false
			}
		}
		return true
	}
	n, err := unix.ProcessVMReadv(s.pid, s.local[:], s.remote[:], 0)
	return err == nil && n == len(s.waiting)+2*fileBytes
}

// file is a copy of a FILE.
type file [fileBytes]byte

func (f *file) word(at int) uint64 { return binary.NativeEndian.Uint64(f[at:]) }

func (f *file) valid() bool { return binary.NativeEndian.Uint32(f[:])&0xffff0000 == fileMagic }

// readMemory copies memory of the process. A container's seccomp filter may forbid process_vm_readv(2), for
// which the kernel has the same check as for the file that is then read.
func (s *Stream) readMemory(at uint64, into []byte) (int, error) {
	if s.memory != nil {
		return s.memory.ReadAt(into, int64(at))
	}
	local := []unix.Iovec{{Base: &into[0], Len: uint64(len(into))}}
	remote := []unix.RemoteIovec{{Base: uintptr(at), Len: len(into)}}
	n, err := unix.ProcessVMReadv(s.pid, local, remote, 0)
	if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOSYS) {
		return n, err
	}
	if s.memory, err = os.Open(fmt.Sprintf("/proc/%d/mem", s.pid)); err != nil {
		return 0, fmt.Errorf("%w: %w", errForbidden, err)
	}
	return s.memory.ReadAt(into, int64(at))
}

// errForbidden means that this process may not read the memory of the other one.
var errForbidden = errors.New("reading its memory is forbidden")
