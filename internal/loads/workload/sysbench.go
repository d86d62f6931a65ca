package workload

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
	"github.com/tarelab/tare/internal/loads/load"
	driver "github.com/tarelab/tare/internal/loads/sysbench"
	"github.com/tarelab/tare/internal/logs/sysbench"
)

// Sysbench is sysbench's database scripts against a real server: the server in
// the arm, sysbench beside it over TCP or in the arm too.
type Sysbench struct{}

func (Sysbench) Name() string { return "sysbench" }

func (Sysbench) Title() string {
	return "sysbench's database scripts on MariaDB, MySQL or Percona Server"
}

// Params are the parameters: those of sysbench, then the settings of the
// server in tare's words.
func (Sysbench) Params() []Param {
	params := []Param{
		choice("service", serve.Auto, "the server; auto: whichever is installed", services()...),
		serverParam("; auto: in PATH"),
		{Name: "sysbench", Default: serve.Auto, Check: program,
			Help: "path of sysbench 1.0 or 1.1; auto: in PATH"},
		{Name: "script", Default: "oltp_read_only", Check: script,
			Help: "one of sysbench's scripts, or the absolute path of a Lua script"},
		{Name: "threads", Default: "4", Check: whole(1, 4096),
			Help: "sysbench's threads, each with a connection"},
		{Name: "tables", Default: "4", Check: whole(1, 10_000),
			Help: "tables"},
		{Name: "size", Default: "25000", Check: whole(1, 1_000_000_000),
			Help: "rows of each table"},
		clientParam("sysbench runs"),
		connectParam(),
		{Name: "rate", Default: "0", Check: rate,
			Help: "transactions per second that arrive (Poisson; latency counts from the intended time); 0: as fast as it can"},
		choice("rand_type", "default", "sysbench's rand-type", randTypes...),
		onOff("hook", "on",
			"on: a hook in the script counts its events, and one sysbench runs as long as the arm; off: one sysbench for each window, where no hook is possible"),
		optionsParam("options", "options passed on to sysbench", sysbench.CheckOption),
		serverOptions(family),
	}
	return append(params, settingParams(family)...)
}

// family has the settings of all flavours.
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
	if !sysbench.IsBundled(s) && !filepath.IsAbs(s) {
		return fmt.Errorf("%q is neither an absolute path nor one of %s", s, strings.Join(sysbench.Bundled(), ", "))
	}
	return nil
}

func rate(s string) error {
	if s == "0" {
		return nil
	}
	return perSecond(0.1, 1e7)(s)
}

func (Sysbench) Stages(v Values) (Stages, error) {
	r := reader{v: v}
	p := driver.Params{
		Data:    sysbench.Data{Script: v["script"], Tables: r.whole("tables"), Rows: r.whole("size"), Options: list(v["options"])},
		Program: path(v["sysbench"]), Rate: r.number("rate"), NoHook: v["hook"] == "off",
	}
	threads := r.whole("threads")
	p.Database = r.database(v["service"], family, threads)
	if r.err != nil {
		return Stages{}, fmt.Errorf("sysbench: %w", r.err)
	}
	if v["rand_type"] != "default" {
		p.RandType = v["rand_type"]
	}
	if p.NoHook && p.Rate != math.Trunc(p.Rate) {
		return Stages{}, fmt.Errorf("sysbench: rate=%v: without the hook sysbench keeps the rate, which is whole", p.Rate)
	}
	stages := Stages{
		Threads: threads, Key: dataKey(v), Disk: writes(p.Script), Grows: mysqlGrows(v), Rate: mysqlRate(v, threads, writes(p.Script)), Cache: cache(v, "buffer_pool"), Settle: 500 * time.Millisecond,
		Prepare: func(dir string) Task {
			return hiddenTask(serve.PrepareCommand, v["service"], serve.Prepare{
				Server: path(v["server"]), Options: p.Server.Options, Sysbench: p.Data, Program: p.Program, Into: dir,
			})
		},
	}
	stages.Needs = []serve.Need{
		{Service: v["service"], Path: path(v["server"]), Package: packageOf(v["service"])},
		{Tool: sysbench.Program, Path: p.Program, Package: "sysbench"},
	}
	own := p.Script
	if sysbench.IsBundled(own) {
		own = ""
	}
	code, client := r.serverCode(family)
	stages.Code = clientCode(code, client, sysbench.Program, p.Program, own)
	stages.counted(p)
	stages.place(p.Database, func(d load.Database) Task {
		here := p
		here.Database = d
		return loadTask(driver.Kind, here)
	})
	return stages, nil
}

// counted says what the way of counting means for windows and numbers.
func (s *Stages) counted(p driver.Params) {
	s.Metrics = closedLoop()
	if p.Rate > 0 {
		s.Metrics = openLoop()
	}
	if p.NoHook { // sysbench measures whole seconds, and has to connect
		s.Windowed = &Windowed{Least: time.Second, Usual: 2 * time.Second, Limit: time.Minute}
	}
}

// writes says whether a script commits anything; one that is not known may.
func writes(script string) bool {
	return !slices.Contains([]string{"oltp_read_only", "oltp_point_select", "select_random_points", "select_random_ranges"}, script)
}

// dataKey tells data sets apart within a run.
func dataKey(v Values) string {
	h := hashOf(v["service"], v["server"], v["sysbench"], v["options"], v["server_options"], sysbench.DataScript(v["script"]))
	return fmt.Sprintf("sysbench-%sx%s-%x", v["tables"], v["size"], h)
}
