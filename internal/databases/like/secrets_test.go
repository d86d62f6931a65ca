package like

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/clickhouse"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/databases/redis"
)

// Lines with a secret (%s) and lines without, in files of each database. Each line is one that some file could have, or a
// slip of the hand. A word that stands where an option's name stands (%s = 5) is taken for one, and named.
var (
	mysqlLines = []string{
		"[mysqld]", "[client]", "[mysqld", "[%s", "[mysqld] %s", "%s", "password = %s", "password %s", "password = \"%s", "password = '%s' x", "password=%s # %s",
		"!include %s", "!includedir %s", "!%s", "! include %s", "innodb_buffer_pool_size = %s", "innodb_doublewrite = %s", "innodb_flush_method = %s", "wsrep_sst_auth = root:%s",
		"innodb_flush_log_at_trx_commit=%s", "sync_binlog = %s", "innodb_log_file_size = %s", "innodb_log_files_in_group = %s", "log_bin = %s", "init_connect='SET @a=\"%s\"'", "[mysqldump]", "max_connections=5",
	}
	postgresLines = []string{
		"%s", "%s = 1 2", "primary_conninfo = 'host=x password=%s'", "primary_conninfo = password=%s x", "primary_conninfo = 'password=%s", "include %s", "include_dir '%s'", "include_if_exists '%s'",
		"= %s", "'%s'", "shared_buffers = %s", "fsync = %s", "synchronous_commit = '%s'", "max_wal_size='%s'", "autovacuum = %s", "ssl_passphrase_command = 'echo %s'", "\ufeff%s", "work_mem = 4MB",
	}
	redisLines = []string{
		"%s", "requirepass %s", "requirepass \"%s", "masterauth '%s", "user default on >%s ~* +@all", "%s:x y", "include %s", "include %s %s", "rename-command CONFIG %s", "appendonly %s", "appendfsync %s",
		"save %s", "save 60 %s", "io-threads %s", "\"%s x", "requirepass", "hz 10", "root:%s:19000:0:99999:7:::",
	}
	clickhouseLines = []string{
		"<password>%s</password>", "<a>&%s;</a>", "<a %s>", "<a b=%s/>", "<%s", "</%s>", "<!%s>", "<max_threads>%s</max_threads>", "<mark_cache_size>%s</mark_cache_size>",
		"<use_uncompressed_cache>%s</use_uncompressed_cache>", "%s", "<a><![CDATA[%s", "<a>%s", "<?xml %s?>", "<max_memory_usage>%s</max_memory_usage>",
	}
)

// Whatever an option file has, and wherever in it a secret stands, no error, hint or list of changes has the secret.
func TestSecretsInNoText(t *testing.T) {
	const secret = "gehe1m"
	dir := t.TempDir()
	for _, c := range []struct {
		service db.Service
		name    string
		lines   []string
		frame   string
	}{
		{mariadb, "my.cnf", mysqlLines, "%s"}, {postgres.Service{}, "postgresql.conf", postgresLines, "%s"}, {redis.Service{}, "redis.conf", redisLines, "%s"},
		{clickhouse.Service{}, "users.xml", clickhouseLines, "<clickhouse><profiles><default>\n%s</default></profiles></clickhouse>"},
	} {
		rapid.Check(t, func(r *rapid.T) {
			text := ""
			for _, l := range rapid.SliceOfN(rapid.SampledFrom(c.lines), 1, 6).Draw(r, "lines") {
				blanks := rapid.SampledFrom([]string{"", " ", "\t", "  "}).Draw(r, "blanks")
				end := rapid.SampledFrom([]string{"\n", "\r\n", " \n"}).Draw(r, "end")
				word := rapid.SampledFrom([]string{secret, secret + "$/x", "\"" + secret + "\"", secret + "'", "Root User " + secret}).Draw(r, "word")
				text += blanks + strings.ReplaceAll(l, "%s", word) + end
			}
			path := filepath.Join(dir, c.name)
			if err := os.WriteFile(path, fmt.Appendf(nil, c.frame, text), 0o600); err != nil {
				t.Fatal(err)
			}
			a, err := File(Target{Service: c.service}, path)
			said := fmt.Sprint(a.Changes)
			if err != nil {
				said += err.Error() + hint.Of(err)
			}
			if strings.Contains(strings.ToLower(said), secret) {
				r.Errorf("%s\n%s", text, said)
			}
		})
	}
}

// A file that another one includes and that is none of a server's says nothing but its line.
func TestForeignFileIncluded(t *testing.T) {
	const shadow = "root:$y$j9T$gehe1m:19000:0:99999:7:::\ndaemon:*:19000:0:99999:7:::\nname of gehe1m: a b\n"
	for _, c := range []struct {
		service    db.Service
		name, text string
	}{
		{mariadb, "my.cnf", "[mysqld]\n!include shadow\n"}, {postgres.Service{}, "postgresql.conf", "include 'shadow'\n"}, {redis.Service{}, "redis.conf", "include shadow\n"},
	} {
		path := files(t, c.name, c.text, "shadow", shadow)
		_, err := File(Target{Service: c.service}, path)
		if err == nil || strings.Contains(err.Error(), "gehe1m") || !strings.Contains(err.Error(), "shadow:1: ") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
