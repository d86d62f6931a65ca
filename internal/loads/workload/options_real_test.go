package workload_test

import (
	"encoding/xml"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/loads/clickhouse"
	"github.com/tarelab/tare/internal/loads/pgbench"
	"github.com/tarelab/tare/internal/loads/redis"
	"github.com/tarelab/tare/internal/loads/sysbench"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// passes is true if an option of a parameter reaches the program.
func passes(t *testing.T, w workload.Workload, param, option string) bool {
	t.Helper()
	for _, p := range w.Params() {
		if p.Name == param {
			return p.Check(option) == nil
		}
	}
	t.Fatalf("%s has no parameter %s", w.Name(), param)
	return false
}

// prefixes are the prefixes of a name: servers accept a unique one as an abbreviation.
func prefixes(name string) (all []string) {
	for end := 2; end < len(name); end++ {
		all = append(all, name[:end])
	}
	return all
}

// spellings are the other ways in which servers of MySQL's family take an option.
func spellings(name string) []string {
	all := []string{name, strings.ToUpper(name)}
	for _, before := range []string{"loose-", "maximum-", "skip-", "disable-", "enable-", "loose-skip-", "loose-maximum-"} {
		all = append(all, before+name)
	}
	for _, s := range slices.Clone(all) {
		all = append(all, strings.ReplaceAll(s, "-", "_"))
	}
	return all
}

// refused checks that no spelling of an option is passed on, whatever the value.
func refused(t *testing.T, w workload.Workload, param, name string, spelled, allowed []string) {
	t.Helper()
	for _, s := range spelled {
		if slices.Contains(allowed, strings.ReplaceAll(s, "_", "-")) {
			continue // a prefix of one option is the name of another
		}
		for _, v := range []string{"", "=x", "=@/etc/x", "=1"} {
			if passes(t, w, param, "--"+s+v) {
				t.Errorf("%s: --%s%s reaches the program (of the option %s)", w.Name(), s, v, name)
			}
		}
	}
}

// No option passes a path to the server, and no spelling of an option with a text is passed on: the text may
// be a path, a library or a statement. mariadbd --help has the list of options.
func TestOptionsOfMariaDB(t *testing.T) {
	out, err := exec.Command(testneed.Tool(t, "mariadbd"), "--no-defaults", "--verbose", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(out), "\n------")
	if !found {
		t.Fatal("no table of variables")
	}
	_, table, _ = strings.Cut(table, "\n")
	table, _, _ = strings.Cut(table, "\n\n")
	// Texts that are words: an engine, a time zone.
	words := []string{"default-tmp-storage-engine", "default-time-zone"}
	number := regexp.MustCompile(`^[0-9.-]+$`)
	var allowed, all []string
	text := map[string]bool{}
	for _, line := range strings.Split(table, "\n") {
		name, value, _ := strings.Cut(line, " ")
		value = strings.TrimSpace(value)
		all = append(all, name)
		if passes(t, sysbench.Workload{}, "server_options", "--"+name+"=1") {
			allowed = append(allowed, name)
		}
		path := strings.Contains(value, "/") || strings.Contains(value, ".") && !number.MatchString(value)
		text[name] = (path || value == "" || strings.HasPrefix(value, "(No default")) && !slices.Contains(words, name)
	}
	if len(all) < 500 || len(allowed) < 200 {
		t.Fatalf("%d options, of which %d are allowed", len(all), len(allowed))
	}
	texts := 0
	for _, name := range all {
		for _, s := range spellings(name) {
			if passes(t, sysbench.Workload{}, "server_options", "--"+s+"=/etc/x") {
				t.Errorf("--%s=/etc/x reaches the server", s)
			}
		}
		if text[name] {
			texts++
			refused(t, sysbench.Workload{}, "server_options", name, append(spellings(name), prefixes(name)...), allowed)
		}
	}
	if texts < 50 {
		t.Errorf("only %d options take a text", texts)
	}
	for _, odd := range []string{"defaults-file=/x", "defaults-extra-file=/x", "defaults-group-suffix=x", "no-defaults", "print-defaults", "initialize", "bootstrap", "daemonize", "plugin-load=x", "plugin-load-add=x", "early-plugin-load=x", "mysqlx-bind-address=x", "innodb-redo-log-archive-dirs=x", "innodb-directories=x", "innodb-undo-directory=x", "keyring-file-data=x", "log-error=x", "log-error-services=x", "persisted-globals-load=ON", "admin-address=x"} {
		if passes(t, sysbench.Workload{}, "server_options", "--"+odd) {
			t.Errorf("--%s reaches the server", odd)
		}
	}
}

// No setting with a text is passed on; postgres --describe-config has the list.
func TestOptionsOfPostgres(t *testing.T) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		testneed.Tool(t, "postgres")
	}
	uid, gid := testneed.Ordinary(t)
	cmd := exec.Command(found[len(found)-1], "--describe-config")
	as(cmd, uid, gid)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	texts, allowed := 0, 0
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		f := strings.Split(line, "\t")
		if len(f) < 4 {
			t.Fatalf("%q", line)
		}
		name := f[0]
		if f[3] == "STRING" {
			texts++
			refused(t, pgbench.Workload{}, "server_options", name, []string{name, strings.ReplaceAll(name, "_", "-"), strings.ToUpper(name), name[:len(name)-1]}, nil)
		} else if passes(t, pgbench.Workload{}, "server_options", "--"+name+"=1") {
			allowed++
		}
	}
	if texts < 50 || allowed < 120 {
		t.Errorf("%d texts, %d others allowed", texts, allowed)
	}
	for _, odd := range []string{"config_file=/x", "shared_preload_libraries=x", "archive_command=x", "archive_library=x", "pg_stat_statements.save=on", "c=shared_preload_libraries=x", "D=/x", "allow_system_table_mods=on", "zero_damaged_pages=on"} {
		if passes(t, pgbench.Workload{}, "server_options", "--"+odd) {
			t.Errorf("--%s reaches the server", odd)
		}
	}
}

// No setting is passed on whose value in a running Redis is a path or empty.
func TestOptionsOfRedis(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	cmd := exec.Command(testneed.Tool(t, "redis-server"), "--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	settings := redisSettings(t, socket)
	if len(settings) < 100 {
		t.Fatalf("%d settings", len(settings))
	}
	allowed := 0
	for name, value := range settings {
		if value == "" || strings.ContainsAny(value, "/.") {
			refused(t, redis.Workload{}, "server_options", name, []string{name, strings.ReplaceAll(name, "-", "_"), strings.ToUpper(name)}, nil)
		}
		if passes(t, redis.Workload{}, "server_options", "--"+name+"=1") {
			allowed++
		}
	}
	if allowed < 40 {
		t.Errorf("%d are allowed", allowed)
	}
	for _, odd := range []string{"include=/x", "loadmodule=/x", "rename-command=x", "user=x", "replicaof=x", "slaveof=x", "aclfile=x", "enable-debug-command=yes", "enable-module-command=yes", "sentinel=x", "oom-score-adj=yes", "server-cpulist=1", "maxmemory-policy=/x"} {
		if passes(t, redis.Workload{}, "server_options", "--"+odd) {
			t.Errorf("--%s reaches the server", odd)
		}
	}
}

// redisSettings waits for a server and returns all its settings.
func redisSettings(t *testing.T, socket string) map[string]string {
	t.Helper()
	var c net.Conn
	for range 500 {
		var err error
		if c, err = net.Dial("unix", socket); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if c == nil {
		t.Fatal("the server does not answer")
	}
	defer c.Close()
	if _, err := io.WriteString(c, "CONFIG GET *\r\nQUIT\r\n"); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	lines := strings.Split(string(b), "\r\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "$") && i+1 < len(lines) {
			words = append(words, lines[i+1])
		}
	}
	all := map[string]string{}
	for i := 0; i+1 < len(words); i += 2 {
		all[words[i]] = words[i+1]
	}
	return all
}

// No element of the configuration of ClickHouse's package that has a path or an address is passed on.
func TestOptionsOfClickHouse(t *testing.T) {
	testneed.Tool(t, "clickhouse-server")
	f, err := os.Open("/etc/clickhouse-server/config.xml")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := xml.NewDecoder(f)
	var path []string
	elements := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			path = append(path, x.Name.Local)
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			if text := strings.TrimSpace(string(x)); len(path) > 1 && text != "" {
				elements++
				name := strings.Join(path[1:], ".")
				if strings.ContainsAny(text, "/.:<") || strings.HasSuffix(name, "port") {
					refused(t, clickhouse.Workload{}, "server_options", name, []string{name, strings.ReplaceAll(name, ".", "/"), name + "[0]"}, nil)
				}
			}
		}
	}
	if elements < 20 {
		t.Errorf("%d elements", elements)
	}
	for _, odd := range []string{"config-file=/x", "C=/x", "pid-file=/x", "log-file=/x", "logger.log=/x", "user_scripts_path=x", "user_defined_executable_functions_config=x", "dictionaries_config=x", "include_from=x", "storage_configuration.disks.x.path=x", "merge_tree.storage_policy=x", "merge_tree.disk=x", "query_cache.path=x", "core_path=x", "mlock_executable=true"} {
		if passes(t, clickhouse.Workload{}, "server_options", "--"+odd) {
			t.Errorf("--%s reaches the server", odd)
		}
	}
}

// No option of a client that decides where to connect or which files to read or write is passed on; --help
// has the list.
func TestOptionsOfClients(t *testing.T) {
	dangerous := regexp.MustCompile(`host|port$|socket|user|password|-db$|dbname|file|config|cipher|ssl-|prefix|debug|connect|lua|dir|path`)
	option := regexp.MustCompile(`--([a-z][a-z_-]+)`)
	for _, c := range []struct {
		load workload.Workload
		help []string
		want int
	}{
		{sysbench.Workload{}, []string{"sysbench", "--help"}, 10},
		{pgbench.Workload{}, []string{"pgbench", "--help"}, 5},
	} {
		program := c.help[0]
		if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + program); len(found) > 0 {
			program = found[len(found)-1]
		} else {
			program = testneed.Tool(t, program)
		}
		out, err := exec.Command(program, c.help[1:]...).Output()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, m := range option.FindAllStringSubmatch(string(out), -1) {
			if name := m[1]; dangerous.MatchString(name) {
				n++
				refused(t, c.load, "options", name, []string{name, strings.ReplaceAll(name, "-", "_")}, nil)
			}
		}
		if n < c.want {
			t.Errorf("%s: %d options", program, n)
		}
	}
	for _, value := range []string{"--rand-zipfian-exp=/etc/x", "--define=x=/etc/x", "--my-own=/etc/x"} {
		if passes(t, sysbench.Workload{}, "options", value) || passes(t, pgbench.Workload{}, "options", value) {
			t.Errorf("%s is passed on", value)
		}
	}
}
