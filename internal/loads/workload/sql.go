package workload

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tarelab/tare/internal/databases/sqlfile"
)

// SQL is a file of SQL of the user's.
type SQL struct {
	Path    string
	Dialect sqlfile.Dialect
	// Dump is true for a dump that fills the data set, false for statements of the load.
	Dump bool
}

// Check reads the file. An error has the line of a statement that may not run.
func (s SQL) Check() error {
	if !s.Dump {
		return sqlfile.CheckScript(s.Path, s.Dialect)
	}
	_, err := sqlfile.Check(s.Path, s.Dialect)
	return err
}

// dumpParam is the name of the parameter of DumpParam.
const dumpParam = "dump"

// DumpParam is the logical dump that fills the data set.
func DumpParam() Param {
	return Param{Name: dumpParam, Default: None, Check: checkDump,
		Help: "absolute path of a dump of mysqldump or pg_dump, plain or compressed by gzip or zstd, with which the data set is filled instead of generated rows"}
}

func checkDump(s string) error {
	if s != None && !filepath.IsAbs(s) {
		return fmt.Errorf("%q is neither %s nor an absolute path", s, None)
	}
	return nil
}

// DumpPath is the path of the dump; "": none is given.
func DumpPath(v Values) string {
	if v[dumpParam] == None {
		return ""
	}
	return v[dumpParam]
}

// SQLOf are the user's files of SQL among the parameters of a load.
func SQLOf(v Values, d sqlfile.Dialect) (all []SQL) {
	if path := DumpPath(v); path != "" {
		all = append(all, SQL{Path: path, Dialect: d, Dump: true})
	}
	if script := v["script"]; strings.HasSuffix(script, sqlfile.Ending) {
		all = append(all, SQL{Path: script, Dialect: d})
	}
	return all
}
