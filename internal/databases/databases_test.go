package databases

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/databases/db"
)

// For every service names are unique, defaults are valid, and Recipe refuses incomplete configurations.
func TestEveryService(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range All() {
		d := s.Describe()
		if seen[d.Name] || d.Protocol == "" || len(d.Programs) == 0 || d.Programs[0].Role != db.Server {
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

// Every promise is read back from the server: otherwise it would never be compared.
func TestPromisesAreReadBack(t *testing.T) {
	version := map[string]db.Version{
		"mariadb": {Flavour: "mariadb", Number: [3]int{11, 4}}, "mysql": {Flavour: "mysql", Number: [3]int{8, 4}},
		"percona": {Flavour: "percona", Number: [3]int{8, 0, 36}}, "postgres": {Flavour: "postgres", Number: [3]int{15}},
		"clickhouse": {Flavour: "clickhouse", Number: [3]int{23, 8}}, "redis": {Flavour: "redis", Number: [3]int{7}},
	}
	for _, s := range All() {
		d := s.Describe()
		settings, err := db.Complete(d, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Recipe(version[d.Name], db.Config{
			Programs: map[string]string{db.Server: "/usr/sbin/server", db.Install: "/usr/bin/install"},
			Dir:      "/d", Host: "127.0.0.1", Port: 1, Settings: settings,
		})
		if err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
		for _, p := range s.Promises() {
			if onlyMariaDB := strings.HasPrefix(p.Name, "innodb_data_file_") || strings.HasPrefix(p.Name, "innodb_log_file_"); onlyMariaDB && d.Name != "mariadb" {
				continue
			}
			if !slices.ContainsFunc(r.ReadBack, func(q db.Query) bool { return q.Name == p.Name }) {
				t.Errorf("%s: %s is not read back", d.Name, p.Name)
			}
		}
	}
}
