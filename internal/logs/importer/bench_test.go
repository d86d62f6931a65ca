package importer_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/logs/importer"
	"github.com/tarelab/tare/record"
)

// BenchmarkManyReports imports and analyses a log of 2000 reports of 330 s, about 80 MB.
func BenchmarkManyReports(b *testing.B) {
	var text strings.Builder
	for i := range 2000 {
		text.WriteString(sysbenchLog(8, 330, steady(uint64(i%40), 1000)))
	}
	path := put(b, "many.log", text.String())
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for i := range b.N {
		r, err := importer.Read(importer.Options{Arms: []importer.ArmFiles{{Name: "a", Files: []string{path}}}})
		if err != nil {
			b.Fatal(err)
		}
		dir := filepath.Join(b.TempDir(), fmt.Sprint(i))
		if err := r.Write(dir, record.Plan{Schema: record.PlanSchema, Experiment: "import", Margin: 0.01}, record.Manifest{Schema: record.ManifestSchema, Started: time.Unix(0, 0).UTC()}); err != nil {
			b.Fatal(err)
		}
		result, err := record.Read(dir)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := analysis.Analyse(result); err != nil {
			b.Fatal(err)
		}
	}
}
