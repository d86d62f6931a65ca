package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/undo/hostlock"
	"github.com/tarelab/tare/record"
)

const secret = "not-to-be-read"

// plants are things that somebody else may have put in the place of a file of a result.
func plants(t *testing.T) map[string]func(path string) error {
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if b, err := os.ReadFile(outside); err != nil || string(b) != secret {
			t.Errorf("the file outside is %q now: %v", b, err)
		}
	})
	return map[string]func(string) error{
		"a pipe":                    func(p string) error { return syscall.Mkfifo(p, 0o644) },
		"a device without an end":   func(p string) error { return unix.Mknod(p, unix.S_IFCHR|0o644, int(unix.Mkdev(1, 5))) },
		"a link to a device":        func(p string) error { return os.Symlink("/dev/zero", p) },
		"a link to a secret":        func(p string) error { return os.Symlink(outside, p) },
		"another name of a secret":  func(p string) error { return os.Link(outside, p) },
		"a link to itself":          func(p string) error { return os.Symlink(filepath.Base(p), p) },
		"a directory":               func(p string) error { return os.Mkdir(p, 0o755) },
		"a terabyte without blocks": func(p string) error { return errors.Join(os.WriteFile(p, nil, 0o644), os.Truncate(p, 1<<40)) },
	}
}

// No command in any form waits for, reads or writes through what somebody planted in a result.
func TestPlanted(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv(hostlock.DirEnv, t.TempDir()) // tests of other packages may hold the lock
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	files := shortened(t)
	for how, plant := range plants(t) {
		for _, victim := range []string{record.PlanFile, record.ManifestFile, record.RecordFile, record.EffectsFile, record.TableFile, record.NodesFile, record.PageFile} {
			dir := filepath.Join(t.TempDir(), "r")
			for name, b := range files {
				if err := os.WriteFile(filepath.Join(mkdir(t, dir), name), b, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(dir, victim)
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if err := plant(path); errors.Is(err, fs.ErrPermission) {
				continue // only root makes devices
			} else if err != nil {
				t.Fatal(err)
			}
			needed := files[victim] != nil || victim == record.NodesFile
			commands := [][]string{{"report", dir}, {"report", dir, "--open"}, {"check", dir, "--max-cost", "throughput=5%"}}
			if needed {
				commands = append(commands, []string{"run", "--continue", dir}, []string{"report", dir, "--format", "json"},
					[]string{"compare", realResult, dir, "--force"}, []string{"compare", dir, realResult, "--force"})
			}
			for _, args := range commands {
				ended(t, fmt.Sprintf("%s as %s", victim, how), needed, args)
			}
		}
	}
}

// ended wants a command to end within seconds, without the secret in its output, and if it needs
// the planted file with an error that names a file.
func ended(t *testing.T, what string, needed bool, args []string) {
	t.Helper()
	start := time.Now()
	out, said, code := called(t, args...)
	switch took := time.Since(start); {
	case took > 20*time.Second:
		t.Errorf("%s, %q: took %v", what, args, took)
	case strings.Contains(out+said, secret):
		t.Errorf("%s, %q: what is outside was printed", what, args)
	case needed && (out != "" || said == "" || code != exitError && code != exitUsage), !needed && !goesOn(args, code, said):
		t.Errorf("%s, %q: exit %d, %d bytes printed\n%s", what, args, code, len(out), said)
	}
}

// goesOn says whether a command that does not need the planted file ended as it should: check
// judges, and report --open may fail to write its page there.
func goesOn(args []string, code int, said string) bool {
	switch {
	case args[0] == "check":
		return code != exitError && code != exitUsage
	case args[len(args)-1] == "--open":
		return code == exitOK || said != ""
	}
	return code == exitOK
}
