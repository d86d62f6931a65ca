package redis

import (
	"fmt"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/redis"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/record"
)

// Workload sends commands to Redis or Valkey as redis-benchmark does, whose report cannot be cut
// into windows. The server runs in the arm; the client runs outside, over TCP, or in the arm too.
type Workload struct{}

func (Workload) Name() string { return "redis" }

func (Workload) Title() record.Said { return record.Say("load_redis") }

// Params are the parameters of the load, then the settings of the server.
func (Workload) Params() []workload.Param {
	params := []workload.Param{
		workload.ServerParam(", redis-server or valkey-server; auto: in PATH"),
		workload.Choice("test", "mixed",
			"the commands: those of a test of redis-benchmark; list: LPUSH and RPOP in turn; mixed: 80 % GET, 10 % SET, and INCR, HSET, LPUSH, RPOP", Tests()...),
		{Name: "connections", Default: "4", Check: workload.Whole(1, 4096),
			Help: "connections, each with a thread of the load's, like -c of redis-benchmark"},
		{Name: "pipeline", Default: "1", Check: workload.Whole(1, 10_000),
			Help: "commands that are sent together, like -P; each takes as long as all of them"},
		{Name: "size", Default: "3B", Check: workload.Size(1, 64<<20),
			Help: "bytes of a value, like -d"},
		{Name: "keys", Default: "100000", Check: workload.Whole(1, 1_000_000_000),
			Help: "keys, or elements of a set, evenly picked, like -r; all are there before the load begins"},
		workload.ClientParam("the load runs"),
		workload.ConnectParam(),
		workload.ServerOptions(redis.Service{}),
	}
	return append(params, workload.SettingParams(redis.Service{})...)
}

func (Workload) Stages(v workload.Values) (workload.Stages, error) {
	if v["appendfsync"] != "everysec" && v["appendonly"] != "yes" {
		return workload.Stages{}, hint.New(fmt.Errorf("appendfsync=%s syncs the log of appendonly=yes, and there is none", v["appendfsync"]), "appendonly=yes, or leave appendfsync out")
	}
	r := workload.Reader{Values: v}
	p := Params{Test: v["test"], Bytes: int(r.Size("size")), Keys: r.Whole("keys"), Pipeline: r.Whole("pipeline")}
	connections := r.Whole("connections")
	p.Database = r.Database(redis.Name, redis.Service{}, connections)
	if r.Err != nil {
		return workload.Stages{}, fmt.Errorf("redis: %w", r.Err)
	}
	s := workload.Stages{
		Threads: connections, Together: p.Pipeline,
		Key:  fmt.Sprintf("redis-%x", workload.HashOf(v["server"], v["server_options"])), // empty: the load fills it
		Disk: v["appendonly"] == "yes", Grows: redisGrows(v, p), Rate: redisRate(v, p, connections),
		Settle: 500 * time.Millisecond, Metrics: workload.ClosedLoop(),
		Prepare: func(dir string) workload.Task {
			return workload.HiddenTask(serve.PrepareCommand, redis.Name, serve.Prepare{Server: workload.ProgramPath(v["server"]), Options: p.Server.Options, Into: dir})
		},
	}
	s.Needs = []serve.Need{{Service: redis.Name, Path: workload.ProgramPath(v["server"]), Package: workload.PackageOf(redis.Name)}}
	s.Code, _ = r.ServerCode(redis.Service{})
	s.RunWith(p.Database, func(d load.Database) workload.Task {
		here := p
		here.Database = d
		return workload.LoadTask(Kind, here)
	})
	return s, nil
}

// redisGrows is the room for a snapshot and for a rewritten log, each as large as the data.
func redisGrows(v workload.Values, p Params) (n int64) {
	if v["save"] != "off" || v["appendonly"] == "yes" {
		n = 2 * int64(p.Keys) * int64(p.Bytes+redisOverhead)
	}
	return n
}

const (
	// redisOverhead is about how many bytes an element or a command takes beside its value.
	redisOverhead = 100
	// appendedRate is how many commands a second one connection sends, mostAppended all
	// connections, and appendedMost how many bytes a second the log grows by at most.
	appendedRate = 10_000
	mostAppended = 500_000
	appendedMost = 512 << 20
)

// redisRate is how many bytes a second the append-only log grows by if every command writes.
func redisRate(v workload.Values, p Params, connections int) int64 {
	if v["appendonly"] != "yes" {
		return 0
	}
	commands := min(int64(connections)*int64(p.Pipeline)*appendedRate, mostAppended)
	return min(commands*int64(p.Bytes+redisOverhead), appendedMost)
}
