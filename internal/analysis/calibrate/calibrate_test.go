package calibrate_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tarelab/tare/internal/analysis/calibrate"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/record"
)

// Every size is planted in every way, in an order that depends on the seed, and the experiment is
// valid for the catalog.
func TestPlantIsWhatIsAsked(t *testing.T) {
	planted := calibrate.Plant(7)
	if !cmp.Equal(planted, calibrate.Plant(7)) || cmp.Equal(planted, calibrate.Plant(8)) {
		t.Error("the order is not the seed's")
	}
	e, err := experiment.Parse("calibration.yaml", calibrate.Experiment(planted, 7, 10*time.Minute), catalog.Words())
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Named) != len(planted)+1 || e.Budget != 10*time.Minute || e.Seed != 7 {
		t.Errorf("%d arms, budget %v, seed %d", len(e.Named), e.Budget, e.Seed)
	}
	for i, p := range planted {
		a := e.Named[i+1]
		if a.Name != p.Arm {
			t.Fatalf("arm %d is %s, want %s", i+1, a.Name, p.Arm)
		}
		if got := lost(t, a.Set, a.CPUs); math.Abs(got-p.Loss) > 1e-6 {
			t.Errorf("%s by %s loses %g, want %g", p.Arm, p.How, got, p.Loss)
		}
	}
}

// lost is the true loss of an arm, from its settings.
func lost(t *testing.T, set map[string]string, cpus float64) float64 {
	t.Helper()
	number := func(name string) (x float64) {
		if err := json.Unmarshal([]byte(set[name]), &x); err != nil {
			t.Fatalf("%s=%q: %v", name, set[name], err)
		}
		return x
	}
	switch {
	case cpus > 0:
		return 1 - cpus
	case set["idle"] != "":
		return number("idle")
	case set["work"] != "":
		return 1 - 1/number("work")
	}
	return 0
}

// effects returns the effects of a calibration that measured each loss too large by shift, with a
// half-width in logarithms.
func effects(planted []calibrate.Planted, shift, half float64) *record.Effects {
	e := &record.Effects{Workloads: []record.WorkloadResult{{Name: calibrate.Workload, Blocks: 10, Seconds: 100}}}
	own := func(loss float64) *record.Ratio {
		x := math.Log1p(-loss) - shift
		return &record.Ratio{Ratio: math.Exp(x), Low: math.Exp(x - half), High: math.Exp(x + half)}
	}
	inverse := func(r *record.Ratio) *record.Ratio {
		return &record.Ratio{Ratio: 1 / r.Ratio, Low: 1 / r.High, High: 1 / r.Low}
	}
	for _, p := range planted {
		e.Effects = append(e.Effects, record.Effect{Workload: calibrate.Workload, Arm: p.Arm, Metric: "throughput", Own: own(p.Loss)},
			record.Effect{Workload: calibrate.Workload, Arm: p.Arm, Metric: "cpu_per_op", Own: inverse(own(p.Loss))},
			record.Effect{Workload: calibrate.Workload, Arm: p.Arm, Metric: "p50", Own: own(p.Loss)})
	}
	e.Twin = []record.Effect{{Workload: calibrate.Workload, Arm: "twin", Metric: "throughput", Own: own(0)}}
	e.Arms = make([]record.ArmResult, len(planted)+2)
	return e
}

func TestJudge(t *testing.T) {
	planted := calibrate.Plant(1)
	n := len(planted) + 1 + 1 + 4 // throughput with the twin's, CPU per operation of none and of more work
	for name, c := range map[string]struct {
		shift, half    float64
		covered, wrong int
	}{
		"exact":       {0, 0.004, n, 0},
		"too narrow":  {0.01, 0.004, 0, 4},
		"wide enough": {0.01, 0.02, n, 0},
	} {
		got := calibrate.Judge(effects(planted, c.shift, c.half), planted)
		if len(got.Losses) != n || got.Covered != (record.Proportion{Count: c.covered, Of: n}) || got.FalsePositives != (record.Proportion{Count: c.wrong, Of: 4}) {
			t.Errorf("%s: %d losses, covered %v, false positives %v", name, len(got.Losses), got.Covered, got.FalsePositives)
		}
	}
}

// Four times the time halves the smallest loss; a missing interval is a reason and not 0.
func TestSmallest(t *testing.T) {
	planted := calibrate.Plant(1)
	e := effects(planted, 0, 0.01)
	got := calibrate.Judge(e, planted).Smallest
	if len(got) != 3 || got[0].Seconds != 60 {
		t.Fatalf("%+v", got)
	}
	// 100 s for 16 arms are 100*3/16 s for three; an effect of (1.96+0.84)/1.96
	// half-widths shows in 80 %.
	want := 0.01 * math.Sqrt(100.0*3/16/60) * (1.959964 + 0.841621) / 1.959964
	if have := -math.Log1p(-got[0].Loss); math.Abs(have-want) > 1e-6 {
		t.Errorf("in a minute %g, want %g", have, want)
	}
	for i := range e.Effects {
		e.Effects[i].Own, e.Effects[i].Reason = nil, record.InProse("one block")
	}
	e.Twin[0].Own = nil
	none := calibrate.Judge(e, planted)
	if none.Smallest != nil || none.Covered.Of != 0 || none.Losses[0].Measured != nil || none.Losses[0].Reason.IsZero() {
		t.Errorf("%+v", none)
	}
}

func TestKeepAndLast(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	host := record.Host{Name: "db7", CPUModel: "x", CPUs: 2}
	if c, err := calibrate.Last(dir, host); c != nil || err != nil {
		t.Errorf("before the first: %v, %v", c, err)
	}
	c := &record.Calibration{Schema: record.CalibrationSchema, Host: host, Seed: 9, Losses: []record.PlantedLoss{}, Left: []record.Left{}}
	for range 2 {
		if err := calibrate.Keep(dir, c); err != nil {
			t.Fatal(err)
		}
	}
	got, err := calibrate.Last(dir, host)
	if err != nil || !cmp.Equal(got, c) {
		t.Errorf("%v, %s", err, cmp.Diff(c, got))
	}
	if other, err := calibrate.Last(dir, record.Host{Name: "db8", CPUModel: "x", CPUs: 2}); other != nil || err != nil {
		t.Errorf("of another host: %v, %v", other, err)
	}
	files, _ := os.ReadDir(dir)
	if len(files) != 1 {
		t.Fatalf("%d files", len(files))
	}
	path := filepath.Join(dir, files[0].Name())
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if err := os.Chmod(path, 0o620); err != nil {
		t.Fatal(err)
	}
	if c, err := calibrate.Last(dir, host); c != nil || err == nil {
		t.Error("a file that others can write counts")
	}
	if err := errors.Join(os.Rename(path, path+".moved"), os.Symlink(path+".moved", path)); err != nil {
		t.Fatal(err)
	}
	if c, err := calibrate.Last(dir, host); c != nil || err == nil {
		t.Error("a link counts")
	}
}
