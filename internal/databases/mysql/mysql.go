// Package mysql is MariaDB, MySQL and Percona Server.
package mysql

import (
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/tarelab/tare/internal/databases/db"
)

// Service is MariaDB, MySQL and Percona Server: one protocol, one storage
// engine, options that differ by flavour and version.
type Service struct{ Flavour string }

var _ db.Service = Service{}

// Family is the protocol of all flavours.
const Family = "mysql"

// The flavours, which are also the names of the services.
const (
	MariaDB = "mariadb"
	Oracle  = "mysql"
	Percona = "percona"
)

// Describe is what holds for every version.
func (m Service) Describe() db.Description {
	d := db.Description{
		Name: m.Flavour, Protocol: Family, VersionArgs: []string{"--no-defaults", "--version"},
		Programs: []db.Program{{Role: db.Server, Names: []string{"mysqld"}}},
		Settings: m.settings(),
		Options:  allowed, Users: users(),
	}
	switch m.Flavour {
	case MariaDB:
		d.Package = "mariadb-server"
		d.Programs = []db.Program{
			{Role: db.Server, Names: []string{"mariadbd", "mysqld"}},
			{Role: db.Install, Names: []string{"mariadb-install-db", "mysql_install_db"}},
		}
	case Oracle:
		d.Package = "mysql-server"
	case Percona:
		d.Package = "percona-server-server"
	}
	return d
}

func users() []string { return []string{"mysql", "nobody"} }

// Recipe says how to use a server of this version.
func (m Service) Recipe(v db.Version, c db.Config) (db.Recipe, error) {
	if !filepath.IsAbs(c.Dir) {
		return db.Recipe{}, fmt.Errorf("data directory %q: want an absolute path", c.Dir)
	}
	for _, p := range m.Describe().Programs {
		if c.Programs[p.Role] == "" && !p.Optional {
			return db.Recipe{}, fmt.Errorf("%s: no %s program", m.Flavour, p.Role)
		}
	}
	options, err := options(v, c)
	if err != nil {
		return db.Recipe{}, err
	}
	return db.Recipe{
		Users: users(), RootToo: true, AsRoot: []string{"--user=root"}, Resolves: true,
		Install:   install(v, c),
		Server:    db.Command{Path: c.Programs[db.Server], Args: append(append(place(v, c), options...), c.Options...)},
		Loading:   loading(v, c),
		Admin:     "root",
		Setup:     setup(v),
		Finish:    finish,
		Warm:      warm,
		ReadBack:  readBack(v, c),
		Stop:      time.Minute,
		Leftovers: []string{db.RunDir + "/*", db.DataDir + "/ibtmp1", db.DataDir + "/*.pid", db.DataDir + "/*.err", db.DataDir + "/#innodb_temp/*"},
	}, nil
}

// base are the options that come first in every call: no option file of
// the host has a say. A server that starts removes what it finds in the directory
// for temporary tables, those of the host's own server too: it never shares one.
func base(v db.Version, c db.Config) []string {
	args := []string{"--no-defaults", "--datadir=" + filepath.Join(c.Dir, db.DataDir), "--tmpdir=" + filepath.Join(c.Dir, db.RunDir)}
	if base := baseDir(c.Programs[db.Server]); base != "" {
		args = append(args, "--basedir="+base)
	}
	if v.Flavour != MariaDB {
		// Else it wants a directory of the distribution's, which may be missing.
		args = append(args, "--secure-file-priv=NULL")
	}
	return args
}

// baseDir is where the messages and plugins of a server lie that was
// unpacked somewhere; empty for one that a package installed, which knows.
func baseDir(server string) string {
	bin := filepath.Dir(server)
	switch filepath.Base(bin) {
	case "bin", "sbin", "libexec":
	default:
		return ""
	}
	if base := filepath.Dir(bin); base != "/usr" && base != "/" {
		return base
	}
	return ""
}

// place is where it lives and listens. The socket is named relative to
// the data directory: an absolute path may be longer than a socket's may be.
func place(v db.Version, c db.Config) []string {
	args := append(base(v, c), "--socket=../"+db.SocketFile, "--pid-file="+filepath.Join(c.Dir, db.RunDir, "pid"))
	if c.Port == 0 {
		return append(args, "--skip-networking")
	}
	return append(args, "--bind-address="+c.Host, "--port="+strconv.Itoa(c.Port))
}

// install makes the data directory with one user, root, who has no
// password; see setup.
func install(v db.Version, c db.Config) []db.Command {
	command := db.Command{Path: c.Programs[db.Server], Args: append(base(v, c), "--initialize-insecure")}
	if v.Flavour == MariaDB {
		command.Path = c.Programs[db.Install]
		command.Args = append(base(v, c), "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")
	}
	command.Args = append(append(command.Args, loadingLog(v, c)...), c.Options...)
	return []db.Command{command}
}

// loadingLog keeps what every arm has to copy small; the server makes a
// redo log of the wanted size when it starts. A large data set is loaded
// several times faster with a large log, and hides it.
func loadingLog(v db.Version, c db.Config) []string {
	size := 8
	if c.Expect > 2<<30 {
		size = 512
	}
	switch {
	case v.Flavour == MariaDB:
		return []string{fmt.Sprintf("--innodb-log-file-size=%dM", size)}
	case v.AtLeast(8, 0, 30): // the installation crawls with less
		return []string{fmt.Sprintf("--innodb-redo-log-capacity=%dM", max(size, 32))}
	}
	return []string{fmt.Sprintf("--innodb-log-file-size=%dM", size/2)} // of two files
}

// loading is added while the data set is being loaded. Everything is on
// the disk after an orderly end.
func loading(v db.Version, c db.Config) []string {
	args := []string{"--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0"}
	if v.Flavour != MariaDB {
		args = append(args, "--skip-log-bin")
	}
	return append(args, loadingLog(v, c)...)
}

// setup leaves root to the socket alone, in a directory that is closed to
// others, and gives the load a user who may do anything in one database.
func setup(v db.Version) []string {
	var drop []string
	if v.Flavour == MariaDB {
		// MariaDB installs root for the loopback addresses and the host's name
		// too, without a password. Accounts that are not there matter to nobody.
		drop = []string{
			"DELETE FROM mysql.global_priv WHERE User = 'root' AND Host <> 'localhost'",
			"DELETE FROM mysql.proxies_priv WHERE Host <> 'localhost'",
			"FLUSH PRIVILEGES",
		}
	}
	plugin := ""
	if v.Flavour != MariaDB && !v.AtLeast(8, 4) {
		// The newer way needs a key exchange that client libraries of other
		// makes do not all know; 8.4 has only that one switched on.
		plugin = " WITH mysql_native_password"
	}
	return append(drop,
		"CREATE DATABASE "+db.Database,
		fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED%s BY '{secret}'", db.User, plugin),
		fmt.Sprintf("GRANT ALL ON %s.* TO '%s'@'%%'", db.Database, db.User),
	)
}

const (
	finish = "SELECT CONCAT('ANALYZE TABLE `', table_schema, '`.`', table_name, '`') AS stmt" +
		" FROM information_schema.tables WHERE table_schema = '" + db.Database + "' AND table_type = 'BASE TABLE' ORDER BY 1"
	warm = "SELECT DISTINCT CONCAT('SELECT COUNT(*) FROM `', table_schema, '`.`', table_name, '` FORCE INDEX (`', index_name, '`)') AS stmt" +
		" FROM information_schema.statistics WHERE table_schema = '" + db.Database + "' ORDER BY 1"
)
