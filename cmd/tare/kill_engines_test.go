package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/testing/enginetest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/hostlock"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

// measuring is a run with containers of crun, Podman and Docker, in a control group of its own.
type measuring struct {
	*exec.Cmd
	state string
	dir   string
	id    string
	group cgroup.Group
	ended chan struct{}
	said  bytes.Buffer
}

func (m *measuring) tool(args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", append([]string{"__cli"}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+m.state, hostlock.DirEnv+"="+m.state)
	return cmd
}

// measure returns when all arms have been measured.
func measure(t *testing.T) *measuring {
	t.Helper()
	m := &measuring{state: t.TempDir(), ended: make(chan struct{})}
	m.dir = filepath.Join(m.state, "result")
	tree, err := cgroup.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprint("tare-service", os.Getpid())
	if m.group, err = tree.Make(name, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(m.group.Kill(), m.group.Remove()); err != nil {
			t.Error(err)
		}
	})
	m.Cmd = m.tool("run", "--set=commit.log=1MiB", "--workload=commit", "--arms=host,crun,podman,docker", "--budget=10m", "-o", m.dir)
	m.Stdout, m.Stderr = &m.said, &m.said
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	if err := m.group.Add(m.Process.Pid); err != nil { // before it starts anything
		t.Fatal(err)
	}
	go func() { m.Wait(); close(m.ended) }()
	awaitBlock(t, m.dir, m.ended, &m.said)
	m.id = runID(m.dir)
	for _, arm := range []string{"crun", "podman", "docker"} {
		if !bytes.Contains(blocks(m.dir), []byte(`"`+arm+`"`)) {
			t.Errorf("no block has the arm %s:\n%s", arm, m.said.String())
		}
	}
	return m
}

// A run with containers that is interrupted takes them back itself. If it is killed, alone or with
// its whole control group, its guard takes them back; a cleanup at the same time waits for the
// guard.
func TestSignalsWithEngines(t *testing.T) {
	testneed.Long(t, "kill")
	testneed.Root(t)
	testneed.Tool(t, "podman")
	enginetest.Docker(t)
	for name, end := range map[string]func(*testing.T, *measuring){
		"interrupted": func(t *testing.T, m *measuring) {
			m.Process.Signal(syscall.SIGINT)
			<-m.ended
			if code := m.ProcessState.ExitCode(); code != 130 {
				t.Errorf("ended with %d, want 130\n%s", code, m.said.String())
			}
		},
		"killed": func(_ *testing.T, m *measuring) { m.Process.Kill() },
		"killed and cleaned up": func(t *testing.T, m *measuring) {
			m.Process.Kill()
			<-m.ended
			if out, err := m.tool("cleanup").CombinedOutput(); err != nil {
				t.Errorf("cleanup: %v\n%s", err, out)
			}
			for _, left := range leftOf(m.id) {
				t.Errorf("left when cleanup was over: %s", left)
			}
		},
		"its control group killed": func(t *testing.T, m *measuring) {
			if err := m.group.Kill(); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := measure(t)
			end(t, m)
			<-m.ended
			nothingOf(t, m.id)
			if left, err := journal.Leftovers(filepath.Join(m.state, "tare"), catalog.Steps()); err != nil || len(left) > 0 {
				t.Errorf("in the journal: %+v %v", left, err)
			}
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

// blocks returns the lines of the record that are blocks.
func blocks(dir string) (all []byte) {
	b, _ := os.ReadFile(filepath.Join(dir, record.RecordFile))
	for line := range bytes.Lines(b) {
		if bytes.Contains(line, []byte(`"block":{`)) {
			all = append(all, line...)
		}
	}
	return all
}

// statesOf returns the containers that a runtime still has of a run, by the run's control groups.
func statesOf(id string) (all []string) {
	files, _ := filepath.Glob("/run/[rc]*un*/*/*") // runc's state.json, crun's status
	for _, f := range files {
		if b, _ := os.ReadFile(f); bytes.Contains(b, []byte("tare-"+id)) {
			all = append(all, f)
		}
	}
	return all
}

// nothingOf fails if the host or an engine has anything of a run. Helpers of an engine may take a
// moment to end.
func nothingOf(t *testing.T, id string) {
	t.Helper()
	var left []string
	for range 1200 {
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
		left = append(append(left, enginetest.Named(t, id)...), statesOf(id)...)
		if len(left) == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	for _, l := range left {
		t.Errorf("left: %s", l)
	}
}
