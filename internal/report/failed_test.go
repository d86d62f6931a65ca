package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/analysis/gate"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/record"
)

// failedRun is a run that ended before its first window.
func failedRun() *record.Effects {
	e := frame()
	e.Experiment, e.Title, e.Ended = "ab", "what a change of a server costs", record.EndedError
	e.Workloads = []record.WorkloadResult{{Name: "mysql-read-write", Primary: "throughput", Baseline: "old", Question: "new"}}
	e.Caveats = []record.Warning{{Text: record.InProse("arm new: mariadbd ended with exit code 1"), Remedy: record.InProse("see raw/mysql-new.log")}}
	return answered(e)
}

// Every form of a run that failed says why, under what was asked, with the remedy; more time is none.
func TestFailedRun(t *testing.T) {
	e := failedRun()
	var text, verbose, markdown bytes.Buffer
	for b, o := range map[*bytes.Buffer]Options{&text: {}, &verbose: {Verbose: true}} {
		if err := english.Text(b, e, o); err != nil {
			t.Fatal(err)
		}
	}
	if err := english.Markdown(&markdown, e, nil); err != nil {
		t.Fatal(err)
	}
	_, err := gate.Judge(e, []record.Limit{{Metric: "throughput", Most: 0.05}}, gate.Selection{})
	if err == nil {
		t.Fatal("a run that failed passes")
	}
	for form, got := range map[string]string{"text": text.String(), "-v": verbose.String(), "Markdown": markdown.String(), "page": pageOf(t, e, Source{})} {
		asked, why := strings.Index(got, "what a change of a server costs"), strings.LastIndex(got, "mariadbd ended with exit code 1")
		if asked < 0 || why < asked || !strings.Contains(got, "see raw/mysql-new.log") {
			t.Errorf("%s:\n%s", form, got)
		}
		for _, wrong := range []string{"layers cost", "more:", "--continue"} {
			if strings.Contains(got, wrong) {
				t.Errorf("%s has %q", form, wrong)
			}
		}
	}
	for form, got := range map[string]string{"list": english.Sentence(e), "check": err.Error()} {
		if !strings.Contains(got, "mariadbd ended with exit code 1") {
			t.Errorf("%s: %s", form, got)
		}
	}
	if got := hint.Of(err); got != "see raw/mysql-new.log" {
		t.Errorf("check: hint %q", got)
	}
}

// What --like changed is one line of text, Markdown and page.
func TestAdopted(t *testing.T) {
	e := richRun()
	e.Adopted = []record.Adopted{{Name: "innodb_buffer_pool_size", Value: "48G", Used: "3598M"}, {Name: "datadir"}, {Name: "log_bin"}}
	answered(e)
	var text, markdown bytes.Buffer
	if err := english.Text(&text, e, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := english.Markdown(&markdown, e, nil); err != nil {
		t.Fatal(err)
	}
	for form, got := range map[string]string{"text": text.String(), "Markdown": strings.ReplaceAll(markdown.String(), "\\", ""), "page": pageOf(t, e, Source{})} {
		if n := strings.Count(got, "innodb_buffer_pool_size 3598M instead of 48G"); n != 1 {
			t.Errorf("%s has it %d times:\n%.3000s", form, n, got)
		}
	}
}
