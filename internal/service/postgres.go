package service

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Postgres is PostgreSQL.
type Postgres struct{}

var _ Service = Postgres{}

// PostgreSQL's name as a service and as a protocol.
const PostgreSQL = "postgres"

// PostgresPort is part of the socket's name, unless the server listens for TCP.
const PostgresPort = 5432

// PostgresSocketDir is where its socket is.
const PostgresSocketDir = RunDir

// postgresAdmin is the superuser.
const postgresAdmin = "tare"

// PostgresDirs are where its programs lie, which are in nobody's PATH: those
// of Debian, of the project's own RPMs, and of its sources.
func PostgresDirs() []string {
	return []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin", "/opt/homebrew/opt/postgresql*/bin"}
}

// Describe is what holds for every version.
func (Postgres) Describe() Description {
	return Description{
		Name: PostgreSQL, Title: "PostgreSQL 10 and later", Protocol: PostgreSQL, Package: "postgresql",
		VersionArgs: []string{"--version"},
		Programs: []Program{
			{Role: Server, Names: []string{"postgres"}, Dirs: PostgresDirs()},
			{Role: Install, Names: []string{"initdb"}, Dirs: PostgresDirs()},
		},
		Settings: postgresSettings(),
	}
}

// postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1); 17beta1, 18devel.
var postgresBanner = regexp.MustCompile(`^postgres \(PostgreSQL\) (([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?.*)`)

// Identify reads the banner.
func (Postgres) Identify(banner string) (Version, error) {
	found := postgresBanner.FindStringSubmatch(strings.TrimSpace(banner))
	if found == nil {
		return Version{}, fmt.Errorf("unknown version %q: want what postgres --version prints", firstLine(banner))
	}
	v, err := version(PostgreSQL, firstLine(found[1]), found[2:])
	if err != nil {
		return Version{}, err
	}
	if !v.AtLeast(10) {
		return Version{}, fmt.Errorf("%s is too old: want 10 or later", v)
	}
	return v, nil
}

// Recipe says how to use a server of this version.
func (p Postgres) Recipe(v Version, c Config) (Recipe, error) {
	if !filepath.IsAbs(c.Dir) {
		return Recipe{}, fmt.Errorf("data directory %q: want an absolute path", c.Dir)
	}
	for _, role := range []string{Server, Install} {
		if c.Programs[role] == "" {
			return Recipe{}, fmt.Errorf("%s: no %s program", PostgreSQL, role)
		}
	}
	options, err := postgresOptions(v, c)
	if err != nil {
		return Recipe{}, err
	}
	return Recipe{
		Users:     []string{"postgres", "nobody"},
		Segment:   DataDir + "/postmaster.pid",
		Install:   postgresInstall(c),
		Files:     []File{{Path: RunDir + "/hba", Text: postgresHBA}},
		Server:    Command{Path: c.Programs[Server], Args: append(append(postgresPlace(c), options...), c.Options...)},
		Loading:   postgresLoading(c),
		Admin:     postgresAdmin,
		Setup:     postgresSetup,
		Finish:    postgresFinish,
		Warm:      postgresWarm,
		ReadBack:  postgresReadBack(v, c),
		Stop:      time.Minute,
		Leftovers: []string{RunDir + "/*", DataDir + "/postmaster.pid", DataDir + "/postmaster.opts", DataDir + "/pg_stat_tmp/*", DataDir + "/pg_dynshmem/*"},
	}, nil
}

// postgresInstall makes the data directory. Its own files for access are not
// used, but closed all the same.
func postgresInstall(c Config) []Command {
	return []Command{{Path: c.Programs[Install], Args: []string{
		"--pgdata=" + filepath.Join(c.Dir, DataDir), "--username=" + postgresAdmin,
		"--auth-local=trust", "--auth-host=reject", "--encoding=UTF8", "--no-locale", "--no-sync",
	}}}
}

// postgresHBA: the superuser over the socket alone, in a directory that is
// closed to others; everybody else with the password, wherever from.
const postgresHBA = `local all ` + postgresAdmin + ` trust
local all all scram-sha-256
host all ` + postgresAdmin + ` all reject
host all all all scram-sha-256
`

// postgresPlace is where it lives and listens. The socket is named relative to
// the data directory: an absolute path may be longer than a socket's may be.
func postgresPlace(c Config) []string {
	listen, port := "", PostgresPort
	if c.Port != 0 {
		listen, port = c.Host, c.Port
	}
	return append([]string{"-D", filepath.Join(c.Dir, DataDir)},
		set("unix_socket_directories", "../"+PostgresSocketDir),
		set("unix_socket_permissions", "0700"),
		set("hba_file", filepath.Join(c.Dir, RunDir, "hba")),
		set("listen_addresses", listen),
		set("port", strconv.Itoa(port)),
	)
}

// set is one setting on the command line.
func set(name, value string) string { return "--" + name + "=" + value }

// postgresLoading is added while the data set is being loaded. With little of
// the log to be recycled, what every arm has to copy stays small.
func postgresLoading(c Config) []string {
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

var postgresSetup = []string{
	"CREATE ROLE " + User + " LOGIN NOSUPERUSER PASSWORD '{secret}'",
	"CREATE DATABASE " + Database + " OWNER " + User,
}

const (
	// What autovacuum would do sooner or later is done.
	postgresFinish = "SELECT format('VACUUM (FREEZE, ANALYZE) %I.%I', schemaname, tablename)" +
		" FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1"
	// A sequential scan keeps a large table out of the server's memory; in the
	// order of its primary key it is read like by queries.
	postgresWarm = "SELECT stmt FROM (SELECT 1 AS n, unnest(ARRAY['SET enable_seqscan = off', 'SET enable_sort = off', 'SET max_parallel_workers_per_gather = 0']) AS stmt" +
		" UNION ALL SELECT 2, format('SELECT count(*) FROM (SELECT t.* FROM %s t ORDER BY %s OFFSET 0) rows', x.indrelid::regclass," +
		" (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY k.n) FROM unnest(x.indkey::int2[]) WITH ORDINALITY k(attnum, n)" +
		" JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.attnum))" +
		" FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_namespace s ON s.oid = c.relnamespace" +
		" WHERE x.indisprimary AND s.nspname NOT IN ('pg_catalog', 'pg_toast', 'information_schema')" +
		" UNION ALL SELECT 3, 'RESET ALL') list ORDER BY n"
)
