package databases

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/db"
)

// Every service: names are unique, defaults are valid, a recipe refuses what
// is incomplete.
func TestEveryService(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range All() {
		d := s.Describe()
		if seen[d.Name] || d.Title == "" || d.Protocol == "" || len(d.Programs) == 0 || d.Programs[0].Role != db.Server {
			t.Errorf("%q: incomplete or twice: %+v", d.Name, d)
		}
		seen[d.Name] = true
		if found, err := Find(d.Name); err != nil || found != s {
			t.Errorf("%s is not found by its name: %v", d.Name, err)
		}
		settings, err := db.Complete(d, nil)
		if err != nil {
			t.Errorf("%s: defaults: %v", d.Name, err)
		}
		if _, err := s.Recipe(db.Version{}, db.Config{Dir: "/d", Settings: settings}); err == nil {
			t.Errorf("%s: a recipe without programs", d.Name)
		}
		if _, err := s.Identify("nothing of ours"); err == nil {
			t.Errorf("%s identifies anything", d.Name)
		}
	}
	if _, err := Find("oracle"); err == nil || !strings.Contains(err.Error(), "mariadb") {
		t.Errorf("want an error that names the services, got %v", err)
	}
}
