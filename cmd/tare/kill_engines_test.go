package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/engine/enginetest"
	"github.com/tarelab/tare/internal/testneed"
	"github.com/tarelab/tare/record"
)

// A run with containers of Podman and Docker that is interrupted takes them back
// itself; one that is killed leaves them, stopped, to cleanup.
func TestSignalsWithEngines(t *testing.T) {
	testneed.Root(t)
	testneed.Tool(t, "podman")
	enginetest.Docker(t)
	for name, how := range map[string]syscall.Signal{"interrupted": syscall.SIGINT, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			dir := filepath.Join(state, "result")
			tool := func(args ...string) *exec.Cmd {
				cmd := exec.Command("/proc/self/exe", append([]string{"__cli"}, args...)...)
				cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
				return cmd
			}
			run := tool("run", "--set=commit.log=1MiB", "--workload=commit", "--arms=host,podman,docker", "--budget=60s", "-o", dir)
			var said bytes.Buffer
			run.Stdout, run.Stderr = &said, &said
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() { run.Wait(); close(ended) }()
			awaitBlock(t, dir, ended, &said)
			id := runID(dir)
			for _, arm := range []string{"podman", "docker"} {
				if !bytes.Contains(blocks(dir), []byte(`"`+arm+`"`)) {
					t.Errorf("no block has the arm %s:\n%s", arm, said.String())
				}
			}
			run.Process.Signal(how)
			<-ended
			if how == syscall.SIGKILL {
				out, err := tool("cleanup").CombinedOutput()
				if err != nil {
					t.Errorf("cleanup: %v\n%s", err, out)
				}
			} else if code := run.ProcessState.ExitCode(); code != 130 {
				t.Errorf("ended with %d, want 130\n%s", code, said.String())
			}
			nothingOf(t, id)
		})
	}
}

// awaitBlock waits until arms are being measured.
func awaitBlock(t *testing.T, dir string, ended <-chan struct{}, said *bytes.Buffer) {
	t.Helper()
	for len(blocks(dir)) == 0 {
		select {
		case <-ended:
			t.Fatalf("the run ended before it was to:\n%s", said.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// blocks are the lines of the record that are blocks.
func blocks(dir string) (all []byte) {
	b, _ := os.ReadFile(filepath.Join(dir, record.RecordFile))
	for line := range bytes.Lines(b) {
		if bytes.Contains(line, []byte(`"block":{`)) {
			all = append(all, line...)
		}
	}
	return all
}

// nothingOf: neither the host nor an engine has anything of a run. What an
// engine's own helpers still do may take a moment.
func nothingOf(t *testing.T, id string) {
	t.Helper()
	var left []string
	for range 100 {
		left = leftOf(id)
		out, err := exec.Command("podman", "ps", "--all", "--format", "{{.Names}}").CombinedOutput()
		if err != nil {
			t.Fatalf("podman ps: %v: %s", err, out)
		}
		for name := range strings.FieldsSeq(string(out)) {
			if strings.Contains(name, id) {
				left = append(left, "podman's container "+name)
			}
		}
		left = append(left, enginetest.Named(t, id)...)
		if len(left) == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	for _, l := range left {
		t.Errorf("left: %s", l)
	}
}
