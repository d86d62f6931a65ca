// Package postgres is PostgreSQL.
package postgres

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/databases/db"
)

// Service is PostgreSQL.
type Service struct{}

var _ db.Service = Service{}

// Name is PostgreSQL's name as a service and as a protocol.
const Name = "postgres"

// Port is part of the socket's name if the server does not listen for TCP.
const Port = 5432

// SocketDir is the directory of the socket, below the data set's.
const SocketDir = db.RunDir

// admin is the superuser.
const admin = "tare"

// Dirs are patterns of the directories of the programs, which are not in PATH: Debian's, those of
// the project's RPMs, and of a build from source.
func Dirs() []string {
	return []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin", "/opt/homebrew/opt/postgresql*/bin"}
}

// Describe is the part of the description that holds for every version.
func (Service) Describe() db.Description {
	return db.Description{
		Name: Name, Protocol: Name, Package: "postgresql",
		VersionArgs: []string{"--version"},
		Programs: []db.Program{
			{Role: db.Server, Names: []string{"postgres"}, Dirs: Dirs()},
			{Role: db.Install, Names: []string{"initdb"}, Dirs: Dirs()},
		},
		Settings: settings(),
		Options:  allowed, Users: users(), Conf: conf(), Own: own(),
	}
}

// For example: postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1); 17beta1, 18devel.
var bannerPattern = regexp.MustCompile(`^postgres \(PostgreSQL\) (([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?.*)`)

// Identify reads the banner.
func (Service) Identify(banner string) (db.Version, error) {
	found := bannerPattern.FindStringSubmatch(strings.TrimSpace(banner))
	if found == nil {
		return db.Version{}, fmt.Errorf("unknown version %q: want what postgres --version prints", db.FirstLine(banner))
	}
	v, err := db.ParseVersion(Name, db.FirstLine(found[1]), found[2:])
	if err != nil {
		return db.Version{}, err
	}
	if !v.AtLeast(10) {
		return db.Version{}, fmt.Errorf("%s is too old: want 10 or later", v)
	}
	return v, nil
}

func users() []string { return []string{"postgres", "nobody"} }

// Recipe is how to use a server of this version.
func (p Service) Recipe(v db.Version, c db.Config) (db.Recipe, error) {
	if !filepath.IsAbs(c.Dir) {
		return db.Recipe{}, fmt.Errorf("data directory %q: want an absolute path", c.Dir)
	}
	for _, role := range []string{db.Server, db.Install} {
		if c.Programs[role] == "" {
			return db.Recipe{}, fmt.Errorf("%s: no %s program", Name, role)
		}
	}
	options, err := options(v, c)
	if err != nil {
		return db.Recipe{}, err
	}
	return db.Recipe{
		Users:     users(),
		Segment:   db.DataDir + "/postmaster.pid",
		Install:   install(c),
		Files:     []db.File{{Path: db.RunDir + "/hba", Text: hba}},
		Server:    db.Command{Path: c.Programs[db.Server], Args: append(append(place(c), options...), c.Options...)},
		Loading:   loading(c),
		Admin:     admin,
		Setup:     setup,
		Finish:    finish,
		Warm:      warm,
		ReadBack:  readBack(v, c),
		Stop:      time.Minute,
		Leftovers: []string{db.RunDir + "/*", db.DataDir + "/postmaster.pid", db.DataDir + "/postmaster.opts", db.DataDir + "/pg_stat_tmp/*", db.DataDir + "/pg_dynshmem/*"},
	}, nil
}

// install makes the data directory. The server uses another file for access (hba); the one that
// initdb writes refuses TCP all the same.
func install(c db.Config) []db.Command {
	return []db.Command{{Path: c.Programs[db.Install], Args: []string{
		"--pgdata=" + filepath.Join(c.Dir, db.DataDir), "--username=" + admin,
		"--auth-local=trust", "--auth-host=reject", "--encoding=UTF8", "--no-locale", "--no-sync",
	}}}
}

// hba admits the superuser over the socket alone, which is in a directory closed to others, and all
// other users with a password.
const hba = `local all ` + admin + ` trust
local all all scram-sha-256
host all ` + admin + ` all reject
host all all all scram-sha-256
`

// place are the options for directories and addresses. The path of the socket is relative to the
// data directory, because an absolute path may be too long for a socket's address.
func place(c db.Config) []string {
	listen, port := "", Port
	if c.Port != 0 {
		listen, port = c.Host, c.Port
	}
	return append([]string{"-D", filepath.Join(c.Dir, db.DataDir)},
		set("unix_socket_directories", "../"+SocketDir),
		set("unix_socket_permissions", "0700"),
		set("hba_file", filepath.Join(c.Dir, db.RunDir, "hba")),
		set("listen_addresses", listen),
		set("port", strconv.Itoa(port)),
	)
}

// set is a setting as an option.
func set(name, value string) string { return "--" + name + "=" + value }

// loading are the options while the data set is loaded. Few recycled segments of the log keep small
// what every arm has to copy.
func loading(c db.Config) []string {
	size := "64MB"
	if c.Expect > 2<<30 {
		size = "1GB"
	}
	return []string{
		set("fsync", "off"), set("synchronous_commit", "off"), set("full_page_writes", "off"),
		set("wal_level", "minimal"), set("max_wal_senders", "0"), set("archive_mode", "off"),
		set("min_wal_size", "32MB"), set("max_wal_size", size), set("maintenance_work_mem", "256MB"), set("autovacuum", "off"),
	}
}

var setup = []string{
	"CREATE ROLE " + db.User + " LOGIN NOSUPERUSER PASSWORD '{secret}'",
	"CREATE DATABASE " + db.Database + " OWNER " + db.User,
}

const (
	// Otherwise autovacuum would do it during the run. The load's user owns the tables.
	finish = "SELECT format('VACUUM (FREEZE, ANALYZE) %I.%I', schemaname, tablename)" +
		" FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1"
	// A sequential scan of a large table bypasses most of the shared buffers; a scan in the order of
	// the primary key fills them as queries do.
	warm = "SELECT stmt FROM (SELECT 1 AS n, unnest(ARRAY['SET enable_seqscan = off', 'SET enable_sort = off', 'SET max_parallel_workers_per_gather = 0']) AS stmt" +
		" UNION ALL SELECT 2, format('SELECT count(*) FROM (SELECT t.* FROM %s t ORDER BY %s OFFSET 0) rows', x.indrelid::regclass," +
		" (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY k.n) FROM unnest(x.indkey::int2[]) WITH ORDINALITY k(attnum, n)" +
		" JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.attnum))" +
		" FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_namespace s ON s.oid = c.relnamespace" +
		" WHERE x.indisprimary AND s.nspname NOT IN ('pg_catalog', 'pg_toast', 'information_schema')" +
		" UNION ALL SELECT 3, 'RESET ALL') list ORDER BY n"
)
