package workload

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/db/redis"
	"github.com/tarelab/tare/internal/load"
	"github.com/tarelab/tare/internal/serve"
	"github.com/tarelab/tare/internal/tool/redis/driver"
)

// Redis sends Redis or Valkey commands as redis-benchmark does, whose report cannot
// be cut into windows: the server in the arm, the load beside it over TCP or in the
// arm too.
type Redis struct{}

// Name is "redis".
func (Redis) Name() string { return "redis" }

// Title is one line for people.
func (Redis) Title() string {
	return "commands to Redis or Valkey as redis-benchmark sends them, sent by tare itself"
}

// Params are the parameters: those of the load, then the settings of the server.
func (Redis) Params() []Param {
	params := []Param{
		{Name: "server", Default: serve.Auto, Check: program,
			Help: "path of the server's program, redis-server or valkey-server; auto: in PATH"},
		{Name: "test", Default: "mixed", Words: driver.Tests(), Check: oneOf(driver.Tests()...),
			Help: "the commands: those of a test of redis-benchmark; list: LPUSH and RPOP in turn; mixed: 80 % GET, 10 % SET, and INCR, HSET, LPUSH, RPOP"},
		{Name: "connections", Default: "4", Check: whole(1, 4096),
			Help: "connections, each with a thread of the load's, like -c of redis-benchmark"},
		{Name: "pipeline", Default: "1", Check: whole(1, 10_000),
			Help: "commands that are sent together, like -P; each takes as long as all of them"},
		{Name: "size", Default: "3B", Check: size(1, 64<<20),
			Help: "bytes of a value, like -d"},
		{Name: "keys", Default: "100000", Check: whole(1, 1_000_000_000),
			Help: "keys, or elements of a set, evenly picked, like -r; all are there before the load begins"},
		{Name: "client", Default: "outside", Words: []string{"outside", "inside"}, Check: oneOf("outside", "inside"),
			Help: "where the load runs: outside of the arm, or in it with the server"},
		{Name: "connect", Default: "tcp", Words: []string{"tcp", "socket"}, Check: oneOf("tcp", "socket"),
			Help: "how it reaches the server; a socket needs client=inside"},
		{Name: "server_options", Default: none, Check: options(redisOption),
			Help: "settings passed on to the server, --name=value with spaces between"},
	}
	return append(params, settingParams(redis.Service{})...)
}

// redisOption refuses what tare sets itself.
func redisOption(s string) error {
	name, found := strings.CutPrefix(s, "--")
	name, _, value := strings.Cut(strings.ToLower(name), "=")
	if !found || name == "" || !value {
		return fmt.Errorf("%q: want --name=value", s)
	}
	place := []string{
		"bind", "port", "tls-port", "unixsocket", "unixsocketperm", "dir", "daemonize", "supervised", "pidfile", "logfile", "include", "loadmodule",
		"user", "aclfile", "requirepass", "rename-command", "replicaof", "slaveof", "cluster-enabled", "databases", "enable-debug-command", "enable-module-command",
	}
	if slices.Contains(place, name) {
		return fmt.Errorf("%q is not yours to set", s)
	}
	for _, own := range (redis.Service{}).Describe().Settings {
		if name == strings.ReplaceAll(own.Name, "_", "-") {
			return fmt.Errorf("%q is a parameter of its own: %s", s, own.Name)
		}
	}
	return nil
}

// Stages says what to start.
func (Redis) Stages(v Values) (Stages, error) {
	r := reader{v: v}
	p := driver.Params{Test: v["test"], Bytes: int(r.size("size")), Keys: r.whole("keys"), Pipeline: r.whole("pipeline")}
	connections := r.whole("connections")
	if r.err != nil {
		return Stages{}, fmt.Errorf("redis: %w", r.err)
	}
	p.Database = load.Database{
		Service: redis.Name, Inside: v["client"] == "inside", TCP: v["client"] == "inside" && v["connect"] == "tcp",
		Server: serve.Server{Settings: settings(redis.Service{}, v), Options: list(v["server_options"]), Connections: connections},
	}
	if !p.Inside && v["connect"] == "socket" {
		return Stages{}, errors.New("redis: connect=socket needs client=inside: a socket does not reach out of an arm")
	}
	s := Stages{
		Threads: connections, Together: p.Pipeline, Key: redisKey(v), Disk: v["appendonly"] == "yes", Grows: redisGrows(v, p), Settle: 500 * time.Millisecond, Metrics: closedLoop(),
		Prepare: func(dir string) Task {
			return hiddenTask(serve.PrepareCommand, redis.Name, serve.Prepare{Server: path(v["server"]), Options: p.Server.Options, Into: dir})
		},
	}
	s.place(p.Database, func(d load.Database) Task {
		here := p
		here.Database = d
		return loadTask(driver.Kind, here)
	})
	return s, nil
}

// redisGrows is what the server writes: its data as often as it saves them, and a
// log of what a run changes.
func redisGrows(v Values, p driver.Params) (n int64) {
	const overhead = 100 // bytes of an element beside its value, about
	if v["appendonly"] == "yes" {
		n += 1 << 30
	}
	if v["save"] != "off" || n > 0 {
		n += 2 * int64(p.Keys) * int64(p.Bytes+overhead)
	}
	return n
}

// redisKey tells data sets apart within a run: they are empty, for the load fills
// them. The cache's own key, which prepare knows, has the server's version too.
func redisKey(v Values) string {
	h := fnv.New32a()
	for _, name := range []string{"server", "server_options"} {
		h.Write([]byte(v[name] + "\x00"))
	}
	return fmt.Sprintf("redis-%x", h.Sum32())
}
