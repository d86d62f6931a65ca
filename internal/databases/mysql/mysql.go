// Package mysql describes MariaDB, MySQL and Percona Server.
package mysql

import (
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/tarelab/tare/internal/databases/db"
)

// Service describes MariaDB, MySQL or Percona Server. All have the same protocol and InnoDB; their
// options differ by flavour and version.
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

// Describe returns what is the same for all versions.
func (m Service) Describe() db.Description {
	d := db.Description{
		Name: m.Flavour, Protocol: Family, VersionArgs: []string{"--no-defaults", "--version"},
		Programs: []db.Program{{Role: db.Server, Names: []string{"mysqld"}}},
		Settings: m.settings(),
		Options:  allowed, Users: users(), Conf: m.conf(), Own: own(),
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

// Recipe returns how to use a server of this version.
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
		Users: users(), RootToo: true, AsRoot: []string{"--user=root"}, RealPaths: true,
		Install:   install(v, c),
		Server:    db.Command{Path: c.Programs[db.Server], Args: append(append(addressOptions(v, c), options...), c.Options...)},
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

// base are the options of every call of the server program. It reads no option file of the host. Its
// directory for temporary tables is its own, because a starting server removes all temporary tables in
// that directory, which could be those of the host's own server.
func base(v db.Version, c db.Config) []string {
	args := []string{"--no-defaults", "--datadir=" + filepath.Join(c.Dir, db.DataDir), "--tmpdir=" + filepath.Join(c.Dir, db.RunDir)}
	if base := baseDir(c.Programs[db.Server]); base != "" {
		args = append(args, "--basedir="+base)
	}
	if v.Flavour != MariaDB {
		// The default is a directory of the distribution, which may be missing.
		args = append(args, "--secure-file-priv=NULL")
	}
	return args
}

// baseDir is the directory above the messages and plugins of a server that was unpacked from an
// archive; "" for a server from a package, which has this directory compiled in.
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

// addressOptions are base and the options for socket, pid file and TCP address. The path of the socket
// is relative to the data directory, because an absolute path may be too long for a socket's address.
func addressOptions(v db.Version, c db.Config) []string {
	args := append(base(v, c), "--socket=../"+db.SocketFile, "--pid-file="+filepath.Join(c.Dir, db.RunDir, "pid"))
	if c.Port == 0 {
		return append(args, "--skip-networking")
	}
	return append(args, "--bind-address="+c.Host, "--port="+strconv.Itoa(c.Port))
}

// install is the command that makes the data directory. It makes one user, root, without a password;
// setup restricts root.
func install(v db.Version, c db.Config) []db.Command {
	command := db.Command{Path: c.Programs[db.Server], Args: append(base(v, c), "--initialize-insecure")}
	if v.Flavour == MariaDB {
		command.Path = c.Programs[db.Install]
		command.Args = append(base(v, c), "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")
	}
	command.Args = append(append(command.Args, redoLogOptions(v, c)...), c.Options...)
	return []db.Command{command}
}

// redoLogOptions set the size of the redo log while loading. It is small because every arm copies the
// log; a server that starts with another size makes a new log. For a large data set it is larger: such
// a set loads several times faster then, and the log is still small in comparison.
func redoLogOptions(v db.Version, c db.Config) []string {
	size := 8 // MiB
	if c.Expect > 2<<30 {
		size = 512
	}
	switch {
	case v.Flavour == MariaDB:
		return []string{fmt.Sprintf("--innodb-log-file-size=%dM", size)}
	case v.AtLeast(8, 0, 30): // the installation is very slow with less
		return []string{fmt.Sprintf("--innodb-redo-log-capacity=%dM", max(size, 32))}
	}
	return []string{fmt.Sprintf("--innodb-log-file-size=%dM", size/2)} // there are two files
}

// loading are the additional options while the data set is loaded. Commits are not durable then, but a
// shutdown writes everything to disk.
func loading(v db.Version, c db.Config) []string {
	args := []string{"--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0", "--max-allowed-packet=1G"} // long rows of dumps
	if v.Flavour != MariaDB {
		args = append(args, "--skip-log-bin")
	}
	return append(args, redoLogOptions(v, c)...)
}

// setup are the statements that make the load's user, who has all rights in one database, and restrict
// root to the socket. Other accounts of the host cannot enter the socket's directory.
func setup(v db.Version) []string {
	var drop []string
	if v.Flavour == MariaDB {
		// MariaDB also installs root for the loopback addresses and the host name, without a
		// password.
		drop = []string{
			"DELETE FROM mysql.global_priv WHERE User = 'root' AND Host <> 'localhost'",
			"DELETE FROM mysql.proxies_priv WHERE Host <> 'localhost'",
			"FLUSH PRIVILEGES",
		}
	}
	plugin := ""
	if v.Flavour != MariaDB && !v.AtLeast(8, 4) {
		// The newer plugin needs a key exchange that not all client libraries know. From 8.4 on the
		// old plugin is disabled.
		plugin = " WITH mysql_native_password"
	}
	return append(drop,
		"CREATE DATABASE "+db.Database,
		fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED%s BY '{secret}'", db.User, plugin),
		fmt.Sprintf("GRANT ALL ON %s.* TO '%s'@'%%'", db.Database, db.User),
	)
}

// finish and warm are Recipe.Finish and Recipe.Warm: statements that analyse every table, and that read
// every index.
const (
	finish = "SELECT CONCAT('ANALYZE TABLE ', " + quotedTable + ") AS stmt" +
		" FROM information_schema.tables WHERE table_schema = '" + db.Database + "' AND table_type = 'BASE TABLE' ORDER BY 1"
	warm = "SELECT DISTINCT CONCAT('SELECT COUNT(*) FROM ', " + quotedTable + ", ' FORCE INDEX (`', REPLACE(index_name, '`', '``'), '`)') AS stmt" +
		" FROM information_schema.statistics WHERE table_schema = '" + db.Database + "' AND index_type = 'BTREE' ORDER BY 1"
	quotedTable = "'`', REPLACE(table_schema, '`', '``'), '`.`', REPLACE(table_name, '`', '``'), '`'"
)
