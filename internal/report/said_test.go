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
