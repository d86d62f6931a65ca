package stdio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// writer prints numbered lines to a stream that a thread opened: one for every byte that it
// reads, then as many as its argument says, at some 100 000 a second.
const writer = `
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static char **args;
static void *work(void *unused) {
	long n = 0, more = atol(args[2]);
	char c;
	FILE *f = fopen(args[1], "w");
	write(1, "o", 1);
	while (read(0, &c, 1) == 1) {
		fprintf(f, "%ld line of some length\n", n++);
		write(1, "+", 1);
	}
	while (more-- > 0) {
		fprintf(f, "%ld line of some length\n", n++);
		for (volatile int i = 0; i < 2000; i++)
			;
	}
	fclose(f);
	return unused;
}
int main(int argc, char **argv) {
	pthread_t t;
	args = argv;
	if (argc > 3)
		return work(NULL) != NULL;
	pthread_create(&t, NULL, work, NULL);
	return pthread_join(t, NULL);
}
`

var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "tare-stdio")
	if err != nil {
		return "", err
	}
	source := filepath.Join(dir, "w.c")
	if err := os.WriteFile(source, []byte(writer), 0o600); err != nil {
		return "", err
	}
	out, err := exec.Command("cc", "-O2", "-o", dir+"/w", source, "-pthread").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return dir + "/w", nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := program(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// tool is the writer and the lines read from it.
type tool struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	stream *Stream
	got    bytes.Buffer
}

func start(t *testing.T, more int, threads bool) *tool {
	t.Helper()
	testneed.Tool(t, "cc")
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	args := []string{"/proc/self/fd/3", fmt.Sprint(more)}
	if !threads {
		args = append(args, "main")
	}
	x := &tool{t: t, cmd: exec.Command(path, args...)}
	x.cmd.ExtraFiles = []*os.File{w}
	x.in, _ = x.cmd.StdinPipe()
	x.out, _ = x.cmd.StdoutPipe()
	if err := x.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() { x.cmd.Process.Kill(); x.cmd.Wait() })
	if x.stream, err = New(x.cmd.Process.Pid, r); err != nil {
		t.Fatal(err)
	}
	x.answer("o")
	return x
}

func (x *tool) answer(want string) {
	x.t.Helper()
	b := make([]byte, len(want))
	if _, err := io.ReadFull(x.out, b); err != nil || string(b) != want {
		x.t.Fatalf("%q, %v", b, err)
	}
}

// print makes the writer print n lines, and returns when it has.
func (x *tool) print(n int) {
	x.t.Helper()
	for range n {
		x.in.Write([]byte("."))
		x.answer("+")
	}
}

func (x *tool) follow() {
	x.t.Helper()
	if err := x.stream.Follow(func(b []byte) { x.got.Write(b) }); err != nil {
		x.t.Fatal(err)
	}
}

// holds says whether exactly the first n lines were passed on.
func (x *tool) holds(n int) {
	x.t.Helper()
	var want bytes.Buffer
	for i := range n {
		fmt.Fprintf(&want, "%d line of some length\n", i)
	}
	if got := x.got.Bytes(); !bytes.Equal(got, want.Bytes()) {
		same := 0
		for same < min(len(got), want.Len()) && got[same] == want.Bytes()[same] {
			same++
		}
		x.t.Fatalf("%d bytes instead of the %d of %d lines; from byte %d on:\n%q", len(got), want.Len(), n, same,
			got[max(0, same-100):min(len(got), same+100)])
	}
}

// Every line is seen as soon as it is printed, from whichever thread.
func TestLinesAreSeenAtOnce(t *testing.T) {
	for _, threads := range []bool{false, true} {
		t.Run(map[bool]string{false: "first thread", true: "another thread"}[threads], func(t *testing.T) {
			x := start(t, 0, threads)
			if err := x.stream.Find(); err != nil {
				t.Fatal(err)
			}
			x.follow()
			x.holds(0)
			rng, n := rand.New(rand.NewPCG(1, 1)), 0
			for range 300 {
				k := rng.IntN(20)
				x.print(k)
				n += k
				x.follow()
				x.holds(n)
			}
		})
	}
}

// No line is lost or seen twice, however fast the writer prints meanwhile, also where a seccomp filter forbids
// process_vm_readv.
func TestNothingTwiceWhileItWrites(t *testing.T) {
	t.Run("process_vm_readv", func(t *testing.T) { nothingTwice(t, start(t, lines, true)) })
	t.Run("/proc/PID/mem", func(t *testing.T) {
		x := start(t, lines, true)
		memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", x.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		defer memory.Close()
		x.stream.memory = memory
		nothingTwice(t, x)
	})
}

const lines = 200_000

func nothingTwice(t *testing.T, x *tool) {
	t.Helper()
	if err := x.stream.Find(); err != nil {
		t.Fatal(err)
	}
	x.print(3)
	x.in.Close()
	ahead := 0
	for !x.stream.Ended() {
		x.follow()
		if x.stream.given > x.stream.arrived {
			ahead++
		}
	}
	x.holds(lines + 3)
	t.Logf("%d times it knew more than had arrived", ahead)
	if ahead == 0 {
		t.Error("it never looked into the buffer")
	}
}

// The lines that the stream writes when it is closed are seen once, however the end comes.
func TestTheEnd(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		lines := rng.IntN(3000)
		x := start(t, lines, true)
		if err := x.stream.Find(); err != nil {
			t.Fatal(err)
		}
		for x.in.Close(); !x.stream.Ended(); time.Sleep(time.Duration(rng.IntN(1000)) * time.Microsecond) {
			x.follow()
		}
		x.holds(lines)
	}
}

// Without the stream, lines come in blocks.
func TestWithoutTheStream(t *testing.T) {
	x := start(t, 500, true)
	x.print(10)
	x.follow()
	x.holds(0)
	x.in.Close()
	for end := time.Now().Add(time.Minute); !x.stream.Ended() && time.Now().Before(end); time.Sleep(time.Millisecond) {
		x.follow()
	}
	x.holds(510)
}

func TestNotFound(t *testing.T) {
	x := start(t, 0, true)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	s, err := New(x.cmd.Process.Pid, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Find(); !errors.Is(err, ErrNotFound) {
		t.Errorf("another pipe: %v", err)
	}
	x.cmd.Process.Signal(unix.SIGKILL)
	x.cmd.Wait()
	if err := x.stream.Find(); err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("a process that has ended: %v", err)
	}
}

// BenchmarkFollow is the cost of Follow when nothing is new.
func BenchmarkFollow(b *testing.B) {
	t := &testing.T{}
	x := start(t, 0, true)
	if err := x.stream.Find(); err != nil {
		b.Fatal(err)
	}
	x.print(50)
	b.ReportAllocs()
	for b.Loop() {
		x.stream.Follow(func([]byte) {})
	}
	x.in.Close()
}
