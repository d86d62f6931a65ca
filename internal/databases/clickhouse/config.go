package clickhouse

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/tarelab/tare/internal/databases/db"
)

// element is an XML element with a text or with children.
type element struct {
	name  string
	text  string
	inner []element
}

func leaf(name string, value any) element { return element{name: name, text: fmt.Sprint(value)} }

func branch(name string, inner ...element) element { return element{name: name, inner: inner} }

func (e element) write(b *strings.Builder, indent string) {
	b.WriteString(indent + "<" + e.name + ">")
	if len(e.inner) > 0 {
		b.WriteString("\n")
		for _, child := range e.inner {
			child.write(b, indent+"  ")
		}
		b.WriteString(indent)
	} else {
		_ = xml.EscapeText(b, []byte(e.text)) // a strings.Builder never fails
	}
	b.WriteString("</" + e.name + ">\n")
}

// file is a configuration file. Version 22 changed the name of its root element.
func file(v db.Version, inner ...element) string {
	root := "yandex"
	if v.AtLeast(22) {
		root = "clickhouse"
	}
	var b strings.Builder
	branch(root, inner...).write(&b, "")
	return b.String()
}

// forever is a timeout in seconds that no run reaches. The clock runs on while an arm is frozen.
const forever = 1_000_000

// configFile is the whole configuration of the server: directories, addresses, caches. It configures
// no log tables, so none is filled on a timer.
func configFile(v db.Version, c db.Config) (string, error) {
	caches, err := caches(v, c)
	if err != nil {
		return "", err
	}
	list := []element{
		branch("logger", leaf("console", 1), leaf("level", "warning")),
		leaf("path", "./"+db.DataDir+"/"),
		leaf("tmp_path", "./"+db.RunDir+"/tmp/"),
		leaf("user_files_path", "./"+db.RunDir+"/files/"),
		leaf("format_schema_path", "./"+db.RunDir+"/schemas/"),
		leaf("users_config", "users.xml"),
		leaf("default_profile", "default"),
		leaf("default_database", db.Database),
		leaf("timezone", "UTC"),
		leaf("listen_host", c.Host),
		leaf("http_port", c.Port),
		leaf("keep_alive_timeout", forever),
		leaf("shutdown_wait_unfinished", 1), // seconds for connections that are still open
		leaf("max_connections", max(1024, c.Connections+20)),
		leaf("max_concurrent_queries", max(100, c.Connections+20)),
	}
	list = append(list, caches...)
	if v.AtLeast(20) {
		// Packages switch the first on. The default of the second reads the host's state every second.
		list = append(list, leaf("mlock_executable", "false"), leaf("asynchronous_metrics_update_period_s", 86400))
	}
	if v.AtLeast(23, 10) {
		list = append(list, leaf("max_keep_alive_requests", 1_000_000_000))
	}
	return file(v, list...), nil
}

// caches are the sizes of the server's caches. Versions before 20 do not start without that of the marks.
func caches(v db.Version, c db.Config) (list []element, err error) {
	for _, name := range []string{setMarkCache, setPlainCache} {
		size, _, err := value(name, c.Settings[name])
		switch {
		case err != nil:
			return nil, err
		case size != db.Leave:
			list = append(list, leaf(name, size))
		case name == setMarkCache && !v.AtLeast(20):
			list = append(list, leaf(name, 5<<30)) // the default of later versions
		}
	}
	return list, nil
}

// usersFile is the load's user, who has all rights in one database and none elsewhere, and the
// settings of queries. A setting that the version does not know would keep the server from starting.
func usersFile(v db.Version, c db.Config) (string, error) {
	profile := []element{
		leaf("max_execution_time", 0),
		leaf("receive_timeout", forever), leaf("send_timeout", forever),
		leaf("http_receive_timeout", forever), leaf("http_send_timeout", forever),
		leaf("log_queries", 0),
	}
	if v.AtLeast(20) {
		profile = append(profile, leaf("query_profiler_real_time_period_ns", 0), leaf("query_profiler_cpu_time_period_ns", 0))
	}
	for _, s := range settings() {
		value, inProfile, err := value(s.Name, c.Settings[s.Name])
		if err != nil {
			return "", err
		}
		if inProfile && value != db.Leave {
			profile = append(profile, leaf(s.Name, value))
		}
	}
	return file(v,
		branch("profiles", branch("default", profile...)),
		branch("users", branch(db.User,
			leaf("password_sha256_hex", "{secret_sha256}"),
			branch("networks", leaf("ip", "::/0")),
			leaf("profile", "default"), leaf("quota", "default"),
			branch("allow_databases", leaf("database", db.Database)),
		)),
		branch("quotas", leaf("default", "")),
	), nil
}
