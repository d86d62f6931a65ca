package importer_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/logs/importer"
	"github.com/tarelab/tare/record"
)

// imports reads words as the command does, writes the record, reads it back and
// analyses it.
func imports(t *testing.T, claims []string, words ...string) *record.Effects {
	t.Helper()
	var o importer.Options
	for _, c := range claims {
		claim, err := importer.Claim(c)
		if err != nil {
			t.Fatal(err)
		}
		o.Claims = append(o.Claims, claim)
	}
	var err error
	if o.Arms, err = importer.Arms(words); err != nil {
		t.Fatal(err)
	}
	read, err := importer.Read(o)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "r")
	plan := record.Plan{Schema: record.PlanSchema, Experiment: "import", Margin: 0.01}
	if err := read.Write(dir, plan, record.Manifest{Schema: record.ManifestSchema, Started: time.Unix(0, 0).UTC()}); err != nil {
		t.Fatal(err)
	}
	back, err := record.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	e, err := analysis.Analyse(back)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// effect finds an effect; workload may be empty if there is only one.
func effect(t *testing.T, e *record.Effects, workload, arm, metric string) record.Effect {
	t.Helper()
	for _, x := range e.Effects {
		if x.Arm == arm && x.Metric == metric && (workload == "" || x.Workload == workload) {
			return x
		}
	}
	t.Fatalf("no %s of %s in %s: %+v", metric, arm, workload, e.Effects)
	return record.Effect{}
}

// wants compares the observed change in percent, to one digit as it is published.
func wants(t *testing.T, e *record.Effects, workload, arm, metric string, change float64) {
	t.Helper()
	x := effect(t, e, workload, arm, metric)
	if got := 100 * (x.Observed - 1); math.Abs(got-change) > 0.0501 {
		t.Errorf("%s %s of %s: %+.2f %%, want %+.1f %%", workload, metric, arm, got, change)
	}
	if x.Verdict != record.Undecided || x.Typical != nil || x.Total != nil {
		t.Errorf("%s of %s: a verdict or an interval from one run: %+v", metric, arm, x)
	}
}

// check finds a check of a kind about an arm.
func check(e *record.Effects, kind, arm string) record.Checks {
	for _, w := range e.Workloads {
		for _, c := range w.Checks {
			if c.Kind == kind && c.Subject == arm {
				return c
			}
		}
	}
	return record.Checks{}
}

const clickhouse = "testdata/clickhouse-colocation/"

func TestClickHouseColocation(t *testing.T) {
	e := imports(t, nil, "alone="+clickhouse+"alone.json", "hog="+clickhouse+"hog-no-isolation.json", "qos="+clickhouse+"hog-qos-level.json")
	wants(t, e, "", "hog", "throughput", -50.0)
	wants(t, e, "", "hog", "p50", 73.3)
	wants(t, e, "", "hog", "p90", 96.4)
	wants(t, e, "", "hog", "p99", 78.0)
	wants(t, e, "", "qos", "throughput", -0.15)
	if len(e.Caveats) == 0 || !strings.Contains(said.English(e.Caveats[0].Text), "One run per arm, measured one after the other: a drift of the host looks like a loss") {
		t.Errorf("what cannot be known is not said first: %+v", e.Caveats)
	}
}

// The study's own percentages: the rate's has the right base, those of the latencies a wrong one.
func TestWrongBase(t *testing.T) {
	for claim, want := range map[string]string{
		"qps=-50%":   "and it does",
		"p50=-42%":   "wrong base",
		"p90=-49%":   "wrong base",
		"p99=-44%":   "wrong base",
		"p99=78.0%":  "and it does",
		"p99=-78%":   "the sign turned round",
		"p50=173%":   "what is left",
		"p50=57.7%":  "alone as a part of hog",
		"p90=12%":    "does not follow from the figures, against alone it is +96.4 %",
		"p50=42.31%": "wrong base",
	} {
		e := imports(t, []string{claim}, "alone="+clickhouse+"alone.json", "hog="+clickhouse+"hog-no-isolation.json")
		c := check(e, "claims", "hog")
		if !strings.Contains(said.English(c.Text), want) || c.OK != strings.Contains(want, "and it does") || !c.Known {
			t.Errorf("%s: %+v, want %q", claim, c, want)
		}
	}
	fine := imports(t, []string{"qps=-0.11%"}, "alone="+clickhouse+"alone.json", "qos="+clickhouse+"hog-qos-level.json")
	if c := check(fine, "claims", "qos"); c.OK || !strings.Contains(said.English(c.Text), "by -0.11 %") || !strings.Contains(said.English(c.Text), "it is -0.15 %") {
		t.Errorf("%+v", c)
	}
	e := imports(t, []string{"p75=-3%"}, "alone="+clickhouse+"alone.json", "hog="+clickhouse+"hog-no-isolation.json")
	if len(e.Warnings) == 0 || !strings.Contains(said.English(e.Warnings[len(e.Warnings)-1].Text), "claim about p75 cannot be checked") {
		t.Errorf("a claim about nothing: %+v", e.Warnings)
	}
}

func TestMySQLInKubernetes(t *testing.T) {
	const dir = "testdata/mysql-kubernetes/"
	e := imports(t, nil, "host="+dir+"bare-metal.log", "best-effort="+dir+"pod-best-effort.log", "guaranteed="+dir+"pod-guaranteed.log")
	wants(t, e, "", "best-effort", "throughput", 100*(12266.00/22128.67-1))
	wants(t, e, "", "guaranteed", "throughput", 100*(19389.78/22128.67-1))
	c := check(e, "two levels", "best-effort")
	if c.OK || !c.Known || !strings.Contains(said.English(c.Text), "two levels, 10896 and 19115; 17 % of the time it is at the upper one, with 2 changes") {
		t.Errorf("the two modes of the BestEffort pod: %+v", c)
	}
	for _, s := range e.Single {
		if s.Batches != 0 || s.Half != 0 {
			t.Errorf("an error from %d report lines: %+v", s.Reports, s)
		}
	}
	if x := effect(t, e, "", "best-effort", "throughput"); x.Within != nil {
		t.Errorf("an interval from 3 and 12 report lines: %+v", x.Within)
	}
	if len(e.Caveats) != 2 || !strings.HasPrefix(said.English(e.Caveats[1].Text), "3 logs hold report lines and no summary") {
		t.Errorf("%+v", e.Caveats)
	}
}

func TestNFS(t *testing.T) {
	const dir = "testdata/nfs-kubernetes/"
	e := imports(t, nil, "host="+dir+"host/*", "pod="+dir+"pod/*")
	wants(t, e, "fio", "pod", "throughput", -26.3)
	wants(t, e, "fio", "pod", "read_iops", -26.3)
	wants(t, e, "fio", "pod", "read_latency_mean", 35.6)
	wants(t, e, "fio", "pod", "write_latency_mean", 35.7)
	wants(t, e, "sysbench read_only", "pod", "throughput", -84.9)
	wants(t, e, "sysbench delete", "pod", "throughput", -9.3)
	wants(t, e, "sysbench read_write", "pod", "throughput", -48.0)
	wants(t, e, "sysbench write_only", "pod", "throughput", -16.8)
	if len(e.Workloads) != 5 {
		t.Errorf("%d workloads, want fio and four of sysbench", len(e.Workloads))
	}
	// "The pod's read-only rate is 15 % of the host's", "takes 6 to 11 times as long".
	only := imports(t, []string{"tps=15%", "latency=-15%"}, "host="+dir+"host/read_only.log", "pod="+dir+"pod/read_only.log")
	if c := check(only, "claims", "pod"); !strings.Contains(said.English(c.Text), "that is what is left, not what changed, against host it is -84.9 %") {
		t.Errorf("%+v", c)
	}
}
