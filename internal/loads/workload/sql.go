package workload

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/units"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/databases/sqlfile"
)

// SQL is a file of SQL of the user's.
type SQL struct {
	Path    string
	Dialect sqlfile.Dialect
	// Dump is true for a dump that fills the data set, false for statements of the load.
	Dump bool
	// Longest is how many bytes a statement of a dump may have.
	Longest int64
}

// Check reads the file. An error has the line of a statement that may not run.
func (s SQL) Check() error {
	if !s.Dump {
		return sqlfile.CheckScript(s.Path, s.Dialect)
	}
	_, err := sqlfile.Check(s.Path, s.Dialect, int(s.Longest))
	return err
}

// The parameters of DumpParams. The last two bound what a dump can do.
const (
	dumpParam     = "dump"
	StatementSize = "statement_size"
	StatementTime = "statement_time"
)

// DumpParams are the logical dump that fills the data set, and the bounds of its statements.
func DumpParams() []Param {
	return []Param{
		{Name: dumpParam, Default: None, Check: checkDump,
			Help: "absolute path of a dump of mysqldump or pg_dump, plain or compressed by gzip or zstd, with which the data set is filled instead of generated rows"},
		{Name: StatementSize, Default: units.Bytes(sqlfile.Longest), Check: Size(1<<10, 1<<30),
			Help: "largest statement or row of a dump"},
		{Name: StatementTime, Default: "30m", Check: statementTime,
			Help: "longest time that a statement of a dump may run, such as 90s or 2h; with COPY, since its last row"},
	}
}

func statementTime(s string) error {
	if d, err := time.ParseDuration(s); err != nil || d < time.Second || d > 7*24*time.Hour {
		return fmt.Errorf("%q is not a time from 1s to 168h", s)
	}
	return nil
}

// Fill sets the dump in the parameters of a data set; false: there is none.
func Fill(p *serve.Prepare, v Values) bool {
	if p.Dump = DumpPath(v); p.Dump == "" {
		return false
	}
	p.StatementSize, _ = units.Size(v[StatementSize])         // checked by DumpParams
	p.StatementTime, _ = time.ParseDuration(v[StatementTime]) // likewise
	return true
}

func checkDump(s string) error {
	if s != None && !filepath.IsAbs(s) {
		return fmt.Errorf("%q is neither %s nor an absolute path", s, None)
	}
	return nil
}

// DumpPath is the path of the dump; "": none is given.
func DumpPath(v Values) string {
	if v[dumpParam] == None { // a load that takes none has "" there
		return ""
	}
	return v[dumpParam]
}

// SQLOf are the user's files of SQL among the parameters of a load.
func SQLOf(v Values, d sqlfile.Dialect) (all []SQL) {
	if path := DumpPath(v); path != "" {
		longest, _ := units.Size(v[StatementSize]) // checked by DumpParams
		all = append(all, SQL{Path: path, Dialect: d, Dump: true, Longest: longest})
	}
	if script := v["script"]; strings.HasSuffix(script, sqlfile.Ending) {
		all = append(all, SQL{Path: script, Dialect: d})
	}
	return all
}
