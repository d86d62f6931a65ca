package catalog

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/wire"
)

// Every client of a server has a directory for its own files that is not the data set in the cache.
func TestClientsHaveFilesOfTheirOwn(t *testing.T) {
	clients := 0
	for _, w := range Workloads() {
		values, err := workload.Complete(w, nil)
		if err != nil {
			continue // it has parameters without a default
		}
		stages, err := w.Stages(values)
		if err != nil || stages.Server == nil {
			continue
		}
		clients++
		task := strings.Join(stages.Load(wire.Place{Volume: "/volume", HostVolume: "/upper", ClientVolume: "/cache/set", ClientFiles: "/scratch"}).Args, " ")
		if strings.Contains(task, "/cache/set") && !strings.Contains(task, `"files":"/scratch"`) {
			t.Errorf("%s: %s", w.Name(), task)
		}
	}
	if clients < 3 {
		t.Errorf("%d workloads with a server", clients)
	}
}
