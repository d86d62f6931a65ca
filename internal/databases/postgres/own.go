package postgres

import (
	"regexp"
	"strings"

	"github.com/tarelab/tare/internal/databases/db"
)

// ownNames are the variables behind tare's settings.
func ownNames() (names []string) {
	for _, s := range settings() {
		names = append(names, s.Name)
	}
	return names
}

// own asks the program with -C NAME, once for each name: it reads the options and the empty file, prints a value and
// starts no server.
func own() db.Own {
	return db.Own{
		Names: ownNames(),
		Files: []db.File{{Path: db.DataDir + "/postgresql.conf"}, {Path: db.DataDir + "/postgresql.auto.conf"}},
		Calls: func(v db.Version, c db.Config, settings bool) ([][]string, error) {
			if settings {
				more, err := options(v, c)
				return [][]string{append(append([]string{"-C", setFsync, "-D", db.DataDir}, more...), c.Options...)}, err
			}
			var calls [][]string
			for _, name := range ownNames() {
				calls = append(calls, []string{"-C", name, "-D", db.DataDir})
			}
			return calls, nil
		},
		Read: func(outputs []string) map[string]string {
			all := map[string]string{}
			for i, name := range ownNames() {
				if i < len(outputs) {
					all[name] = strings.TrimSpace(outputs[i])
				}
			}
			return all
		},
		Complaints: func(_ db.Version, _ db.Config, stdout, stderr string) (all []string) {
			for line := range strings.Lines(stderr) {
				if found := fatalLine.FindStringSubmatch(strings.TrimSpace(line)); found != nil {
					all = append(all, found[1])
				}
			}
			return all
		},
	}
}

var fatalLine = regexp.MustCompile(`(?:FATAL|ERROR|PANIC):\s+(.*)$`)
