package importer_test

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// Rows and runs without a partner are counted and named.
func TestWhatIsInNoComparison(t *testing.T) {
	r, err := alone(t, put(t, "x.csv", "arm,threads,tps\nhost,1,10\nhost,2,20\nhost,4,30\npod,1,9\npod,3,15\n"))
	if err != nil || len(r.Workloads) != 1 {
		t.Fatalf("%v %+v", err, r)
	}
	if said := printed(r.Warnings); !strings.Contains(said, "3 of 5 rows are in no comparison: host: table threads 2; host: table threads 4; pod: table threads 3") {
		t.Error(said)
	}
	r, err = compared(put(t, "a.md", "## SET\n"+redisReport(10)+"## GET\n"+redisReport(30)), put(t, "b.md", "## SET\n"+redisReport(9)+"## LPUSH\n"+redisReport(20)))
	if err != nil {
		t.Fatal(err)
	}
	if said := printed(r.Warnings); strings.Count(said, "1 of 2 runs are in no comparison") != 2 {
		t.Error(said)
	}
	r, err = alone(t, put(t, "x.csv", "arm,tps\nhost,10\npod,9\n"))
	if err != nil || strings.Contains(printed(r.Warnings), "no comparison") {
		t.Errorf("%v %+v", err, r)
	}
}

// printed are the sentences of warnings with their remedies.
func printed(warnings []record.Warning) (all string) {
	for _, w := range warnings {
		all += w.Arm + ": " + said.English(w.Text) + " " + said.English(w.Remedy) + "\n"
	}
	return all
}
