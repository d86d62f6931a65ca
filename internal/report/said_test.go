package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tarelab/tare/record"
)

// What a load said when windows were dropped stands in the report, on one line and
// without what a terminal obeys.
func TestDroppedSaid(t *testing.T) {
	e := userRun()
	e.Dropped = record.Dropped{Blocks: 2, Of: 36, Reasons: map[string]int{record.DropError: 2},
		Said: map[string]string{record.DropError: "3 errors\n  dd: no space\x1b[2J left"}}
	var b bytes.Buffer
	if err := english.Text(&b, e, Options{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.Contains(strings.Join(strings.Fields(got), " "), record.DropError+", the last: 3 errors dd: no space") || strings.Contains(got, "\x1b[2J") {
		t.Errorf("%s", got)
	}
}

// A line of tare list has the answers of the table, and the size of the effect that decided.
func TestSentence(t *testing.T) {
	effect := func(ratio float64) *record.Effect {
		return &record.Effect{Typical: &record.Ratio{Ratio: ratio, Low: ratio - 0.01, High: ratio + 0.01}}
	}
	alone, beside := effect(0.946), effect(0.5)
	for want, row := range map[string]record.AnswerRow{
		"slower: p -50.0 %":                    {Effect: alone, Beside: beside, Says: record.Says{Word: record.SaysSlower}},
		"slower: p -5.4 %":                     {Effect: alone, Says: record.Says{Word: record.SaysSlower}},
		"protects: p":                          {Effect: alone, Beside: beside, Says: record.Says{Word: record.SaysSlower, Protects: true}},
		"as besteffort, within ±3 %: p":        {Effect: alone, Beside: beside, Says: record.Says{Word: record.SaysSlower, Protects: true, As: "besteffort", Within: 0.03}},
		"no loss above: p 1 %":                 {Effect: alone, Says: record.Says{Word: record.SaysNoLoss, Bound: 0.01}},
		"undecided, slower by at most: p 10 %": {Effect: alone, Says: record.Says{Word: record.SaysUndecided, Bound: 0.1, Seconds: 60}},
		"undecided: p":                         {Effect: alone, Says: record.Says{Word: record.SaysUndecided, Seconds: 60}},
		"one arm: nothing to compare":          {},
		"invalid: p":                           {Effect: alone, Says: record.Says{Word: record.SaysInvalid, Reason: record.InProse("no")}},
	} {
		row.Workload, row.Arm = "db", "p"
		e := &record.Effects{Ended: "budget", Answer: &record.Answers{Tables: []record.AnswerTable{{Question: record.AskedPods, Rows: []record.AnswerRow{row}}}}}
		if got := english.Sentence(e); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	rows := []record.AnswerRow{
		{Arm: "a", Says: record.Says{Word: record.SaysSlower, As: "d", Within: 0.03}}, {Arm: "b", Says: record.Says{Word: record.SaysUndecided}},
		{Arm: "c", Says: record.Says{Word: record.SaysFaster, Protects: true}}, {Arm: "d", Effect: effect(0.9), Says: record.Says{Word: record.SaysSlower}},
	}
	e := &record.Effects{Ended: "budget", Answer: &record.Answers{Tables: []record.AnswerTable{{Question: record.AskedPods, Rows: rows}}}}
	if got, want := english.Sentence(e), "slower: d -10.0 %; protects: c; undecided: b; as d, within ±3 %: a"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	rows = []record.AnswerRow{{Workload: "db", Says: record.Says{Word: record.SaysSkipped}}}
	e = &record.Effects{Ended: record.EndedRunning, Answer: &record.Answers{Tables: []record.AnswerTable{{Question: record.AskedLayers, Rows: rows}}}}
	if got, want := english.Sentence(e), "still running"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
