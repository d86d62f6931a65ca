package serve

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/linux/namespace"
	"github.com/tarelab/tare/internal/linux/wall"
)

// behindWall gives the calling thread, which is about to execute or to start the server, the namespace of its
// account, and puts it behind the wall if the server runs a user's SQL. loading: no client but tare connects, over
// the socket. who may be nil.
func (s Server) behindWall(r db.Recipe, who *runAs, loading bool) error {
	if err := who.beforeFork(); err != nil || !s.Walled {
		return err
	}
	w := wall.Wall{Dir: s.Dir, Programs: []string{r.Server.Path}, Loopback: loading && s.Listen == "", OwnRoot: s.OwnRoot}
	if err := w.Raise(); err != nil {
		return err
	}
	if who != nil {
		return who.reopen() // a descriptor from before would lead out
	}
	return dropRoot()
}

// dropRoot takes the capabilities from a server behind the wall that stays root: with them it could leave.
func dropRoot() error {
	if os.Geteuid() != 0 {
		return nil
	}
	if err := namespace.DropBounding(0); err != nil {
		return err
	}
	return namespace.SetCapabilities(0)
}

// noWayOut returns an error if a filled data set leads elsewhere, or has files that a copy would look for where
// the set was filled: a link, a file that names another one (InnoDB's .isl), a table in a directory of its own.
func noWayOut(dir string) error {
	data := filepath.Join(dir, db.DataDir)
	return filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(data, path)
		if err != nil {
			return err
		}
		ending := filepath.Ext(rel)
		switch depth := strings.Count(rel, "/"); {
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			return leads(rel, "is a "+d.Type().String())
		case ending == ".isl", tables[ending] && depth > 1:
			return leads(rel, "belongs to a table in another directory")
		}
		return nil
	})
}

// tables are the endings of MySQL's files of a table, which are in the directory of its database.
var tables = map[string]bool{".ibd": true, ".MYD": true, ".MYI": true, ".MAD": true, ".MAI": true, ".CSV": true}

func leads(file, why string) error {
	return hint.New(fmt.Errorf("the filled data set is used by no arm: %s %s", file, why),
		"remove DATA DIRECTORY, INDEX DIRECTORY and tablespaces from the dump")
}
