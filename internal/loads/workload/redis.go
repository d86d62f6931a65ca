package workload

import (
	"fmt"
	"time"

	"github.com/tarelab/tare/internal/databases/redis"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/loads/load"
	driver "github.com/tarelab/tare/internal/loads/redis"
)

// Redis sends Redis or Valkey commands as redis-benchmark does, whose report cannot
// be cut into windows: the server in the arm, the load beside it over TCP or in the
// arm too.
type Redis struct{}

func (Redis) Name() string { return "redis" }

func (Redis) Title() string {
	return "commands to Redis or Valkey as redis-benchmark sends them, sent by tare itself"
}

// Params are the parameters: those of the load, then the settings of the server.
func (Redis) Params() []Param {
	params := []Param{
		serverParam(", redis-server or valkey-server; auto: in PATH"),
		choice("test", "mixed",
			"the commands: those of a test of redis-benchmark; list: LPUSH and RPOP in turn; mixed: 80 % GET, 10 % SET, and INCR, HSET, LPUSH, RPOP", driver.Tests()...),
		{Name: "connections", Default: "4", Check: whole(1, 4096),
			Help: "connections, each with a thread of the load's, like -c of redis-benchmark"},
		{Name: "pipeline", Default: "1", Check: whole(1, 10_000),
			Help: "commands that are sent together, like -P; each takes as long as all of them"},
		{Name: "size", Default: "3B", Check: size(1, 64<<20),
			Help: "bytes of a value, like -d"},
		{Name: "keys", Default: "100000", Check: whole(1, 1_000_000_000),
			Help: "keys, or elements of a set, evenly picked, like -r; all are there before the load begins"},
		clientParam("the load runs"),
		connectParam(),
		serverOptions(redis.Service{}),
	}
	return append(params, settingParams(redis.Service{})...)
}

func (Redis) Stages(v Values) (Stages, error) {
	r := reader{v: v}
	p := driver.Params{Test: v["test"], Bytes: int(r.size("size")), Keys: r.whole("keys"), Pipeline: r.whole("pipeline")}
	connections := r.whole("connections")
	p.Database = r.database(redis.Name, redis.Service{}, connections)
	if r.err != nil {
		return Stages{}, fmt.Errorf("redis: %w", r.err)
	}
	s := Stages{
		Threads: connections, Together: p.Pipeline,
		Key:  fmt.Sprintf("redis-%x", hashOf(v["server"], v["server_options"])), // empty: the load fills it
		Disk: v["appendonly"] == "yes", Grows: redisGrows(v, p), Rate: redisRate(v, p, connections),
		Settle: 500 * time.Millisecond, Metrics: closedLoop(),
		Prepare: func(dir string) Task {
			return hiddenTask(serve.PrepareCommand, redis.Name, serve.Prepare{Server: path(v["server"]), Options: p.Server.Options, Into: dir})
		},
	}
	s.Needs = []serve.Need{{Service: redis.Name, Path: path(v["server"]), Package: packageOf(redis.Name)}}
	s.Code, _ = r.serverCode(redis.Service{})
	s.place(p.Database, func(d load.Database) Task {
		here := p
		here.Database = d
		return loadTask(driver.Kind, here)
	})
	return s, nil
}

// redisGrows is what the server writes when it saves its data or rewrites its log: all of it,
// twice.
func redisGrows(v Values, p driver.Params) (n int64) {
	if v["save"] != "off" || v["appendonly"] == "yes" {
		n = 2 * int64(p.Keys) * int64(p.Bytes+redisOverhead)
	}
	return n
}

// redisOverhead is how many bytes an element or a command takes beside its value, about.
const redisOverhead = 100

// redisRate is that of the log, as if every command wrote.
func redisRate(v Values, p driver.Params, connections int) int64 {
	if v["appendonly"] != "yes" {
		return 0
	}
	commands := min(int64(connections)*int64(p.Pipeline)*appendedRate, mostAppended)
	return min(commands*int64(p.Bytes+redisOverhead), appendedMost)
}
