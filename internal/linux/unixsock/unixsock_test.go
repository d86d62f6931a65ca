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
