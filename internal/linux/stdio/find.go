package stdio

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ErrNotFound means that the process has no known stream on the pipe: it has not opened one
// yet, or its C library is not glibc.
var ErrNotFound = errors.New("no stream of glibc on the pipe")

// Find looks for the stream in the memory of the process. Without the stream, Follow passes on
// what comes through the pipe, in blocks of 4096 bytes.
func (s *Stream) Find() error {
	numbers, err := s.descriptors()
	if err != nil {
		return fmt.Errorf("look for a stream: %w", err)
	}
	regions, err := writable(s.pid)
	if err != nil {
		return fmt.Errorf("look for a stream: %w", err)
	}
	chunk := make([]byte, 1<<20)
	for _, r := range regions {
		for at := r.from; at < r.to; at += uint64(len(chunk) - fileBytes) {
			n, err := s.readMemory(at, chunk[:min(uint64(len(chunk)), r.to-at)])
			if errors.Is(err, errForbidden) { // now and later
				return fmt.Errorf("look for a stream: %w", err)
			}
			if err != nil {
				break // the process unmapped the region
			}
			if offset, ok := stream(chunk[:n], numbers); ok {
				s.at = at + uint64(offset)
				return nil
			}
		}
	}
	return ErrNotFound
}

// stream finds a FILE with one of the descriptors in a piece of memory.
func stream(b []byte, numbers map[int32]bool) (offset int, ok bool) {
	for i := 0; i+fileBytes <= len(b); i += 8 {
		if binary.NativeEndian.Uint32(b[i:])&0xffff0000 != fileMagic {
			continue
		}
		word := func(at int) uint64 { return binary.NativeEndian.Uint64(b[i+at:]) }
		base, next, end := word(fileBufBase), word(fileWritePtr), word(fileBufEnd)
		if numbers[int32(binary.NativeEndian.Uint32(b[i+fileNumber:]))] && word(fileWriteBase) <= next && next <= end && base <= end {
			return i, true
		}
	}
	return 0, false
}

// Opened is the number of descriptors that the process has of the pipe.
func (s *Stream) Opened() int {
	numbers, _ := s.descriptors()
	return len(numbers)
}

// descriptors are the process's descriptors of the pipe.
func (s *Stream) descriptors() (map[int32]bool, error) {
	dir := "/proc/" + strconv.Itoa(s.pid) + "/fd"
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	want, out := fmt.Sprintf("pipe:[%d]", s.inode), map[int32]bool{}
	for _, e := range list {
		if link, err := os.Readlink(dir + "/" + e.Name()); err != nil || link != want {
			continue
		}
		if n, err := strconv.Atoi(e.Name()); err == nil {
			out[int32(n)] = true
		}
	}
	return out, nil
}

type region struct{ from, to uint64 }

// writable are the memory regions in which the C library allocates.
func writable(pid int) (out []region, err error) {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/maps")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// 7f5c1c000000-7f5c1c021000 rw-p 00000000 00:00 0   [heap]
		w := strings.Fields(lines.Text())
		if len(w) < 5 || w[1] != "rw-p" || w[4] != "0" || len(w) > 5 && w[5] != "[heap]" && !strings.HasPrefix(w[5], "[anon") {
			continue
		}
		from, to, _ := strings.Cut(w[0], "-")
		var r region
		if r.from, err = strconv.ParseUint(from, 16, 64); err != nil {
			continue
		}
		if r.to, err = strconv.ParseUint(to, 16, 64); err != nil {
			continue
		}
		out = append(out, r)
	}
	return out, nil
}
