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

// Service is ClickHouse, from 18.x with a program of its own to the current
// ones, which are one program for everything. It is asked over HTTP, which all
// versions speak the same way.
type Service struct{}

var _ db.Service = Service{}

// Name is ClickHouse's name as a service and as a protocol.
const Name = "clickhouse"

// usersPath is the file of users and of profiles of settings, beside
// configPath; see Service.Recipe.
const (
	configPath = db.RunDir + "/config.xml"
	usersPath  = db.RunDir + "/users.xml"
)

// Describe is what holds for every version.
func (Service) Describe() db.Description {
	return db.Description{
		Name: Name, TCPOnly: true, Protocol: Name, Package: "clickhouse-server",
		VersionArgs: []string{"--version"}, VersionTrial: &trial,
		// The second is the one program of a version that was not installed by a
		// package.
		Programs: []db.Program{{Role: db.Server, Names: []string{"clickhouse-server", one}}},
		Settings: settings(),
		Options:  allowed, Users: users(),
	}
}

// one is the name of the program that is everything.
const one = "clickhouse"

// trial makes a server without the option --version (18.x at least)
// say its version: it gives up because there is no profile of settings.
var trial = db.Trial{
	Args: []string{"--config-file=config.xml"},
	Files: []db.File{{Path: "config.xml", Text: `<yandex>
  <logger><console>1</console><level>information</level></logger>
  <path>./</path><tmp_path>./tmp/</tmp_path>
  <user_files_path>./files/</user_files_path><format_schema_path>./schemas/</format_schema_path>
</yandex>
`}},
}

// What --version prints, and what the log of 18.x begins with:
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

// Recipe says how to use a server of this version. Its configuration names
// everything relative to the directory of the data set, where it runs: a server
// that closes what it inherits cannot be given a descriptor of it.
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
		Users: users(), RootToo: true, Here: true,
		Files:  []db.File{{Path: configPath, Text: config}, {Path: usersPath, Text: accounts}},
		Server: db.Command{Path: c.Programs[db.Server], Args: args(c)},
		// The only user may do what is to be done: there is no way in that is not
		// open to everybody on the host, so nobody gets in without the password.
		// The database is there: it is the server's default one.
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

// args: the server's own options, and after two dashes what stands
// above the configuration file.
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
	// Nothing is left to be merged in the background.
	finish = "SELECT concat('OPTIMIZE TABLE ', database, '.', name, ' FINAL') AS stmt" + tables
	// Every column of every row goes through a hash.
	warm = "SELECT concat('SELECT sum(cityHash64(*)) FROM ', database, '.', name) AS stmt" + tables
)

// Hits is a table like those of web analytics that ClickHouse is made
// for, filled by the server itself: the same rows every time.
type Hits struct{ Rows int }

// HitsTable is its name.
const HitsTable = "hits"

// Statements make and fill the table.
func (h Hits) Statements() []string {
	return []string{
		"CREATE TABLE " + db.Database + "." + HitsTable + ` (
  WatchID UInt64, EventDate Date, EventTime DateTime, CounterID UInt32, UserID UInt64, RegionID UInt16,
  AdvEngineID UInt8, Width UInt16, Duration UInt32, URL String, SearchPhrase String
) ENGINE = MergeTree PARTITION BY tuple() ORDER BY (CounterID, EventDate, UserID)`,
		// Few counters, users and phrases have most of the hits, as it is: the
		// square of an even number from 0 to 1 is more often near 0 than near 1.
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

// Bytes is at most about how large the table is.
func (h Hits) Bytes() int64 { return 200 * int64(h.Rows) }
