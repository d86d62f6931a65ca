package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/like"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/planning/experiment"
)

// abPreset is the preset that compares two servers.
const abPreset = "ab"

// side is one of the two servers of ab.
type side struct {
	arm, flag string
	service   db.Service
	program   string // of the server; empty: path is an option file
	path      string
}

// compareSides applies --old and --new.
func (f *experimentFlags) compareSides(e *experiment.Experiment, words experiment.Words) error {
	switch {
	case f.Old == "" && f.New == "" && f.Experiment != abPreset:
		return nil
	case f.Old == "" || f.New == "":
		return &usageError{errBothSides, "tare run ab --old PATH --new PATH, each a server program, its directory or an option file"}
	case len(e.Named) != 2 || e.Named[0].Name != "old" || e.Named[1].Name != "new":
		return &usageError{fmt.Errorf("--old and --new are the arms of ab, and %s has others", e.Name), "tare run ab --old PATH --new PATH"}
	}
	var sides []side
	for _, s := range []side{{arm: "old", path: f.Old}, {arm: "new", path: f.New}} {
		s.flag = "--" + s.arm + " " + s.path
		if err := s.find(); err != nil {
			return &usageError{fmt.Errorf("%s: %w", s.flag, err), ""}
		}
		sides = append(sides, s)
	}
	family := sides[0].service.Describe().Protocol
	if other := sides[1].service.Describe().Protocol; other != family {
		return &usageError{fmt.Errorf("%s is of %s and %s of %s", sides[0].flag, family, sides[1].flag, other), "compare two servers of one family"}
	}
	if (sides[0].program == "") != (sides[1].program == "") {
		return &usageError{fmt.Errorf("%s and %s: one is a server program and one an option file", sides[0].flag, sides[1].flag), "compare two programs or two option files"}
	}
	e.Sizes = nil
	e.Workloads = slices.DeleteFunc(e.Workloads, func(w experiment.Workload) bool {
		found, ok := serviceOf(w)
		return !ok || found.Service.Describe().Protocol != family
	})
	for _, s := range sides {
		if err := f.takeSide(e, words, s); err != nil {
			return err
		}
	}
	return sameClient(e, words, sides[1])
}

// find finds out what the path of a side is.
func (s *side) find() error {
	st, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return hint.New(errors.New("no such file or directory"), unpackIt)
	case slices.Contains([]string{".deb", ".rpm", ".tar", ".tgz", ".gz", ".xz", ".zst"}, filepath.Ext(s.path)):
		return hint.New(errors.New("a package or an archive, and no server program"), unpackIt)
	case err != nil:
		return err
	case st.IsDir():
		return s.findIn(s.path)
	}
	path, err := filepath.Abs(s.path)
	if err != nil {
		return err
	}
	for _, d := range databases.All() {
		switch {
		case st.Mode()&0o111 != 0 && slices.Contains(serverNames(d), filepath.Base(path)):
			s.service, s.program = d, path
			return nil
		case like.Matches(d, path):
			s.service = d
			return nil
		}
	}
	return hint.New(errors.New("it is neither a server program nor an option file, by its name"), serverAndFileNames)
}

// findIn finds the server program below a directory of an installation.
func (s *side) findIn(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for _, d := range databases.All() {
		for _, name := range serverNames(d) {
			for _, below := range []string{"", "bin", "sbin", "libexec", "usr/sbin", "usr/bin", "usr/lib/postgresql/*/bin"} {
				found, _ := filepath.Glob(filepath.Join(dir, below, name)) // the patterns are constants
				for _, path := range found {
					if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
						s.service, s.program = d, path
						return nil
					}
				}
			}
		}
	}
	return hint.New(errors.New("no server program in it"), serverAndFileNames)
}

// serverNames are the names of a database's server program.
func serverNames(s db.Service) []string { return s.Describe().Programs[0].Names }

// takeSide gives an arm its server program or its settings.
func (f *experimentFlags) takeSide(e *experiment.Experiment, words experiment.Words, s side) error {
	if s.program != "" {
		return e.Apply(s.flag, "arms."+s.arm+".set.server", s.program, words)
	}
	on := server{Found: serve.Found{Service: s.service}}
	if all := serversOf(e); len(all) > 0 {
		on = all[0]
	}
	t, err := f.target(on)
	if err != nil {
		return err
	}
	adopted, err := like.File(t, s.path)
	if err != nil {
		return &usageError{fmt.Errorf("%s: %w", s.flag, err), ""}
	}
	f.taken = append(f.taken, taken{s.flag, on.Service, adopted, []string{"arms." + s.arm + ".set."}})
	return nil
}

// sameClient gives both arms the client of the new server, if it has one beside it: else each arm would
// have its own, and the difference would be that of the clients too.
func sameClient(e *experiment.Experiment, words experiment.Words, s side) error {
	for _, w := range e.Workloads {
		client := filepath.Join(filepath.Dir(s.program), w.Kind)
		st, err := os.Stat(client)
		if s.program == "" || err != nil || !st.Mode().IsRegular() || paramOf(words, w.Kind, []string{w.Kind}) == "" {
			continue
		}
		if err := e.Apply(s.flag, w.Name+"."+w.Kind, client, words); err != nil {
			return err
		}
	}
	return nil
}

// matchesAny says whether a file is an option file of any database by its name.
func matchesAny(path string) bool {
	return slices.ContainsFunc(databases.All(), func(s db.Service) bool { return like.Matches(s, path) })
}

// isDSN says whether a word names a running server.
func isDSN(word string) bool { return strings.Contains(word, "://") }
