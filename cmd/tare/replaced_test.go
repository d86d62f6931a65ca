package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/hostlock"
	"github.com/tarelab/tare/record"
)

// installed is a directory with copies of programs, for a run of the copy of this binary.
type installed struct {
	t         *testing.T
	dir, home string
}

func install(t *testing.T) installed {
	i := installed{t: t, dir: t.TempDir(), home: t.TempDir()}
	if err := os.Chmod(i.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	i.copy("/proc/self/exe", "tare")
	return i
}

func (i installed) path(name string) string { return filepath.Join(i.dir, name) }

// copy copies a program, as a package upgrade does: a new file takes the name.
func (i installed) copy(from, name string) {
	i.t.Helper()
	source, err := os.Open(from)
	if err != nil {
		i.t.Fatal(err)
	}
	defer source.Close()
	to, err := os.OpenFile(i.path(name)+".new", os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		i.t.Fatal(err)
	}
	if _, err := io.Copy(to, source); err != nil {
		i.t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		i.t.Fatal(err)
	}
	if err := os.Rename(i.path(name)+".new", i.path(name)); err != nil {
		i.t.Fatal(err)
	}
}

// script writes a script that executes a program.
func (i installed) script(program, name, comment string) {
	i.t.Helper()
	text := fmt.Sprintf("#!/bin/sh\n# %s\nexec %s \"$@\"\n", comment, program)
	if err := os.WriteFile(i.path(name)+".new", []byte(text), 0o755); err != nil {
		i.t.Fatal(err)
	}
	if err := os.Rename(i.path(name)+".new", i.path(name)); err != nil {
		i.t.Fatal(err)
	}
}

func (i installed) command(said *bytes.Buffer, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(i.t.Context(), i.path("tare"), append([]string{"__cli"}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+i.dir+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+i.home, hostlock.DirEnv+"="+i.home, "XDG_CACHE_HOME="+i.home)
	cmd.Stdout, cmd.Stderr = said, said
	return cmd
}

// run runs an experiment; during is called once after the first launch.
func (i installed) run(during func(), args ...string) (said string, code int, result string) {
	i.t.Helper()
	result = filepath.Join(i.home, "result")
	var out bytes.Buffer
	cmd := i.command(&out, append(append([]string{"run"}, args...), "--no-progress", "--force", "-o", result)...)
	if err := cmd.Start(); err != nil {
		i.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for launched := false; ; {
		select {
		case <-ended:
			return out.String(), cmd.ProcessState.ExitCode(), result
		case <-time.After(20 * time.Millisecond):
		}
		if r, err := os.ReadFile(filepath.Join(result, record.RecordFile)); err == nil && !launched && bytes.Contains(r, []byte(`"block"`)) {
			launched = true
			if during != nil {
				during()
			}
		}
	}
}

// TestReplacedDuringARun replaces a program while a run uses it: the run ends with a reason that names the file,
// and what was measured before can be read.
func TestReplacedDuringARun(t *testing.T) {
	testneed.Root(t)
	runc, redis, fio := testneed.Tool(t, "runc"), testneed.Tool(t, "redis-server"), testneed.Tool(t, "fio")
	spin := []string{"quick", "--workload=rpc", "--budget=60s", "--arms=host,container"}
	for name, c := range map[string]struct {
		args     []string
		prepare  func(installed)
		replace  func(installed)
		replaced string
	}{
		"tare": {args: spin, replace: func(i installed) { i.copy("/proc/self/exe", "tare") }, replaced: "tare"},
		"tare is removed": {args: spin, replaced: "tare", replace: func(i installed) {
			if err := os.Remove(i.path("tare")); err != nil {
				i.t.Fatal(err)
			}
		}},
		"a runtime": {
			args:    spin,
			prepare: func(i installed) { i.script(runc, "runc", "one") },
			replace: func(i installed) { i.script(runc, "runc", "two") }, replaced: "runc",
		},
		"a runtime before it in PATH": {
			args: spin, replace: func(i installed) { i.script(runc, "runc", "two") }, replaced: "runc",
		},
		"a server": {
			args:    []string{"redis-layers", "--workload=socket", "--set=socket.keys=1000", "--budget=60s", "--arms=host,container"},
			prepare: func(i installed) { i.copy(redis, "redis-server") },
			replace: func(i installed) { i.copy(redis, "redis-server") }, replaced: "redis-server",
		},
		"a client": {
			args:    []string{"storage", "--workload=random", "--set=random.size=4MiB", "--budget=60s", "--arms=host,container"},
			prepare: func(i installed) { i.copy(fio, "fio") },
			replace: func(i installed) { i.copy(fio, "fio") }, replaced: "fio",
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := install(t)
			if c.prepare != nil {
				c.prepare(i)
			}
			said, code, result := i.run(func() { c.replace(i) }, c.args...)
			if code != 1 || !strings.Contains(said, i.path(c.replaced)+" was replaced during the run") {
				t.Errorf("exit code %d:\n%s", code, said)
			}
			r, err := record.Read(result)
			if err != nil {
				t.Fatal(err)
			}
			last := r.Lines[len(r.Lines)-1].End
			if last == nil || !strings.Contains(last.Detail, i.path(c.replaced)) {
				t.Errorf("the record ends with %+v", last)
			}
			if out, err := exec.Command("/proc/self/exe", "__cli", "report", result).CombinedOutput(); err != nil {
				t.Errorf("report: %v\n%s", err, out)
			}
		})
	}
}

// TestReplacedBeforeContinue replaces a program between a run and tare run --continue: the content decides.
func TestReplacedBeforeContinue(t *testing.T) {
	testneed.Root(t)
	runc := testneed.Tool(t, "runc")
	for name, c := range map[string]struct {
		replace func(installed)
		want    string // path of the file that is named; empty: the run is continued
	}{
		"the same tare again": {replace: func(i installed) { i.copy("/proc/self/exe", "tare") }},
		"another tare": {want: "tare", replace: func(i installed) {
			i.copy("/proc/self/exe", "tare")
			f, err := os.OpenFile(i.path("tare"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				i.t.Fatal(err)
			}
			if _, err := f.WriteString("another build"); err != nil {
				i.t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				i.t.Fatal(err)
			}
		}},
		"another runc": {want: "runc", replace: func(i installed) { i.script(runc, "runc", "two") }},
	} {
		t.Run(name, func(t *testing.T) {
			i := install(t)
			i.script(runc, "runc", "one")
			said, code, result := i.run(nil, "quick", "--workload=rpc", "--budget=10s", "--arms=host,container")
			if code != 0 {
				t.Fatalf("exit code %d:\n%s", code, said)
			}
			c.replace(i)
			var out bytes.Buffer
			cmd := i.command(&out, "run", "--continue", result, "--budget=10s", "--no-progress")
			err := cmd.Run()
			want := 0
			if c.want != "" {
				want = 2
			}
			if cmd.ProcessState.ExitCode() != want || !strings.Contains(out.String(), i.path(c.want)) && want != 0 {
				t.Errorf("%v, want exit code %d:\n%s", err, want, out.String())
			}
		})
	}
}
