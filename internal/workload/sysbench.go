package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/load"
	"github.com/tarelab/tare/internal/serve"
	"github.com/tarelab/tare/internal/service"
	"github.com/tarelab/tare/internal/sysbench"
)

// Sysbench is sysbench's database scripts against a real server: the server in
// the arm, sysbench beside it over TCP or in the arm too.
type Sysbench struct{}

// Name is "sysbench".
func (Sysbench) Name() string { return "sysbench" }

// Title is one line for people.
func (Sysbench) Title() string {
	return "sysbench's database scripts on MariaDB, MySQL or Percona Server"
}

// Params are the parameters: those of sysbench, then the settings of the
// server in tare's words.
func (Sysbench) Params() []Param {
	params := []Param{
		{Name: "service", Default: serve.Auto, Words: services(), Check: oneOf(services()...),
			Help: "the server; auto: whichever is installed"},
		{Name: "server", Default: serve.Auto, Check: program,
			Help: "path of the server's program; auto: in PATH"},
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
		{Name: "client", Default: "outside", Words: []string{"outside", "inside"}, Check: oneOf("outside", "inside"),
			Help: "where sysbench runs: outside of the arm, or in it with the server"},
		{Name: "connect", Default: "tcp", Words: []string{"tcp", "socket"}, Check: oneOf("tcp", "socket"),
			Help: "how it reaches the server; a socket needs client=inside"},
		{Name: "rate", Default: "0", Check: rate,
			Help: "transactions per second that arrive (Poisson; latency counts from the intended time); 0: as fast as it can"},
		{Name: "rand_type", Default: "default", Words: randTypes, Check: oneOf(randTypes...),
			Help: "sysbench's rand-type"},
		{Name: "options", Default: none, Check: options(sysbench.CheckOption),
			Help: "options passed on to sysbench, --name=value with spaces between"},
		{Name: "server_options", Default: none, Check: options(serverOption),
			Help: "options passed on to the server, --name=value with spaces between"},
	}
	for _, s := range serverSettings() {
		check := s.Check
		if check == nil {
			check = oneOf(s.Words...)
		}
		params = append(params, Param{Name: s.Name, Default: s.Default, Words: s.Words, Help: "server: " + s.Help, Check: check})
	}
	return params
}

// serverSettings are the same for all flavours of the family.
func serverSettings() []service.Setting {
	return service.MySQL{Flavour: service.MariaDB}.Describe().Settings
}

// none is the word for no options.
const none = "none"

var randTypes = []string{"default", "uniform", "gaussian", "special", "pareto", "zipfian"}

func services() []string {
	words := []string{serve.Auto}
	for _, s := range service.All() {
		words = append(words, s.Describe().Name)
	}
	return words
}

func program(s string) error {
	if s != serve.Auto && !filepath.IsAbs(s) {
		return fmt.Errorf("%q is neither %s nor an absolute path", s, serve.Auto)
	}
	return nil
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

// options checks a list, each by itself.
func options(check func(string) error) func(string) error {
	return func(s string) error {
		if s == none {
			return nil
		}
		list := strings.Fields(s)
		if len(list) == 0 {
			return fmt.Errorf("%q is neither %s nor a list of options", s, none)
		}
		for _, o := range list {
			if err := check(o); err != nil {
				return err
			}
		}
		return nil
	}
}

// serverOption refuses what tare sets itself.
func serverOption(s string) error {
	name, found := strings.CutPrefix(s, "--")
	if !found || name == "" {
		return fmt.Errorf("%q: want --name=value", s)
	}
	name, _, _ = strings.Cut(strings.ReplaceAll(name, "_", "-"), "=")
	for _, ours := range []string{"datadir", "basedir", "socket", "port", "bind-address", "user", "pid-file", "tmpdir", "init-file", "skip-grant-tables", "initialize", "bootstrap", "daemonize", "help", "version"} {
		if name == ours {
			return fmt.Errorf("%q is not yours to set", s)
		}
	}
	if strings.HasPrefix(name, "defaults-") || name == "no-defaults" {
		return fmt.Errorf("%q: no option file has a say; pass the options themselves", s)
	}
	return nil
}

func list(s string) []string {
	if s == none {
		return nil
	}
	return strings.Fields(s)
}

func path(s string) string {
	if s == serve.Auto {
		return ""
	}
	return s
}

// Stages says what to start.
func (Sysbench) Stages(v Values) (Stages, error) {
	r := reader{v: v}
	data := sysbench.Data{Script: v["script"], Tables: r.whole("tables"), Rows: r.whole("size"), Options: list(v["options"])}
	threads, perSecond := r.whole("threads"), r.number("rate")
	if r.err != nil {
		return Stages{}, fmt.Errorf("sysbench: %w", r.err)
	}
	inside, tcp := v["client"] == "inside", v["connect"] == "tcp"
	if !inside && !tcp {
		return Stages{}, errors.New("sysbench: connect=socket needs client=inside: a socket does not reach out of an arm")
	}
	server := serve.Server{Settings: map[string]string{}, Options: list(v["server_options"]), Connections: threads}
	for _, s := range serverSettings() {
		server.Settings[s.Name] = v[s.Name]
	}
	p := load.Sysbench{
		Data: data, Program: path(v["sysbench"]), Rate: perSecond, Service: v["service"], Server: server, Inside: inside, TCP: inside && tcp,
	}
	if v["rand_type"] != "default" {
		p.RandType = v["rand_type"]
	}
	stages := Stages{
		Threads: threads, Key: dataKey(v), Disk: writes(data.Script), Settle: 500 * time.Millisecond, Metrics: closedLoop(),
		Prepare: func(dir string) Task {
			return hiddenTask(serve.PrepareCommand, v["service"], serve.Prepare{
				Server: path(v["server"]), Options: server.Options, Sysbench: data, Program: p.Program, Into: dir,
			})
		},
	}
	if perSecond > 0 {
		stages.Metrics = openLoop()
	}
	stages.inOrOut(p)
	return stages, nil
}

// inOrOut starts the server in the arm and sysbench in it too, or beside it.
func (s *Stages) inOrOut(p load.Sysbench) {
	if p.Inside {
		s.Load = func(at environment.Place) Task {
			here := p
			here.Server.Dir = at.Volume
			return loadTask(load.KindSysbench, here)
		}
		return
	}
	s.Server = func(at environment.Place) Task {
		here := p.Server
		here.Dir, here.Listen = at.Volume, at.Listen
		return hiddenTask(serve.Command, p.Service, here)
	}
	s.Load = func(at environment.Place) Task {
		here := p
		// The password and the marker of the data set, from outside.
		if here.Server.Dir = at.HostVolume; here.Server.Dir == "" {
			here.Server.Dir = at.Volume
		}
		here.Dial = at.Dial
		return loadTask(load.KindSysbench, here)
	}
}

// writes says whether a script commits anything; one that is not known may.
func writes(script string) bool {
	return !slices.Contains([]string{"oltp_read_only", "oltp_point_select", "select_random_points", "select_random_ranges"}, script)
}

// dataKey tells data sets apart within a run. The cache's own key, which
// prepare knows, has the server's version too.
func dataKey(v Values) string {
	h := fnv.New32a()
	for _, name := range []string{"service", "server", "sysbench", "options", "server_options"} {
		h.Write([]byte(v[name] + "\x00"))
	}
	h.Write([]byte(sysbench.DataScript(v["script"])))
	return fmt.Sprintf("sysbench-%sx%s-%s", v["tables"], v["size"], strconv.FormatUint(uint64(h.Sum32()), 16))
}

// hiddenTask is one of the hidden commands of internal/serve.
func hiddenTask(command, kind string, params any) Task {
	b, err := json.Marshal(params)
	if err != nil {
		panic(err) // a struct of numbers and words
	}
	return Task{Args: []string{command, kind, string(b)}}
}
