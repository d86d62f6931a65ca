package cli

import (
	"encoding/csv"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// withheldReason is the reason why the tests' real record has no interval for the arm cgroup.
const withheldReason = "the noise is larger than any effect that could be shown"

const realResult = "../../record/testdata/quick"

// decided is the output of a command that ends with 0, or with 4 for undecided.
func decided(t *testing.T, args ...string) string {
	t.Helper()
	out, said, code := called(t, args...)
	if code != exitOK && code != exitUndecided {
		t.Fatalf("%q: exit %d: %s", args, code, said)
	}
	return out
}

func withheldAs(t *testing.T, form string) string {
	t.Helper()
	return decided(t, "report", realResult, "--format", form)
}

// If the analysis withholds an interval, every form has the reason in its place and no number.
func TestWithheldInEveryForm(t *testing.T) {
	t.Run("json", withheldInJSON)
	t.Run("csv", withheldInCSV)
	t.Run("openmetrics", withheldInOpenmetrics)
	for form, want := range map[string]string{"markdown": `\| cgroup \|.*\| – \|`, "html": "", "text": `(?m)^  cgroup .*–  +undecided$`} {
		t.Run(form, func(t *testing.T) {
			out := withheldAs(t, form)
			if form == "text" {
				out = decided(t, "report", realResult, "-v")
			}
			flat := strings.Join(strings.Fields(out), " ")
			if !strings.Contains(flat, withheldReason) || !regexp.MustCompile(want).MatchString(out) {
				t.Errorf("no %s, or no reason, in\n%s", want, out)
			}
		})
	}
	t.Run("check", withheldInCheck)
}

func withheldInJSON(t *testing.T) {
	var e record.Effects
	var keys struct{ Effects []map[string]any }
	out := []byte(withheldAs(t, "json"))
	if err := json.Unmarshal(out, &e); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &keys); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(e.Effects, func(x record.Effect) bool { return x.Arm == "cgroup" && x.Metric == "throughput" })
	if at < 0 {
		t.Fatal("no effect")
	}
	for _, key := range []string{"typical", "total", "own", "p_value", "p_adjusted"} {
		if v, there := keys.Effects[at][key]; !there || v != nil {
			t.Errorf("%s is %v, there: %v", key, v, there)
		}
	}
	if said.English(e.Effects[at].Reason) != withheldReason || e.Effects[at].Verdict != record.Undecided {
		t.Errorf("%+v", e.Effects[at])
	}
}

func withheldInCSV(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(withheldAs(t, "csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, row := range rows[1:] {
		cell := func(name string) string { return row[slices.Index(rows[0], name)] }
		if cell("kind") != "effect" || cell("arm") != "cgroup" || cell("metric") != "throughput" {
			continue
		}
		found++
		for _, of := range []string{"typical", "total", "own"} {
			for _, what := range []string{"ratio", "low", "high"} {
				if s := cell(of + "_" + what); s != "" {
					t.Errorf("%s_%s is %q", of, what, s)
				}
			}
		}
		if cell("p_value") != "" || cell("p_adjusted") != "" || cell("detectable") != "" || cell("reason") != "noise_too_large" || cell("verdict") != "undecided" {
			t.Errorf("%q", row)
		}
	}
	if found != 2 {
		t.Errorf("%d rows", found)
	}
}

func withheldInOpenmetrics(t *testing.T) {
	out := withheldAs(t, "openmetrics")
	of := `\{experiment="quick",workload="commit",metric="throughput",arm="cgroup",baseline="host"`
	if m := regexp.MustCompile(`(?m)^tare_effect_ratio(_low|_high)?` + of + `.*`).FindString(out); m != "" {
		t.Error(m)
	}
	if !regexp.MustCompile(`(?m)^tare_effect_withheld`+of+`,reason="noise_too_large"\} 1$`).MatchString(out) ||
		!regexp.MustCompile(`(?m)^tare_effect_verdict`+of+`,verdict="undecided"\} 1$`).MatchString(out) {
		t.Errorf("no reason in\n%s", out)
	}
	if m := regexp.MustCompile(`(?m)^tare_effect_withheld.*arm="container",baseline="host",.*metric="throughput".*`).FindString(out); m != "" {
		t.Errorf("an effect that is shown: %s", m)
	}
}

func withheldInCheck(t *testing.T) {
	args := []string{"check", realResult, "--max-cost", "throughput=5%", "--arm", "cgroup"}
	var g record.Gate
	var keys struct{ Judgements []map[string]any }
	out := []byte(decided(t, append(args, "--format", "json")...))
	if err := json.Unmarshal(out, &g); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &keys); err != nil {
		t.Fatal(err)
	}
	if len(g.Judgements) != 2 {
		t.Fatalf("%+v", g.Judgements)
	}
	for i, j := range g.Judgements {
		if v := keys.Judgements[i]["cost"]; j.Answer != record.AnswerUndecided || j.Cost != nil || v != nil || said.English(j.Reason) != withheldReason {
			t.Errorf("%+v", j)
		}
	}
	for _, form := range []string{"text", "markdown", "junit"} {
		if out := strings.Join(strings.Fields(decided(t, append(args, "--format", form)...)), " "); !strings.Contains(out, withheldReason) {
			t.Errorf("%s: no reason in %s", form, out)
		}
	}
}
