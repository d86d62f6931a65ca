package sysbench

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/databases"
	"github.com/tarelab/tare/internal/databases/mysql"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/databases/sqlfile"
	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/loads/workload"
	tool "github.com/tarelab/tare/internal/logs/sysbench"
	"github.com/tarelab/tare/record"
)

// Workload is sysbench's database scripts on MariaDB, MySQL or Percona Server. The server runs in
// the arm; sysbench runs outside, over TCP, or in the arm too.
type Workload struct{}

func (Workload) Name() string { return "sysbench" }

func (Workload) Title() record.Said { return record.Say("load_sysbench") }

// Params are the parameters of sysbench, then the settings of the server in tare's words.
func (Workload) Params() []workload.Param {
	params := []workload.Param{
		workload.Choice("service", serve.Auto, "the server; auto: whichever is installed", services()...),
		workload.ServerParam("; auto: in PATH"),
		{Name: "sysbench", Default: serve.Auto, Check: workload.CheckProgram,
			Help: "path of sysbench 1.0 or 1.1; auto: in PATH"},
		{Name: "script", Default: "oltp_read_only", Check: script,
			Help: "one of sysbench's scripts, or the absolute path of a Lua script or of SQL (*.sql): its statements in order are one event"},
		{Name: "threads", Default: "4", Check: workload.Whole(1, 4096),
			Help: "sysbench's threads, each with a connection"},
		{Name: "tables", Default: "4", Check: workload.Whole(1, 10_000),
			Help: "tables"},
		{Name: "size", Default: "25000", Check: workload.Whole(1, 1_000_000_000),
			Help: "rows of each table"},
		workload.ClientParam("sysbench runs"),
		workload.ConnectParam(),
		{Name: "rate", Default: "0", Check: rate,
			Help: "transactions per second that arrive (Poisson; latency counts from the intended time); 0: as fast as it can"},
		workload.Choice("rand_type", "default", "sysbench's rand-type", randTypes...),
		workload.OnOff("hook", "on",
			"on: a hook in the script counts its events, and one sysbench runs as long as the arm; off: one sysbench for each window, where no hook is possible"),
		workload.OptionsParam("options", "options passed on to sysbench", tool.CheckOption),
		workload.ServerOptions(family),
	}
	params = append(params, workload.DumpParams()...)
	return append(params, workload.SettingParams(family)...)
}

// isSQL says whether a script is a file of SQL statements.
func isSQL(script string) bool { return strings.HasSuffix(script, sqlfile.Ending) }

// family stands for all flavours: their settings are the same.
var family = mysql.Service{Flavour: mysql.MariaDB}

var randTypes = []string{"default", "uniform", "gaussian", "special", "pareto", "zipfian"}

func services() []string {
	words := []string{serve.Auto}
	for _, s := range databases.All() {
		if d := s.Describe(); d.Protocol == mysql.Family {
			words = append(words, d.Name)
		}
	}
	return words
}

func script(s string) error {
	if !tool.IsBundled(s) && !filepath.IsAbs(s) {
		return fmt.Errorf("%q is neither an absolute path nor one of %s", s, strings.Join(tool.Bundled(), ", "))
	}
	return nil
}

func rate(s string) error {
	if s == "0" {
		return nil
	}
	return workload.PerSecond(0.1, 1e7)(s)
}

func (Workload) Stages(v workload.Values) (workload.Stages, error) {
	r := workload.Reader{Values: v}
	p := Params{
		Data:    tool.Data{Script: v["script"], Tables: r.Whole("tables"), Rows: r.Whole("size"), Options: workload.List(v["options"])},
		Program: workload.ProgramPath(v["sysbench"]), Rate: r.Number("rate"), NoHook: v["hook"] == "off",
	}
	threads := r.Whole("threads")
	p.Database = r.Database(v["service"], family, threads)
	if r.Err != nil {
		return workload.Stages{}, fmt.Errorf("sysbench: %w", r.Err)
	}
	if v["rand_type"] != "default" {
		p.RandType = v["rand_type"]
	}
	if p.NoHook && p.Rate != math.Trunc(p.Rate) {
		return workload.Stages{}, fmt.Errorf("sysbench: rate=%v: without the hook sysbench keeps the rate, which is whole", p.Rate)
	}
	stages := workload.Stages{
		Threads: threads, Key: dataKey(v), Disk: writes(p.Script), Grows: workload.Bytes(v, "redo_log") + workload.TablesGrow, Rate: growth(v, threads, writes(p.Script)), Cache: workload.Bytes(v, "buffer_pool"), Settle: 500 * time.Millisecond,
		Prepare: func(dir string) workload.Task {
			fill := serve.Prepare{Server: workload.ProgramPath(v["server"]), Options: p.Server.Options, Into: dir}
			if !workload.Fill(&fill, v) {
				fill.Sysbench, fill.Program = dataOf(p.Data), p.Program
			}
			return workload.HiddenTask(serve.PrepareCommand, v["service"], fill)
		},
	}
	stages.SQL = workload.SQLOf(v, sqlfile.MySQL)
	if workload.DumpPath(v) == "" {
		stages.Data = serve.SysbenchBytes(p.Data.Tables, p.Data.Rows)
	}
	if len(stages.SQL) > 0 {
		p.Server.Options = append(p.Server.Options, refuseFiles)
	}
	stages.Needs = []serve.Need{
		{Service: v["service"], Path: workload.ProgramPath(v["server"]), Package: workload.PackageOf(v["service"])},
		{Tool: tool.Program, Path: p.Program, Package: "sysbench"},
	}
	own := p.Script
	if tool.IsBundled(own) {
		own = ""
	}
	stages.UserSQL = len(stages.SQL) > 0 || own != ""
	code, client := r.ServerCode(family)
	stages.Code = workload.ClientCode(code, client, tool.Program, p.Program, own)
	stages.Named = workload.NamedScript(v, own)
	counted(&stages, p)
	stages.RunWith(p.Database, func(d load.Database) workload.Task {
		here := p
		here.Database = d
		return workload.LoadTask(Kind, here)
	})
	return stages, nil
}

// refuseFiles makes the server refuse LOAD DATA LOCAL, by which a statement would read files of the client.
const refuseFiles = "--local-infile=0"

// dataOf is the data set of a script; that of a file of SQL is sysbench's own.
func dataOf(d tool.Data) tool.Data {
	if isSQL(d.Script) {
		d.Script = tool.DataScript("oltp_read_write")
	}
	return d
}

// counted sets metrics and windows by how events are counted.
func counted(s *workload.Stages, p Params) {
	s.Metrics = workload.ClosedLoop()
	if p.Rate > 0 {
		s.Metrics = workload.OpenLoop()
	}
	if p.NoHook { // sysbench measures whole seconds, after it has connected
		s.Windowed = &workload.Windowed{Least: time.Second, Usual: 2 * time.Second, Limit: time.Minute}
	}
}

// writes is true if a script commits changes. A user's script counts as one that does.
func writes(script string) bool {
	return !slices.Contains([]string{"oltp_read_only", "oltp_point_select", "select_random_points", "select_random_ranges"}, script)
}

// dataKey identifies the data set within a run.
func dataKey(v workload.Values) string {
	script := dataOf(tool.Data{Script: v["script"]}).Script
	h := workload.HashOf(v["service"], v["server"], v["sysbench"], v["options"], v["server_options"], tool.DataScript(script), v["dump"])
	return fmt.Sprintf("sysbench-%sx%s-%x", v["tables"], v["size"], h)
}

// A binary log grows by binlogRate bytes a second for each thread that writes, about 1200
// transactions of sysbench of 1.7 KB each in row format, and by at most mostBinlog in all.
const (
	binlogRate = 2 << 20
	mostBinlog = 64 << 20
)

// growth is how many bytes a second the server writes beyond its data set.
func growth(v workload.Values, threads int, writes bool) int64 {
	if !writes {
		return 0
	}
	rate := workload.TablesRate * int64(threads)
	if v["binlog"] == "on" {
		rate += min(int64(threads)*binlogRate, mostBinlog)
	}
	return rate
}
