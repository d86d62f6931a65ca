package agent

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// forking is a script whose processes fork: each starts the next one, with setsid in a new session, and
// ends; after some time they stop. Each adds a byte to the file.
func forking(t *testing.T, sessions bool) (script, file string) {
	t.Helper()
	dir := t.TempDir()
	each, file := filepath.Join(dir, "each"), filepath.Join(dir, "seen")
	text := "n() {\nprintf x >>$1\n[ $2 -gt 900 ] && { [ $3 -gt 20 ] || exec sh \"$0\" $1 0 $(($3 + 1)); }\n( n $1 $(($2 + 1)) $3 ) &\nexit\n}\nn $1 $2 $3\n"
	if sessions {
		text = "printf x >>$1\n[ $2 -gt 2000 ] || setsid sh \"$0\" $1 $(($2 + 1)) $3 &\n"
	}
	if err := os.WriteFile(each, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("for i in 1 2 3 4 5 6 7 8; do setsid sh %s %s 0 0 & done; sleep 0.2", each, file), file
}

// goesOn says whether a file grows, and fails if it is empty.
func goesOn(t *testing.T, file string) bool {
	t.Helper()
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	after, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return after.Size() > before.Size()
}

// The descendants of a process have ended when its end is reported, even if they fork fast: the agent of a
// pod that is asked from outside kills all processes of the pod, another agent kills process groups.
func TestNothingIsLeftBehind(t *testing.T) {
	t.Run("asked from outside", func(t *testing.T) {
		testneed.Root(t)
		l := asked(t, inPod, syscall.CLONE_NEWPID|syscall.CLONE_NEWNS)
		script, file := forking(t, true)
		log, err := os.Create(filepath.Join(t.TempDir(), "log"))
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		for range 5 {
			p, _, err := l.StartWith(t.Context(), []string{shell, script}, os.Environ(), log)
			if err != nil {
				t.Fatal(err)
			}
			<-p.Done()
			if e := p.Exit(); e.Code != 0 || e.Signal != "" {
				said, _ := os.ReadFile(log.Name())
				t.Fatalf("%+v: %s", e, said)
			}
			if goesOn(t, file) {
				t.Error("it goes on")
			}
		}
	})
	t.Run("over a stream", func(t *testing.T) {
		p := newPod(t)
		script, file := forking(t, false)
		for range 5 {
			started := p.noisy(t, nil, script)
			<-started.Done()
			if goesOn(t, file) {
				t.Error("it goes on")
			}
		}
	})
}

// No process writes while the agent removes the data.
func TestEndsBeforeItRemoves(t *testing.T) {
	p := newPod(t) // which looks whether the data is gone
	p.noisy(t, nil, fmt.Sprintf(`setsid sh -c 'i=0; while :; do i=$((i+1)); mkdir -p %[1]s/$i && echo >%[1]s/$i/x; done' & wait`, p.data))
	for {
		if all, err := os.ReadDir(p.data); err != nil {
			t.Fatal(err)
		} else if len(all) > 100 {
			break
		}
		time.Sleep(time.Millisecond)
	}
}

// An agent gives up a stream without any request, as one that falls silent.
func TestSilentFromTheBeginning(t *testing.T) {
	conn := startImpatient(t, 0)
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, unix.ECONNRESET) {
		t.Errorf("%v", err)
	}
}

// A connection from outside of the pod may be silent for any time.
func TestSilentFromOutside(t *testing.T) {
	testneed.Root(t)
	conn := startImpatient(t, syscall.CLONE_NEWPID)
	time.Sleep(4 * impatience)
	l := newLink(conn, conn, func() environment.Exit { return environment.Exit{Code: 99} })
	defer l.Close()
	go l.receive(lostAfter)
	if _, err := l.ask(t.Context(), request{Look: true}, askBound); err != nil {
		t.Error(err)
	}
}

// startImpatient starts an agent that waits only shortly for a heartbeat, and asks it.
func startImpatient(t *testing.T, flags uintptr) *net.UnixConn {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "ask")
	cmd := exec.Command(selfPath, impatient, socket)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for {
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
		if err == nil {
			t.Cleanup(func() {
				conn.Close()
				if err := cmd.Wait(); err != nil {
					t.Error(err)
				}
			})
			return conn
		}
		if !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ECONNREFUSED) {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}
