package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// database is a run of sysbench on real servers.
type database struct {
	t           *testing.T
	dir         string // of the result
	home, cache string // of the journal, of the data set
	cmd         *exec.Cmd
	out         bytes.Buffer // after the end
}

func startDatabase(t *testing.T, budget string, launches int) *database {
	t.Helper()
	testneed.Root(t)
	testneed.Tool(t, "mariadbd")
	testneed.Tool(t, "sysbench")
	shared, err := cache()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	d := &database{t: t, home: home, cache: shared, dir: filepath.Join(home, "result")}
	file := filepath.Join(home, "db.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, `
budget: %s
generations: %d
window: 100ms
workloads:
  db:
    kind: sysbench
    params: {tables: 2, size: 1000, threads: 2, redo_log: 16M}
    arms: [cgroup]
`, budget, launches), 0o600); err != nil {
		t.Fatal(err)
	}
	return d.begin("run", file, "-o", d.dir)
}

// begin starts tare. What tare leaves is removed at the end of the test.
func (d *database) begin(args ...string) *database {
	d.t.Helper()
	d.cmd = d.tool(args...)
	d.cmd.Stdout, d.cmd.Stderr = &d.out, &d.out
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		d.cmd.Process.Kill()
		d.cmd.Wait()
		d.tool("cleanup").Run()
	})
	return d
}

// data returns the directory of its data set: that of the package, or its own.
func (d *database) data() string { return cmp.Or(d.cache, filepath.Join(d.home, "cache")) }

func (d *database) tool(args ...string) *exec.Cmd {
	return commandLine(d.t, d.home, d.data(), args...)
}

// measuring waits for a block in the record; more blocks of the same launch follow.
func (d *database) measuring() *database {
	d.t.Helper()
	for end := time.Now().Add(stuck); ; time.Sleep(20 * time.Millisecond) {
		b, _ := os.ReadFile(filepath.Join(d.dir, record.RecordFile))
		if bytes.Count(b, []byte(`"block":{`)) >= 1 {
			return d
		}
		if d.ended() || time.Now().After(end) {
			d.t.Fatalf("no block in the record\n%s", d.out.String())
		}
	}
}

// ended says whether the process has ended; somebody still has to wait for it.
func (d *database) ended() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, d.cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
	return err != nil || info.Signo != 0
}

// server returns the pid of the database server of an arm, if need be of the next launch.
func (d *database) server(arm string) int {
	d.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if pid := d.find(arm); pid > 0 {
			return pid
		}
	}
	d.t.Fatalf("no server of the arm %s", arm)
	return 0
}

func (d *database) find(arm string) int {
	group := regexp.MustCompile(regexp.QuoteMeta(runID(d.dir)) + `\S*/` + arm + `\n`)
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, l := range links {
		exe, _ := os.Readlink(l)
		groups, _ := os.ReadFile(filepath.Join(filepath.Dir(l), "cgroup"))
		if filepath.Base(exe) == "mariadbd" && group.Match(groups) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(l)))
			return pid
		}
	}
	return 0
}

// end waits for the end and returns the record. Nothing may be left on the host.
func (d *database) end(code int) *record.Result {
	d.t.Helper()
	d.cmd.Wait()
	if got := d.cmd.ProcessState.ExitCode(); got != code {
		d.t.Errorf("ended with %d, want %d\n%s", got, code, d.out.String())
	}
	for _, left := range leftOf(runID(d.dir)) {
		d.t.Errorf("left: %s", left)
	}
	r, err := record.Read(d.dir)
	if err != nil {
		d.t.Fatal(err)
	}
	if out, err := d.tool("report", d.dir).CombinedOutput(); err != nil {
		d.t.Errorf("tare report: %v\n%s", err, out)
	}
	return r
}

// secret returns the password of the data set.
func (d *database) secret() []byte {
	d.t.Helper()
	files, _ := filepath.Glob(filepath.Join(d.data(), "tare/data/*/secret"))
	if len(files) != 1 {
		d.t.Fatalf("passwords in %q", files)
	}
	b, err := os.ReadFile(files[0])
	if b = bytes.TrimSpace(b); err != nil || len(b) < 16 {
		d.t.Fatalf("password %q: %v", b, err)
	}
	return b
}

// A server that is killed in a window loses that block, with the reason, and its arm the rest of
// the launch; the next launch has the arm again. The password is in no argument, no environment, no
// log and no record.
func TestServerDiesInAWindow(t *testing.T) {
	t.Parallel()
	d := startDatabase(t, "60s", 2).measuring() // beside other work a launch can take 20 s
	secret := d.secret()
	for _, name := range []string{"cmdline", "environ"} {
		files, _ := filepath.Glob("/proc/[0-9]*/" + name)
		for _, f := range files {
			if b, _ := os.ReadFile(f); bytes.Contains(b, secret) {
				t.Errorf("the password is in %s", f)
			}
		}
	}
	unix.Kill(d.server("cgroup"), unix.SIGKILL)
	r := d.end(0)
	dropped, later := 0, 0
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		whole := 0
		for _, w := range l.Block.Windows {
			switch w.Dropped {
			case "":
				whole++
			case record.DropDied, record.DropError:
				dropped++
				if !strings.Contains(w.Detail, "SIGKILL") && !strings.Contains(strings.ToLower(w.Detail), "lost") {
					t.Errorf("dropped for %q: %s", w.Dropped, w.Detail)
				}
			}
		}
		if dropped > 0 && whole == 3 {
			later++
		}
	}
	if dropped == 0 || later == 0 {
		t.Errorf("%d windows dropped, %d whole ones after that\n%s", dropped, later, d.out.String())
	}
	assertNoPassword(t, d, secret)
}

// assertNoPassword checks that no file of the result or of the journal has the password.
func assertNoPassword(t *testing.T, d *database, secret []byte) {
	t.Helper()
	n := 0
	for _, dir := range []string{d.dir, filepath.Join(d.home, "state")} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			if n++; bytes.Contains(b, secret) {
				t.Errorf("the password is in %s", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if n < 5 || bytes.Contains(d.out.Bytes(), secret) {
		t.Errorf("%d files; said:\n%s", n, d.out.String())
	}
}

// Without the baseline's server there is nothing to compare: the run ends with an error that says
// why, and the record has its end.
func TestBaselineServerDies(t *testing.T) {
	t.Parallel()
	d := startDatabase(t, "10m", 2).measuring()
	unix.Kill(d.server("host"), unix.SIGKILL)
	r := d.end(1)
	last := r.Lines[len(r.Lines)-1].End
	if last == nil || last.Reason != "error" || !strings.Contains(last.Detail, "SIGKILL") {
		t.Errorf("the record ends with %+v", last)
	}
	if !strings.Contains(d.out.String(), "SIGKILL") {
		t.Errorf("nobody says why:\n%s", d.out.String())
	}
}

// raw/ has the report lines of sysbench as it printed them, and every window begins with a placement of its own.
func TestReportLinesAreKept(t *testing.T) {
	t.Parallel()
	d := startDatabase(t, "8s", 2)
	for _, l := range d.end(0).Lines {
		if g := l.Generation; g != nil && !g.PlacementsDrawn {
			t.Errorf("no placements were drawn: %+v", g)
		}
	}
	logs, _ := filepath.Glob(filepath.Join(d.dir, record.RawDir, "db-*.log"))
	lines := 0
	for _, l := range logs {
		b, err := os.ReadFile(l)
		if err != nil {
			t.Fatal(err)
		}
		lines += bytes.Count(b, []byte("s ] thds: 2 tps: "))
	}
	if lines == 0 {
		t.Errorf("no report line in %s", fmt.Sprint(logs))
	}
}
