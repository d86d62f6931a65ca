package pgbench_test

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// made returns a function that lists the names that begin with "tare-" and were made in a directory until then.
func made(t *testing.T, dir string) func() []string {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MOVED_TO); err != nil {
		t.Fatal(err)
	}
	return func() (names []string) {
		buffer := make([]byte, 64<<10)
		n, err := unix.Read(fd, buffer)
		if err != nil {
			return nil
		}
		for _, word := range strings.FieldsFunc(string(buffer[:n]), func(r rune) bool { return r < ' ' || r > '~' }) {
			if strings.HasPrefix(word, "tare-") {
				names = append(names, word)
			}
		}
		return names
	}
}

// A client beside the arm has its files in a directory of its own: the data set in the cache is copied by
// other arms meanwhile.
func TestClientWritesNotIntoDataSet(t *testing.T) {
	p := newPgbench(t)
	p.Files = t.TempDir()
	inData, inFiles := made(t, p.Server.Dir), made(t, p.Files)
	p.start()
	p.Ready()
	p.Process.Process.Signal(unix.SIGTERM)
	p.Wait(0)
	if names := inData(); len(names) > 0 {
		t.Errorf("made in the data set: %q", names)
	}
	if names := inFiles(); len(names) == 0 {
		t.Error("made no directory for logs")
	}
}
