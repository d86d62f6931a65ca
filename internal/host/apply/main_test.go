package apply

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

// TestMain makes the test binary a load that uses CPU time.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "__busy" {
		for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
			touched = make([]byte, 1<<20) // the memory controller has something to count
			for i := 0; i < len(touched); i += os.Getpagesize() {
				touched[i]++
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var touched []byte

// kinds are what a journal of these tests has.
func kinds() journal.Kinds { return journal.Kinds{journal.KindOf[Step]()} }

// setting is one setting of the load.
func setting(key record.SettingKey, value string) []record.RemedySetting {
	return []record.RemedySetting{{On: record.OnLoad, Key: key, Value: value}}
}

// planned plans a setting, or fails the test.
func planned(t *testing.T, word string, s []record.RemedySetting) *Planned {
	t.Helper()
	p, err := plan(t, word, s)
	if err != nil {
		t.Fatalf("%s: %v (%s)", word, err, hint.Of(err))
	}
	return p
}

func plan(t *testing.T, word string, s []record.RemedySetting) (*Planned, error) {
	t.Helper()
	target, err := Parse(word)
	if err != nil {
		t.Fatal(err)
	}
	return Plan(t.Context(), target, kube.Access{}, s, nil)
}

// refused checks that a setting is refused with a text and a remedy.
func refused(t *testing.T, word string, s []record.RemedySetting, want string) {
	t.Helper()
	_, err := plan(t, word, s)
	if err == nil || !strings.Contains(err.Error(), want) || hint.Of(err) == "" {
		t.Errorf("%s, %v: %v (%s), want %q with a remedy", word, s, err, hint.Of(err), want)
	}
}

// made makes a plan with a journal.
func made(t *testing.T, p *Planned) (j *journal.Journal) {
	t.Helper()
	j, err := journal.Open(t.TempDir(), "r1")
	if err == nil {
		err = p.Make(t.Context(), j)
	}
	if err != nil {
		t.Fatalf("make: %v", err)
	}
	t.Cleanup(func() { j.Close() })
	if j.Left() != len(p.Steps) {
		t.Errorf("%d steps in the journal, want %d", j.Left(), len(p.Steps))
	}
	return j
}

// step is a step as the journal of p has it.
func (p *Planned) step(i int) Step {
	s := p.Steps[i]
	s.ID = "tare-r1"
	return s
}

func stateOf(t *testing.T, s Step) State {
	t.Helper()
	state, _, err := s.State(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// root is a root file system with busybox, which needs no libraries.
func root(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	testneed.Tool(t, "busybox")
	path, err := exec.LookPath("busybox")
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	err = errors.Join(os.Mkdir(filepath.Join(dir, "bin"), 0o755), os.Mkdir(filepath.Join(dir, "proc"), 0o755))
	to, cerr := os.OpenFile(filepath.Join(dir, "bin/busybox"), os.O_CREATE|os.O_WRONLY, 0o755)
	if err = errors.Join(err, cerr); err == nil {
		_, err = io.Copy(to, from)
		err = errors.Join(err, to.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
