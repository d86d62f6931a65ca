package mysql

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/databases/db"
)

// The banners of MariaDB 10.11 and MySQL 9.7 are from Debian's packages, the others from documentation and bug
// reports.
func TestIdentify(t *testing.T) {
	for _, c := range []struct {
		flavour, banner string
		want            string // "" is an error
		number          [3]int
	}{
		{MariaDB, "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)\n", "mariadb 10.11.19-MariaDB-0+deb12u1", [3]int{10, 11, 19}},
		{MariaDB, "/usr/sbin/mysqld  Ver 10.4.32-MariaDB for Linux on x86_64 (MariaDB Server)", "mariadb 10.4.32-MariaDB", [3]int{10, 4, 32}},
		{MariaDB, "mariadbd  Ver 11.4.2-MariaDB-ubu2404 for debian-linux-gnu on aarch64 (mariadb.org binary distribution)", "mariadb 11.4.2-MariaDB-ubu2404", [3]int{11, 4, 2}},
		{Oracle, "/usr/sbin/mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)", "mysql 8.0.36", [3]int{8, 0, 36}},
		{Oracle, "mysqld  Ver 5.7.44-log for Linux on x86_64 (MySQL Community Server (GPL))", "mysql 5.7.44-log", [3]int{5, 7, 44}},
		{Oracle, "/usr/sbin/mysqld  Ver 8.0.36-0ubuntu0.22.04.1 for Linux on x86_64 ((Ubuntu))", "mysql 8.0.36-0ubuntu0.22.04.1", [3]int{8, 0, 36}},
		{Oracle, "/usr/sbin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))\n", "mysql 9.7.4-2", [3]int{9, 7, 4}},
		{Percona, "/usr/sbin/mysqld  Ver 8.0.36-28 for Linux on x86_64 (Percona Server (GPL), Release 28, Revision 47601f19)", "percona 8.0.36-28", [3]int{8, 0, 36}},
		{Oracle, "mysqld  Ver 10.11.19-MariaDB for debian-linux-gnu on x86_64 (Debian 12)", "", [3]int{}},
		{MariaDB, "mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)", "", [3]int{}},
		{Oracle, "mysqld  Ver 5.5.62 for Linux on x86_64 (MySQL Community Server (GPL))", "", [3]int{}},
		{MariaDB, "postgres (PostgreSQL) 15.6", "", [3]int{}},
		{MariaDB, "", "", [3]int{}},
		{Oracle, " Ver 99999999999999999999.0.0 for Linux on x86_64", "", [3]int{}},
	} {
		v, err := Service{c.flavour}.Identify(c.banner)
		if (err != nil) != (c.want == "") || err == nil && (v.String() != c.want || v.Number != c.number) {
			t.Errorf("%s from %q: got %v, %v; want %q", c.flavour, c.banner, v, err, c.want)
		}
	}
}

func config(t *testing.T, flavour string, given map[string]string) db.Config {
	t.Helper()
	s, err := db.Complete(Service{flavour}.Describe(), given)
	if err != nil {
		t.Fatal(err)
	}
	return db.Config{
		Programs: map[string]string{db.Server: "/usr/sbin/mysqld", db.Install: "/usr/bin/mariadb-install-db"},
		Dir:      "/d", Settings: s,
	}
}

// The options that differ by flavour and version.
func TestOptionsPerVersion(t *testing.T) {
	all := map[string]string{"redo_log": "256M", "binlog": "off", "performance_schema": "on", "flush_method": "O_DIRECT_NO_FSYNC"}
	for _, c := range []struct {
		name    string
		v       db.Version
		given   map[string]string
		has     []string
		hasNot  []string
		install string
	}{
		{"mariadb", db.Version{Flavour: MariaDB, Number: [3]int{10, 11, 19}, Text: ""}, all,
			[]string{"--innodb-log-file-size=268435456", "--performance-schema=ON", "--innodb-flush-method=O_DIRECT_NO_FSYNC", "--skip-networking"},
			[]string{"--skip-log-bin", "--basedir", "--innodb-log-files-in-group", "--port", "mysqlx", "--user"}, "/usr/bin/mariadb-install-db"},
		{"mariadb 10.4", db.Version{Flavour: MariaDB, Number: [3]int{10, 4, 3}, Text: ""}, nil, []string{"--innodb-log-files-in-group=1"}, nil, "/usr/bin/mariadb-install-db"},
		{"mysql 9", db.Version{Flavour: Oracle, Number: [3]int{9, 7, 0}, Text: ""}, all,
			[]string{"--innodb-redo-log-capacity=268435456", "--skip-log-bin", "--loose-mysqlx=OFF"},
			[]string{"--innodb-log-file-size", "semaphore"}, "/usr/sbin/mysqld"},
		{"mysql 8.0.29", db.Version{Flavour: Oracle, Number: [3]int{8, 0, 29}, Text: ""}, all, []string{"--innodb-log-files-in-group=2", "--innodb-log-file-size=134217728"}, []string{"capacity"}, "/usr/sbin/mysqld"},
		{"percona, binlog", db.Version{Flavour: Percona, Number: [3]int{8, 0, 36}, Text: ""}, map[string]string{"binlog": "on", "sync_binlog": "1000", "flush_method": "default"},
			[]string{"--log-bin=binlog", "--server-id=1", "--sync-binlog=1000"}, []string{"--skip-log-bin", "flush-method", "performance"}, "/usr/sbin/mysqld"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conf := config(t, c.v.Flavour, c.given)
			conf.Options = []string{"--last"}
			r, err := Service{c.v.Flavour}.Recipe(c.v, conf)
			if err != nil {
				t.Fatal(err)
			}
			args := r.Server.Args
			if args[0] != "--no-defaults" || args[len(args)-1] != "--last" {
				t.Errorf("want --no-defaults first and the user's options last: %q", args)
			}
			for _, want := range c.has {
				if !slices.Contains(args, want) {
					t.Errorf("no %s in %q", want, args)
				}
			}
			for _, not := range c.hasNot {
				if strings.Contains(strings.Join(args, " "), not) {
					t.Errorf("%s in %q", not, args)
				}
			}
			if r.Install[0].Path != c.install {
				t.Errorf("installed by %s, want %s", r.Install[0].Path, c.install)
			}
		})
	}
}

func TestListen(t *testing.T) {
	conf := config(t, MariaDB, nil)
	if err := conf.Listen("198.18.3.2:3307"); err != nil {
		t.Fatal(err)
	}
	r, err := Service{MariaDB}.Recipe(db.Version{Flavour: MariaDB, Number: [3]int{10, 11, 0}}, conf)
	if err != nil || !slices.Contains(r.Server.Args, "--port=3307") || !slices.Contains(r.Server.Args, "--bind-address=198.18.3.2") {
		t.Errorf("%v in %q", err, r.Server.Args)
	}
	for _, bad := range []string{"3306", "localhost:3306", "1.2.3.4:0", "1.2.3.4:x", ":3306"} {
		if conf.Listen(bad) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestBaseDir(t *testing.T) {
	for server, want := range map[string]string{
		"/usr/sbin/mariadbd":          "",
		"/usr/libexec/mysqld":         "",
		"/opt/mysql-9.1/bin/mysqld":   "/opt/mysql-9.1",
		"/opt/wrappers/mysqld":        "",
		"/usr/local/mysql/bin/mysqld": "/usr/local/mysql",
	} {
		if got := baseDir(server); got != want {
			t.Errorf("%s: %q, want %q", server, got, want)
		}
	}
}

func TestReadBackKnowsWhatTook(t *testing.T) {
	conf := config(t, MariaDB, map[string]string{"doublewrite": "off"})
	r, err := Service{MariaDB}.Recipe(db.Version{Flavour: MariaDB, Number: [3]int{10, 11, 19}, Text: "10.11.19-MariaDB-0+deb12u1"}, conf)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, got string
		took      bool
	}{
		{"version", "10.11.19-MariaDB-0+deb12u1", true},
		{"version", "10.11.18-MariaDB", false},
		{"innodb_flush_method", "O_DIRECT", true},
		{"innodb_flush_method", "fsync", false},
		{"innodb_doublewrite", "0", true},
		{"innodb_doublewrite", "1", false},
		{"log_bin", "0", true},
		{"log_bin", "1", false},
		{"innodb_buffer_pool_size", "134217728", true},
		{"innodb_buffer_pool_size", "8388608", false},
		{"performance_schema", "0", true},
		{"innodb_flush_log_at_trx_commit", "1", true},
		{"innodb_flush_log_at_trx_commit", "2", false},
		{"innodb_log_file_size", "67108864", true},
	} {
		i := slices.IndexFunc(r.ReadBack, func(q db.Query) bool { return q.Name == c.name })
		if i < 0 {
			t.Errorf("%s is not read back", c.name)
		} else if r.ReadBack[i].Accepts(c.got) != c.took {
			t.Errorf("%s: took %q: %v, want %v", c.name, c.got, !c.took, c.took)
		}
	}
}

func TestComplete(t *testing.T) {
	d := Service{MariaDB}.Describe()
	for name, value := range map[string]string{
		"buffer_pool": "1X", "redo_log": "1M", "flush_method": "o_direct", "flush_log_at_trx_commit": "4", "nothing": "1", "sync_binlog": "-1",
	} {
		if _, err := db.Complete(d, map[string]string{name: value}); err == nil {
			t.Errorf("%s=%s was accepted", name, value)
		}
	}
	s, err := db.Complete(d, map[string]string{"buffer_pool": "2g"})
	if err != nil || s["buffer_pool"] != "2g" || s["flush_method"] != "O_DIRECT" || len(s) != len(d.Settings) {
		t.Errorf("%v, %v", s, err)
	}
}
