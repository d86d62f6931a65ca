package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// The passwords of Redis and ClickHouse, each made for one data set, are as hidden as those of the
// other databases. From the data set on to the end of the run no process has one in its arguments
// or in its environment, whatever environment the arm has and wherever its client is, and result,
// journal and output do not have it. The server knows a digest; the load reads a file that is
// closed to others.
func TestPasswordsOfServers(t *testing.T) {
	testneed.Root(t)
	testneed.Tool(t, "runc")
	for kind, c := range map[string]struct{ program, params string }{
		"redis":      {"redis-server", "keys: 100, connections: 2"},
		"clickhouse": {"clickhouse-server", "rows: 1000, concurrency: 1"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			testneed.Tool(t, c.program)
			home := t.TempDir()
			d := &database{t: t, home: home, dir: filepath.Join(home, "result")} // its data set is its own
			file := filepath.Join(home, "db.yaml")
			if err := os.WriteFile(file, fmt.Appendf(nil, `
budget: 20s
generations: 1
window: 100ms
workloads:
  beside:
    kind: %[1]s
    params: {%[2]s}
    arms: [cgroup, container]
  within:
    kind: %[1]s
    params: {%[2]s, client: inside}
    arms: [cgroup]
`, kind, c.params), 0o600); err != nil {
				t.Fatal(err)
			}
			seen := d.begin("run", file, "-o", d.dir).watch()
			r := d.end(0)
			if !seen[c.program[:min(15, len(c.program))]] || !seen["tare"] {
				t.Errorf("of the run only %v was seen", seen)
			}
			secret := d.secret()
			assertNoPassword(t, d, secret)
			if arms := len(r.Manifest.Settings); arms < 3 {
				t.Errorf("%d arms were measured\n%s", arms, d.out.String())
			}
		})
	}
}

// watch looks for the passwords of a run's data sets in every process of this host until the run
// has ended, and says which programs it saw in the run's control groups.
func (d *database) watch() (seen map[string]bool) {
	d.t.Helper()
	seen = map[string]bool{}
	for end := time.Now().Add(10 * time.Minute); !d.ended(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			d.t.Fatal("the run does not end")
		}
		if secrets := d.secrets(); len(secrets) > 0 {
			d.look(secrets, seen)
		}
	}
	return seen
}

// secrets returns the passwords of the data sets that exist or are being prepared. Only their owner
// reads them.
func (d *database) secrets() (all [][]byte) {
	_ = filepath.WalkDir(d.data(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() != db.SecretFile {
			return nil // it may go meanwhile
		}
		b, err := os.ReadFile(path)
		info, infoErr := e.Info()
		if errors.Join(err, infoErr) == nil && len(b) >= 16 {
			all = append(all, bytes.TrimSpace(b))
			if m := info.Mode(); m.Perm() != 0o600 {
				d.t.Errorf("%s has mode %v", path, m)
			}
		}
		return nil
	})
	return all
}

// look looks at all processes once.
func (d *database) look(secrets [][]byte, seen map[string]bool) {
	id := runID(d.dir)
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		comm, _ := os.ReadFile(filepath.Join(dir, "comm"))
		name := strings.TrimSpace(string(comm))
		for _, file := range []string{"cmdline", "environ"} {
			b, _ := os.ReadFile(filepath.Join(dir, file))
			if slices.ContainsFunc(secrets, func(s []byte) bool { return bytes.Contains(b, s) }) {
				d.t.Errorf("the password is in the %s of %s", file, name)
			}
		}
		if groups, _ := os.ReadFile(filepath.Join(dir, "cgroup")); id != "" && bytes.Contains(groups, []byte("tare-"+id)) {
			seen[name] = true
		}
	}
}
