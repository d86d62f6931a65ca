package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// writtenResult writes a result with two arms of a named comparison and these lines.
func writtenResult(t *testing.T, lines ...record.Line) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "r")
	w, err := record.Create(dir)
	p := record.Plan{Schema: record.PlanSchema, Experiment: "ab", Seed: 5, Margin: 0.01, Precision: 0.01, Workloads: []record.Workload{{
		Name: "write", Kind: "oltp", Primary: "throughput", Baseline: "old", Metrics: []string{"throughput"},
		Arms: []record.Arm{{Name: "old"}, {Name: "twin", Twin: true}, {Name: "new"}},
	}}}
	began := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
	for i := range lines {
		lines[i].Time = began.Add(time.Duration(i) * time.Second)
	}
	first := record.Line{Time: began, Run: &record.Run{Schema: record.RecordSchema, ID: "a1", Seed: 5}}
	err = errors.Join(err, w.Append(append([]record.Line{first}, lines...)...), w.Close(), record.WriteJSON(dir, record.PlanFile, p),
		record.WriteJSON(dir, record.ManifestFile, record.Manifest{Schema: record.ManifestSchema, Started: began, Statistics: 2}))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A run that failed says why and what helps, in every form for people and in JSON, under the name of its own
// experiment; it does not propose more time, which would fail again.
func TestReportOfFailedRun(t *testing.T) {
	const detail, remedy = "workload write: nothing to compare: fsync is off in new", "make them equal"
	failed := record.Line{End: &record.End{Reason: record.EndedError, Detail: detail, Remedy: remedy}}
	dir := writtenResult(t, failed)
	for _, form := range []string{"text", "markdown", "html", "json"} {
		for _, verbose := range []bool{false, form == "text"} {
			out, err := reportOf(t, reportCommand{Dir: dir, Format: format(form), Verbose: verbose})
			if err != nil {
				t.Fatal(err)
			}
			plain := strings.Join(strings.Fields(out), " ")
			if !strings.Contains(plain, detail) || !strings.Contains(plain, remedy) {
				t.Errorf("%s, verbose %v, does not say why: %s", form, verbose, out)
			}
			for _, wrong := range []string{"--continue", "run longer", "The layers of a container", "min more"} {
				if strings.Contains(plain, wrong) {
					t.Errorf("%s, verbose %v, says %q: %s", form, verbose, wrong, out)
				}
			}
		}
	}
	_, e, err := analyse(dir)
	if err != nil || len(e.Answer.Tables) != 0 || len(e.Answer.Next) != 1 || said.English(e.Answer.Next[0].Remedy) != remedy {
		t.Errorf("%+v, %v", e.Answer, err)
	}
	// A later run that came to its end has no error; an interrupted one has more time to propose.
	again := record.Line{Run: &record.Run{Schema: record.RecordSchema, ID: "a2", Seed: 5}}
	out, err := reportOf(t, reportCommand{Dir: writtenResult(t, failed, again, record.Line{End: &record.End{Reason: "interrupted"}}), Format: "text"})
	if err != nil || strings.Contains(out, detail) || !strings.Contains(out, "--continue") || strings.Contains(out, "layers of a container") {
		t.Errorf("%v: %s", err, out)
	}
}

// A record of another run and one that was copied to its own end are refused, with the line and a remedy of their own.
func TestReportOfDamagedSequence(t *testing.T) {
	dir := writtenResult(t, record.Line{End: &record.End{Reason: "budget"}})
	path := filepath.Join(dir, record.RecordFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for says, lines := range map[string]string{
		"a part of the record is in it twice": string(text) + string(text),
		"the record is not this plan's":       strings.Replace(string(text), `"seed":5`, `"seed":6`, 1),
	} {
		if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := reportOf(t, reportCommand{Dir: dir, Format: "text"})
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), record.RecordFile+":") || hint.Of(err) == "" {
			t.Errorf("%s: %v (%s)", says, err, hint.Of(err))
		}
	}
}

// The line of tare list about a failed run is one sentence.
func TestSentenceOfFailedRun(t *testing.T) {
	_, e, err := analyse(writtenResult(t, record.Line{End: &record.End{Reason: record.EndedError, Detail: "x"}}))
	if err != nil {
		t.Fatal(err)
	}
	if got := (&console{}).reports().Sentence(e); got != "No result: nothing was measured; ended by an error: x" {
		t.Errorf("%q", got)
	}
}
