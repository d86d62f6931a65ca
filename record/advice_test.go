package record_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tarelab/tare/record"
)

// An advice is read as it was written. Without one the directory holds none; a damaged or a newer one is an
// error.
func TestAdvice(t *testing.T) {
	dir, best := t.TempDir(), 0
	if _, err := record.ReadAdvice(dir); !errors.Is(err, record.ErrNoRecord) {
		t.Errorf("none: %v", err)
	}
	want := record.Advice{
		Schema: record.AdviceSchema, Experiment: "x", Margin: 0.01, Stages: []record.AdviceStage{{Kind: record.StageLoss, Dir: "1-loss", Seed: 1<<53 - 1}}, NotLost: []record.AdviceNoLoss{},
		Losses: []record.AdviceLoss{{
			Workload: "w", Lost: record.Ratio{Ratio: 0.5, Low: 0.4, High: 0.6}, Remedy: &best, Standing: record.StandingProved,
			Causes: []record.CauseShare{{Causes: []record.LossCause{record.LossNAT}, Share: &record.Share{Share: 1}, By: record.ByStep}},
			Candidates: []record.Candidate{{Remedies: []string{"a"}, Arm: "a", Apply: []record.RemedySetting{{On: record.OnLoad, Key: record.KeyNetwork, Value: "host"}},
				Undo: []record.RemedySetting{{On: record.OnLoad, Key: record.KeyNetwork}}, Result: &record.RemedyResult{Answer: record.Says{Word: record.SaysFaster}}}},
		}},
	}
	if err := record.WriteJSON(dir, record.AdviceFile, &want); err != nil {
		t.Fatal(err)
	}
	got, err := record.ReadAdvice(dir)
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	for text, is := range map[string]error{
		`{"schema":"tare/advice/v1","losses":[{"remedy":3,"candidates":[]}]}`: record.ErrDamaged, `{"schema":"tare/advice/v2"}`: record.ErrNewer, `{"schema":"tare/adv`: record.ErrDamaged,
	} {
		if err := os.WriteFile(filepath.Join(dir, record.AdviceFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := record.ReadAdvice(dir); !errors.Is(err, is) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The vocabulary has no word twice.
func TestVocabularyOfAdvice(t *testing.T) {
	for _, n := range []int{len(slices.Compact(slices.Sorted(slices.Values(record.SettingKeys())))) - len(record.SettingKeys()),
		len(slices.Compact(slices.Sorted(slices.Values(record.LossCauses())))) - len(record.LossCauses())} {
		if n != 0 {
			t.Error("a word stands there twice")
		}
	}
}
