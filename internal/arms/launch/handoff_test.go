package launch_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/testing/launchtest"
)

func TestMain(m *testing.M) { os.Exit(launchtest.Main(m)) }

// asking starts the first process of an engine's container, without inherited descriptors.
func asking(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", launch.AttendArgs(launch.Socket(dir))...)
	cmd.Env = []string{"STRANGE=1"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

func listen(t *testing.T) (*launch.HandoffListener, string) {
	t.Helper()
	dir := t.TempDir()
	d, err := launch.ListenHandoff(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, dir
}

func nobodyElse() error { return nil }

// TestHandOver checks that a process without inherited descriptors becomes the load, with the descriptors,
// arguments and environment of a child of tare.
func TestHandOver(t *testing.T) {
	d, dir := listen(t)
	cmd := asking(t, dir)
	v, err := d.Accept(t.Context(), nobodyElse)
	if err != nil {
		t.Fatal(err)
	}
	if v.Pid != cmd.Process.Pid {
		t.Errorf("process %d asks, want %d", v.Pid, cmd.Process.Pid)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := launch.Inside(environment.Process{Args: []string{launchtest.Look, strings.Repeat("long", 30_000)}, Files: []*os.File{w}})
	err = v.Send(t.Context(), c)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	var view launchtest.View
	if err := json.NewDecoder(r).Decode(&view); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.Request.Env, view.Env); diff != "" {
		t.Error("environment:", diff)
	}
	if view.Pid != cmd.Process.Pid || view.Status["Name"] != "tare" && view.Status["Name"] != "exe" {
		t.Errorf("pid %d, name %s", view.Pid, view.Status["Name"])
	}
	for _, f := range view.Files {
		// The Go runtime of the load itself opens its quota and an epoll.
		if n, target, _ := strings.Cut(f, " "); n > "2" && !strings.HasPrefix(target, "pipe:") && !strings.HasPrefix(target, "anon_inode:") && !strings.Contains(target, "/cpu.") {
			t.Errorf("open in the load: %s", f)
		}
	}
}

// TestHandOverFails checks that the error of the exec arrives with its errno.
func TestHandOverFails(t *testing.T) {
	d, dir := listen(t)
	cmd := asking(t, dir)
	v, err := d.Accept(t.Context(), nobodyElse)
	if err != nil {
		t.Fatal(err)
	}
	c := launch.Inside(environment.Process{Args: []string{launchtest.Look}})
	c.Request.Dir = "/no/such/directory"
	if err := v.Send(t.Context(), c); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want that the directory is missing", err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("ended well")
	}
}

// TestNobodyComes checks that Accept ends with its context, and with the error of alive.
func TestNobodyComes(t *testing.T) {
	d, _ := listen(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := d.Accept(ctx, nobodyElse); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want that time is up", err)
	}
	if _, err := d.Accept(t.Context(), func() error { return io.ErrUnexpectedEOF }); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v, want the reason", err)
	}
}

// TestLetGo checks that a process that gets no Request ends.
func TestLetGo(t *testing.T) {
	d, dir := listen(t)
	cmd := asking(t, dir)
	v, err := d.Accept(t.Context(), nobodyElse)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("ended well")
	}
}
