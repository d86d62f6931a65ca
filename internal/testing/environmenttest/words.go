package environmenttest

import (
	"os"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/wire/counter"
)

// words is memory that a process shares with the test. For a remote process it is the counters of a
// load, of which the test sees only the state.
type words struct {
	shared  *[512]atomic.Uint64
	counted *counter.Memory
}

const (
	wordTicks = 0 // progress
	wordReady = 1
	wordsSize = int(unsafe.Sizeof([512]atomic.Uint64{}))
)

// newWords makes the words of a process of the arm.
func (f *fixture) newWords(t *testing.T) (*os.File, *words) {
	t.Helper()
	file, w, err := makeWords(f.opts.Led)
	if err != nil {
		t.Fatal(err)
	}
	f.words = append(f.words, w)
	return file, w
}

// release closes the descriptors.
func (f *fixture) release() {
	for _, w := range f.words {
		if w.counted != nil {
			w.counted.Close()
		}
	}
	f.words = nil
}

// makeWords makes words. The caller closes the file.
func makeWords(led bool) (*os.File, *words, error) {
	if led {
		m, err := counter.Create(1)
		if err != nil {
			return nil, nil, err
		}
		fd, err := unix.FcntlInt(m.File().Fd(), unix.F_DUPFD_CLOEXEC, 0)
		return os.NewFile(uintptr(fd), "words"), &words{counted: m}, err
	}
	fd, err := unix.MemfdCreate("words", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fd), "words")
	if err := f.Truncate(int64(wordsSize)); err != nil {
		return nil, nil, err
	}
	w, err := openWords(f)
	return f, w, err
}

// openWords maps the inherited file until the process ends.
func openWords(f *os.File) (*words, error) {
	if m, err := counter.Open(f); err == nil {
		return &words{counted: m}, nil
	}
	data, err := unix.Mmap(int(f.Fd()), 0, wordsSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return &words{shared: (*[512]atomic.Uint64)(unsafe.Pointer(&data[0]))}, nil
}

func (w *words) setReady() {
	if w.counted != nil {
		w.counted.SetReady()
		return
	}
	w.shared[wordReady].Store(1)
}

func (w *words) isReady() bool {
	if w.counted != nil {
		state, _ := w.counted.State()
		return state == counter.Ready
	}
	return w.shared[wordReady].Load() > 0
}

func (w *words) tick() {
	if w.shared != nil {
		w.shared[wordTicks].Add(1)
	}
}

func (w *words) ticks() uint64 { return w.shared[wordTicks].Load() }
