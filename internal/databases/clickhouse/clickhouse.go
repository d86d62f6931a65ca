// Package clickhouse is ClickHouse, asked over HTTP.
package clickhouse

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/databases/db"
)

// Service is ClickHouse from version 18 on: a server program, or one program for server and clients.
// tare asks it over HTTP, which is the same in all versions.
type Service struct{}

var _ db.Service = Service{}

// Name is ClickHouse's name as a service and as a protocol.
const Name = "clickhouse"

// Paths of the configuration and of the file with users and profiles of settings.
const (
	configPath = db.RunDir + "/config.xml"
	usersPath  = db.RunDir + "/users.xml"
)

// Describe is the part of the description that holds for every version.
func (Service) Describe() db.Description {
	return db.Description{
		Name: Name, TCPOnly: true, Protocol: Name, Package: "clickhouse-server",
		VersionArgs: []string{"--version"}, VersionTrial: &trial,
		// The second name is that of an installation without a package.
		Programs: []db.Program{{Role: db.Server, Names: []string{"clickhouse-server", one}}},
		Settings: settings(),
		Options:  allowed, Users: users(), Conf: conf(),
	}
}

// one is the name of the program that is server and clients.
const one = "clickhouse"

// trial makes a server without the option --version (18.x, perhaps later ones) log its version: the
// server fails because there is no profile of settings.
var trial = db.Trial{
	Args: []string{"--config-file=config.xml"},
	Files: []db.File{{Path: "config.xml", Text: `<yandex>
  <logger><console>1</console><level>information</level></logger>
  <path>./</path><tmp_path>./tmp/</tmp_path>
  <user_files_path>./files/</user_files_path><format_schema_path>./schemas/</format_schema_path>
</yandex>
`}},
}

// Lines that --version prints, and the first line of the log of 18.x:
//
//	ClickHouse server version 23.8.2.7 (official build).
//	ClickHouse local version 24.3.1.2672.
//	2026.11.21 15:00:22.581449 [ 1 ] {} <Information> : Starting ClickHouse 18.16.1 with revision 54412
var bannerPattern = regexp.MustCompile(`(?:ClickHouse \w+ version|Starting ClickHouse) v?(([0-9]+)\.([0-9]+)(?:\.([0-9]+))?(?:\.[0-9]+)?)`)

// Identify reads the banner.
func (Service) Identify(banner string) (db.Version, error) {
	found := bannerPattern.FindStringSubmatch(banner)
	if found == nil {
		return db.Version{}, fmt.Errorf("unknown version %q: want what clickhouse-server --version prints", db.FirstLine(banner))
	}
	v, err := db.ParseVersion(Name, found[1], found[2:])
	if err != nil {
		return db.Version{}, err
	}
	if !v.AtLeast(18) {
		return db.Version{}, fmt.Errorf("%s is too old: want 18.1 or later", v)
	}
	return v, nil
}

func users() []string { return []string{"clickhouse", "nobody"} }

// Recipe is how to use a server of this version. All paths in the configuration are relative to the
// directory of the data set: the server closes inherited descriptors, so it cannot get one of it.
func (Service) Recipe(v db.Version, c db.Config) (db.Recipe, error) {
	switch {
	case !filepath.IsAbs(c.Dir):
		return db.Recipe{}, fmt.Errorf("data directory %q: want an absolute path", c.Dir)
	case c.Programs[db.Server] == "":
		return db.Recipe{}, fmt.Errorf("%s: no %s program", Name, db.Server)
	case c.Port == 0:
		return db.Recipe{}, errors.New("ClickHouse has no socket: it needs an address to listen at")
	}
	accounts, err := usersFile(v, c)
	if err != nil {
		return db.Recipe{}, err
	}
	config, err := configFile(v, c)
	if err != nil {
		return db.Recipe{}, err
	}
	return db.Recipe{
		Users: users(), RootToo: true, RunInDir: true,
		Files:  []db.File{{Path: configPath, Text: config}, {Path: usersPath, Text: accounts}},
		Server: db.Command{Path: c.Programs[db.Server], Args: args(c)},
		// The load's user is the only one. Without a socket every way in is open to all users of the
		// host, so a password is always needed. The database is the server's default one.
		Admin:    db.User,
		Finish:   finish,
		Warm:     warm,
		ReadBack: readBack(v, c),
		Stop:     time.Minute,
		Leftovers: []string{
			db.RunDir + "/*", db.DataDir + "/preprocessed_configs", db.DataDir + "/status", db.DataDir + "/tmp", db.DataDir + "/flags",
		},
	}, nil
}

// args are the options of the program, and after "--" those that override the configuration.
func args(c db.Config) []string {
	var args []string
	if filepath.Base(c.Programs[db.Server]) == one {
		args = []string{"server"}
	}
	args = append(args, "--config-file="+configPath)
	if len(c.Options) > 0 {
		args = append(append(args, "--"), c.Options...)
	}
	return args
}

const (
	tables = " FROM system.tables WHERE database = '" + db.Database + "' AND engine LIKE '%MergeTree' ORDER BY name"
	// Otherwise the server would merge parts during the run.
	finish = "SELECT concat('OPTIMIZE TABLE ', database, '.', name, ' FINAL') AS stmt" + tables
	// The hash reads every column of every row.
	warm = "SELECT concat('SELECT sum(cityHash64(*)) FROM ', database, '.', name) AS stmt" + tables
)

// Hits is a table like those of web analytics. The server fills it itself, always with the same rows.
type Hits struct{ Rows int }

// HitsTable is the name of the table.
const HitsTable = "hits"

// Statements create and fill the table.
func (h Hits) Statements() []string {
	return []string{
		"CREATE TABLE " + db.Database + "." + HitsTable + ` (
  WatchID UInt64, EventDate Date, EventTime DateTime, CounterID UInt32, UserID UInt64, RegionID UInt16,
  AdvEngineID UInt8, Width UInt16, Duration UInt32, URL String, SearchPhrase String
) ENGINE = MergeTree PARTITION BY tuple() ORDER BY (CounterID, EventDate, UserID)`,
		// Few counters, users and phrases have most of the hits, as in real data: the square of a
		// uniform number from 0 to 1 is more often near 0 than near 1.
		"INSERT INTO " + db.Database + "." + HitsTable + strings.ReplaceAll(`
SELECT
  a AS WatchID, toDate(EventTime) AS EventDate, toDateTime(1500000000 + a % 2592000) AS EventTime,
  toUInt32(100 * x) AS CounterID, intHash64(toUInt64(0.1 * {rows} * y)) AS UserID, toUInt16(250 * z) AS RegionID,
  if(a % 25 = 0, toUInt8(1 + b % 20), 0) AS AdvEngineID, toUInt16(320 + 80 * (b % 24)) AS Width, toUInt32(exp(8 * (a % 10007) / 10007)) AS Duration,
  concat('https://site', toString(CounterID), '.example/', toString(toUInt32(2000 * z)), '/page?id=', toString(b % 100000)) AS URL,
  if(b % 8 = 0, concat('words ', toString(toUInt32(3000 * y)), ' and more'), '') AS SearchPhrase
FROM (
  SELECT intHash64(number) AS a, intHash64(number + 1000000007) AS b,
    pow(a % 1000003 / 1000003, 2) AS x, pow(b % 1000003 / 1000003, 2) AS y, pow(intHash64(number + 2000000011) % 1000003 / 1000003, 2) AS z
  FROM system.numbers LIMIT {rows}
)`, "{rows}", strconv.Itoa(h.Rows)),
	}
}

// Bytes is an estimate of the table's size in bytes, from above.
func (h Hits) Bytes() int64 { return 200 * int64(h.Rows) }
