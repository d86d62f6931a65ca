package analysis

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// remediesOf are Remedies of a record with its own effects.
func remediesOf(t *testing.T, r *record.Result, ask Remedied) ([]record.RemedyResult, error) {
	t.Helper()
	e, err := analyseWith(r, 0)
	if err != nil {
		t.Fatal(err)
	}
	return Remedies(r, e, ask)
}

// besideHogs is a record of arms with a known loss: a hog takes 60 %, and remedies of every kind.
func besideHogs(seed uint64, launches int) *record.Result {
	return fair{seed: seed, generations: launches, noise: 0.03, workNoise: 0.05, light: true, stands: []stand{
		{name: "alone", alone: true, rate: 10000},
		{name: "none", rate: 4000, work: 100},
		{name: "idle", isolation: []string{"cpu.idle"}, rate: 9700, work: 5},
		{name: "quota", isolation: []string{"cpu.quota"}, rate: 7000, work: 40},
		{name: "useless", isolation: []string{"nice"}, rate: 4000, work: 100},
		{name: "worse", isolation: []string{"cpuset.pinned"}, rate: 3000, work: 110},
	}}.result()
}

// Each remedy has the verdict, the part of the loss and the neighbour's work that the record was made with.
func TestRemedies(t *testing.T) {
	arms := []string{"idle", "quota", "useless", "worse"}
	got, err := remediesOf(t, besideHogs(3, 6), Remedied{Workload: "oltp", Metric: "throughput", Lost: "none", Baseline: "alone", Arms: arms})
	if err != nil || len(got) != len(arms) {
		t.Fatalf("%d results: %v", len(got), err)
	}
	for i, want := range []struct {
		word  record.AnswerWord
		share float64
		kept  float64
	}{
		{record.SaysFaster, 0.95, 0.05}, {record.SaysFaster, 0.5, 0.4}, {"", 0, 1}, {record.SaysSlower, -1.0 / 6, 1.1},
	} {
		r := got[i]
		if word := r.Answer.Word; word != want.word && want.word != "" || want.word == "" && (word == record.SaysFaster || word == record.SaysSlower) {
			t.Errorf("%s: %s, want %q", arms[i], word, want.word)
		}
		if r.Regained == nil || want.share < r.Regained.Low || want.share > r.Regained.High || r.Regained.High-r.Regained.Low > 0.3 {
			t.Errorf("%s regains %+v, want about %.2f", arms[i], r.Regained, want.share)
		}
		if r.Kept == nil || math.Abs(r.Kept.Ratio-want.kept) > 0.1 {
			t.Errorf("%s: the neighbour keeps %+v, want about %.2f", arms[i], r.Kept, want.kept)
		}
		if r.Launches != 6 || r.Gained == nil || r.Left == nil {
			t.Errorf("%s: %+v", arms[i], r)
		}
	}
}

// A verdict needs four launches; a record with a broken twin has none about what is not larger; unknown names are errors.
func TestRemediesWithoutVerdict(t *testing.T) {
	ask := Remedied{Workload: "oltp", Metric: "throughput", Lost: "none", Baseline: "alone", Arms: []string{"idle"}}
	few, err := remediesOf(t, besideHogs(4, 3), ask)
	if err != nil || few[0].Answer.Word != record.SaysUndecided || !strings.Contains(said.English(few[0].Answer.Reason), "4 launches") || few[0].Answer.Seconds <= 0 {
		t.Errorf("three launches: %+v, %v", few, err)
	}
	// idle gains 140 %: more than twice what a twin of 80 % differs by, and less than that of one of 50 %.
	for of, want := range map[uint64]record.AnswerWord{8: record.SaysFaster, 5: record.SaysInvalid} {
		broken := besideHogs(5, 6)
		for _, l := range broken.Lines {
			for i := range l.Block.Windows {
				if w := &l.Block.Windows[i]; w.Arm == "twin" {
					w.Ops = w.Ops * of / 10
				}
			}
		}
		if got, err := remediesOf(t, broken, ask); err != nil || got[0].Answer.Word != want || (!got[0].Answer.Reason.IsZero()) != (want == record.SaysInvalid) {
			t.Errorf("a twin of %d0 %%: %+v, %v", of, got, err)
		}
	}
	for _, wrong := range []Remedied{{Workload: "x", Metric: "throughput"}, {Workload: "oltp", Metric: "x"}} {
		if _, err := remediesOf(t, besideHogs(6, 4), wrong); err == nil {
			t.Errorf("%+v is no error", wrong)
		}
	}
	ask.Arms = []string{"nobody"}
	if got, err := remediesOf(t, besideHogs(6, 4), ask); err != nil || got[0].Answer.Word != record.SaysUndecided || got[0].Gained != nil {
		t.Errorf("an arm that is not there: %+v, %v", got, err)
	}
}

// Where nothing is lost, no part of a loss is regained, whatever the arms do.
func TestRemediesWithoutLoss(t *testing.T) {
	r := fair{seed: 9, generations: 6, noise: 0.03, light: true, stands: []stand{
		{name: "alone", alone: true, rate: 10000}, {name: "none", rate: 12000, work: 1}, {name: "idle", isolation: []string{"cpu.idle"}, rate: 12000, work: 1},
	}}.result()
	got, err := remediesOf(t, r, Remedied{Workload: "oltp", Metric: "throughput", Lost: "none", Baseline: "alone", Arms: []string{"idle"}})
	if err != nil || got[0].Regained != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// Of many remedies that do nothing, at most 5 % of the families find one.
func TestRemediesKeepTheirLevel(t *testing.T) {
	const runs = 120
	found := 0
	for seed := range uint64(runs) {
		stands := []stand{{name: "alone", alone: true, rate: 10000}, {name: "none", rate: 5000, work: 1}}
		ask := Remedied{Workload: "oltp", Metric: "throughput", Lost: "none", Baseline: "alone"}
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			stands = append(stands, stand{name: name, isolation: []string{name}, rate: 5000, work: 1})
			ask.Arms = append(ask.Arms, name)
		}
		got, err := remediesOf(t, fair{seed: seed, generations: 6, noise: 0.05, light: true, stands: stands}.result(), ask)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range got {
			if r.Answer.Word == record.SaysFaster || r.Answer.Word == record.SaysSlower {
				found++
				break
			}
		}
	}
	t.Logf("%d of %d families find a difference", found, runs)
	if found > 14 { // 5 % of 120 are 6; beyond 14 with probability 0.2 %
		t.Errorf("%d of %d families find a difference where there is none", found, runs)
	}
}

// What the record's own effects and prices have is the same there and in the remedies: one effect has one interval.
func TestRemediesHaveTheRecordsIntervals(t *testing.T) {
	for seed := range uint64(5) {
		r := besideHogs(20+seed, 4+int(seed))
		e, err := analyseWith(r, 0)
		if err != nil {
			t.Fatal(err)
		}
		ask := Remedied{Workload: "oltp", Metric: "throughput", Lost: "none", Baseline: "alone", Arms: []string{"idle", "quota", "useless", "worse"}}
		got, err := Remedies(r, e, ask)
		if err != nil {
			t.Fatal(err)
		}
		for i, arm := range ask.Arms {
			for _, x := range e.Effects {
				if x.Metric == ask.Metric && (x.Arm == arm && !reflect.DeepEqual(x.Typical, got[i].Left) || x.Arm == ask.Lost && !reflect.DeepEqual(x.Typical, got[i].Lost)) {
					t.Errorf("%s: %+v in the record, %+v and %+v in the remedy", x.Arm, x.Typical, got[i].Left, got[i].Lost)
				}
			}
			for _, row := range e.Prices[0].Rows {
				if row.Arm == arm && (!reflect.DeepEqual(row.Back[0].Share, got[i].Regained) || !reflect.DeepEqual(row.Kept, got[i].Kept) || !reflect.DeepEqual(row.Back[0].Unprotected, got[i].Gained)) {
					t.Errorf("%s: %+v and %+v in the table of prices, %+v and %+v in the remedy", arm, row.Back[0].Share, row.Kept, got[i].Regained, got[i].Kept)
				}
			}
		}
	}
}
