package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/record"
)

// kept is a result in a directory of its own whose effects are another's: of an experiment that was killed.
func kept(t *testing.T, statistics int) (dir, honest, other string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "r")
	if err := os.CopyFS(dir, os.DirFS(realResult)); err != nil {
		t.Fatal(err)
	}
	_, e, err := analyse(dir)
	if err != nil {
		t.Fatal(err)
	}
	honest = inEnglish().Sentence(e)
	e.Ended, e.Statistics = record.EndedKilled, statistics
	if other = inEnglish().Sentence(e); other == honest {
		t.Fatalf("both are %q", honest)
	}
	if err := keepEffects(dir, e); err != nil {
		t.Fatal(err)
	}
	written(t, dir, record.RecordFile, time.Hour)
	return dir, honest, other
}

func inEnglish() report.Language { return report.In(messages.In(messages.English)) }

// written sets the time of a file: so long ago.
func written(t *testing.T, dir, file string, ago time.Duration) {
	t.Helper()
	at := time.Now().Add(-ago)
	if err := os.Chtimes(filepath.Join(dir, file), at, at); err != nil {
		t.Fatal(err)
	}
}

// ruin makes a record that nobody can read.
func ruin(t *testing.T, dir string, ago time.Duration) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, record.RecordFile), []byte("no record\nat all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	written(t, dir, record.RecordFile, ago)
}

// tare list shows the answer that a result keeps, without a look at its record.
func TestListShowsWhatIsKept(t *testing.T) {
	dir, _, other := kept(t, analysis.Statistics)
	if got := answerIn(dir, inEnglish()); got != other {
		t.Errorf("%q, want %q", got, other)
	}
	ruin(t, dir, time.Hour)
	if got := answerIn(dir, inEnglish()); got != other {
		t.Errorf("with a record that cannot be read: %q, want %q", got, other)
	}
	ruin(t, dir, -time.Hour)
	if got := answerIn(dir, inEnglish()); got != other {
		t.Errorf("with a newer record that cannot be read: %q, want %q", got, other)
	}
}

// An answer of before the record, by other rules or not kept at all is computed, and kept: the next list reads it.
func TestListKeepsWhatItJudges(t *testing.T) {
	for what, change := range map[string]func(t *testing.T) (dir, honest string){
		"a newer record": func(t *testing.T) (string, string) {
			dir, honest, _ := kept(t, analysis.Statistics)
			written(t, dir, record.RecordFile, -time.Hour)
			return dir, honest
		},
		"older rules": func(t *testing.T) (string, string) {
			dir, honest, _ := kept(t, analysis.Statistics-1)
			return dir, honest
		},
		"newer rules": func(t *testing.T) (string, string) {
			dir, honest, _ := kept(t, analysis.Statistics+1)
			return dir, honest
		},
		"none": func(t *testing.T) (string, string) {
			dir, honest, _ := kept(t, analysis.Statistics)
			if err := os.Remove(filepath.Join(dir, record.EffectsFile)); err != nil {
				t.Fatal(err)
			}
			return dir, honest
		},
		"damaged effects": func(t *testing.T) (string, string) {
			dir, honest, _ := kept(t, analysis.Statistics)
			if err := os.WriteFile(filepath.Join(dir, record.EffectsFile), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
			return dir, honest
		},
	} {
		dir, honest := change(t)
		if got := answerIn(dir, inEnglish()); got != honest {
			t.Errorf("%s: %q, want %q", what, got, honest)
		}
		ruin(t, dir, time.Hour)
		if got := answerIn(dir, inEnglish()); got != honest {
			t.Errorf("%s, the second time: %q, want %q", what, got, honest)
		}
	}
	dir, _, _ := kept(t, analysis.Statistics)
	ruin(t, dir, time.Hour)
	if err := os.Remove(filepath.Join(dir, record.EffectsFile)); err != nil {
		t.Fatal(err)
	}
	if got := answerIn(dir, inEnglish()); !strings.Contains(got, "damaged") {
		t.Errorf("neither is there: %q", got)
	}
}

// The answer of a run that goes on is computed each time.
func TestListKeepsNoRunThatGoesOn(t *testing.T) {
	dir, _, _ := kept(t, analysis.Statistics)
	written(t, dir, record.RecordFile, -time.Hour)
	f, err := os.Open(filepath.Join(dir, record.RecordFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, record.EffectsFile))
	if err != nil {
		t.Fatal(err)
	}
	answerIn(dir, inEnglish())
	if after, err := os.ReadFile(filepath.Join(dir, record.EffectsFile)); err != nil || string(after) != string(before) {
		t.Errorf("kept: %v", err)
	}
}
