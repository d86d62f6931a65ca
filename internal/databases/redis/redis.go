// Package redis describes Redis and Valkey, with a client for their protocol.
package redis

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

// Service describes Redis, and Valkey, a fork of Redis 7.2 with the same protocol and settings.
type Service struct{}

var _ db.Service = Service{}

// Name is the name of the service and of its protocol.
const Name = "redis"

// flavourValkey is the flavour of Valkey; that of Redis is Name.
const flavourValkey = "valkey"

// configPath is the path of the configuration, which holds the digest of the password.
const configPath = db.RunDir + "/redis.conf"

// Describe returns what is the same for all versions.
func (Service) Describe() db.Description {
	return db.Description{
		Name: Name, Protocol: Name, Package: "redis-server",
		VersionArgs: []string{"--version"},
		Programs:    []db.Program{{Role: db.Server, Names: []string{"redis-server", "valkey-server"}}},
		Settings:    settings(),
		Options:     allowed, Users: users(), Conf: conf(), Own: own(),
	}
}

// bannerPattern matches the output of --version, for example:
//
// Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ae4d7c971a948f0
// Valkey server v=8.1.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=...
var bannerPattern = regexp.MustCompile(`^(Redis|Valkey) server v=(([0-9]+)\.([0-9]+)\.([0-9]+)\S*)`)

// Identify reads the version from the output of --version.
func (Service) Identify(banner string) (db.Version, error) {
	found := bannerPattern.FindStringSubmatch(strings.TrimSpace(banner))
	if found == nil {
		return db.Version{}, fmt.Errorf("unknown version %q: want what redis-server --version prints", db.FirstLine(banner))
	}
	v, err := db.ParseVersion(strings.ToLower(found[1]), found[2], found[3:])
	if err != nil {
		return db.Version{}, err
	}
	if !v.AtLeast(6) {
		return db.Version{}, fmt.Errorf("%s is too old: want 6.0 or later", v)
	}
	if v.Flavour == flavourValkey {
		v.Text += "-valkey" // both have a version 7.2.4
	}
	return v, nil
}

func users() []string { return []string{"redis", "valkey", "nobody"} }

// Recipe returns how to use a server of this version. All paths in the configuration are relative to
// the directory of the data set.
func (Service) Recipe(v db.Version, c db.Config) (db.Recipe, error) {
	switch {
	case !filepath.IsAbs(c.Dir):
		return db.Recipe{}, fmt.Errorf("data directory %q: want an absolute path", c.Dir)
	case c.Programs[db.Server] == "":
		return db.Recipe{}, fmt.Errorf("%s: no %s program", Name, db.Server)
	}
	// Redis turns a relative path into an absolute one, which its account may not reach.
	args := []string{"/proc/self/cwd/" + configPath}
	more, err := optionWords(c.Options)
	if err != nil {
		return db.Recipe{}, err
	}
	return db.Recipe{
		Users: users(), RootToo: true, RunInDir: true,
		Files:     []db.File{{Path: configPath, Text: configFile(c)}},
		Server:    db.Command{Path: c.Programs[db.Server], Args: append(args, more...)},
		Admin:     db.User, // an empty server needs no setup
		ReadBack:  readBack(v, c),
		Stop:      time.Minute,
		Leftovers: []string{db.RunDir + "/*", db.DataDir + "/temp-*"},
	}, nil
}

// optionWords are options as Redis reads them: a name and a value.
func optionWords(options []string) (words []string, err error) {
	for _, o := range options {
		name, value, found := strings.Cut(o, "=")
		if !found {
			return nil, errors.New("server option " + o + ": want --name=value")
		}
		words = append(words, name, value)
	}
	return words, nil
}

// configFile is the text of the configuration file. Timeouts and periodic work are off unless the
// experiment sets them, because the clock continues while an arm is frozen. The load's user may not run
// commands that reach files or other servers, or that stop the server.
func configFile(c db.Config) string {
	port, bind := strconv.Itoa(c.Port), ""
	if c.Port != 0 {
		bind = "bind " + c.Host + "\n"
	}
	save := `""`
	if words := c.Settings[setSave]; words != noSave {
		save = strings.ReplaceAll(words, ",", " ")
	}
	return bind + `port ` + port + `
unixsocket ../` + db.SocketFile + `
unixsocketperm 700
dir ./` + db.DataDir + `
daemonize no
supervised no
protected-mode no
timeout 0
tcp-keepalive 0
auto-aof-rewrite-percentage 0
databases 1
maxclients ` + strconv.Itoa(max(1000, c.Connections+20)) + `
io-threads ` + c.Settings[setIOThreads] + `
save ` + save + `
appendonly ` + c.Settings[setAppend] + `
appendfsync ` + c.Settings[setAppendSync] + `
user default off
user ` + db.User + ` on #{secret_sha256} ~* +@all -@admin -@dangerous -@scripting -@pubsub +info +config|get
`
}

// Names of the settings. They are those of Redis, with an underscore for a dash.
const (
	setAppend     = "appendonly"
	setAppendSync = "appendfsync"
	setSave       = "save"
	setIOThreads  = "io_threads"
	noSave        = "off"
	everySecond   = "everysec" // the server's own appendfsync
)

func settings() []db.Setting {
	return []db.Setting{
		{Name: setAppend, Default: "no", Words: []string{"no", "yes"},
			Help: "appendonly: yes writes every change to a log; no: what was not saved is lost with the server"},
		{Name: setAppendSync, Default: everySecond, Words: []string{everySecond, "always", "no"},
			Help: "appendfsync, of that log: always makes every change durable before it is answered"},
		{Name: setSave, Default: noSave, Check: checkSave,
			Help: "save: snapshots after SECONDS with CHANGES, as 3600,1,300,100; off: none, for a snapshot falls into some windows and not into others"},
		{Name: setIOThreads, Default: "1", Check: db.WholeFrom(1, 128), Help: "io-threads: threads that write answers"},
	}
}

// checkSave allows off, and pairs of numbers that are separated by commas.
func checkSave(s string) error {
	if s == noSave {
		return nil
	}
	words := strings.Split(s, ",")
	for _, w := range words {
		if err := db.WholeFrom(1, 1<<31-1)(w); err != nil || len(words)%2 != 0 {
			return db.Want(s, "off, or pairs of seconds and changes like 3600,1,300,100")
		}
	}
	return nil
}

// readBack are the queries that read back tare's settings, and others that only the report shows.
func readBack(v db.Version, c db.Config) []db.Query {
	ask := func(name, wanted string) db.Query {
		return db.Query{Name: name, Ask: "CONFIG GET " + name, Wanted: wanted, Accepts: func(got string) bool { return got == wanted }}
	}
	save := strings.ReplaceAll(c.Settings[setSave], ",", " ")
	if save == noSave {
		save = ""
	}
	number := strings.TrimSuffix(v.Text, "-valkey")
	list := []db.Query{
		{Name: v.Flavour + "_version", Ask: "INFO server " + v.Flavour + "_version", Wanted: number, Accepts: func(got string) bool { return got == number }},
		ask("appendonly", c.Settings[setAppend]),
		ask("appendfsync", c.Settings[setAppendSync]),
		ask("save", save),
		ask("io-threads", c.Settings[setIOThreads]),
	}
	for _, name := range []string{"maxmemory", "maxmemory-policy", "no-appendfsync-on-rewrite", "aof-use-rdb-preamble", "activedefrag", "hz", "maxclients", "tcp-backlog"} {
		list = append(list, db.Query{Name: name, Ask: "CONFIG GET " + name})
	}
	return append(list, db.Query{Name: "mem_allocator", Ask: "INFO memory mem_allocator"}, db.Query{Name: "multiplexing_api", Ask: "INFO server multiplexing_api"})
}
