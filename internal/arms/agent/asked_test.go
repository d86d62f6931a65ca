package agent

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
)

// asked starts an agent and connects to its socket, as to a pod on this node. The agent is in a pid
// namespace of its own, or in this one.
func asked(t *testing.T, command string, flags uintptr) *Link {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "ask")
	args := Args(socket, "")
	if command != "" {
		args = append([]string{command}, args...)
	}
	cmd := exec.Command(selfPath, args...)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "OF_THE_CONTAINER=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l, err := Dial(t.Context(), cmd.Process.Pid, socket, func() environment.Exit { return environment.Exit{Code: 99} })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(l.Close(), cmd.Wait()); err != nil {
			t.Error(err)
		}
	})
	return l
}

// A process that gets descriptors has the environment of the request and not the container's.
func TestEnvironmentOfAChild(t *testing.T) {
	l := asked(t, "", 0)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p, _, err := l.StartWith(t.Context(), []string{saysEnvironment}, []string{"GIVEN=1"}, log)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if said, err := os.ReadFile(log.Name()); err != nil || string(said) != "GIVEN=1" {
		t.Errorf("%q %v", said, err)
	}
}
