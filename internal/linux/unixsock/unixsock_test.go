package unixsock

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAcceptOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	type got struct {
		*net.UnixConn
		err error
	}
	done := make(chan got, 1)
	go func() {
		c, err := AcceptOne(path, time.Minute)
		done <- got{c, err}
	}()
	var near net.Conn
	for near == nil {
		near, _ = net.Dial("unix", path)
	}
	defer near.Close()
	g := <-done
	if g.err != nil {
		t.Fatal(g.err)
	}
	defer g.Close()
	if _, err := net.Dial("unix", path); err == nil {
		t.Error("a second one was let in")
	}
}

func TestAcceptNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if _, err := AcceptOne(path, time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if _, err := AcceptOne(filepath.Join(path, "none"), time.Millisecond); err == nil {
		t.Error("it listens where there is no directory")
	}
}

// A read that fails while it waits returns n = 0, on which callers rely.
func TestReceiveNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	if err := near.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := (&Receiver{UnixConn: near}).Read(make([]byte, 8)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes, %v", n, err)
	}
}
