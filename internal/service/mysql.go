package service

import (
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"time"
)

// MySQL is MariaDB, MySQL and Percona Server: one protocol, one storage
// engine, options that differ by flavour and version.
type MySQL struct{ Flavour string }

var _ Service = MySQL{}

// MySQLFamily is the protocol of all flavours.
const MySQLFamily = "mysql"

// The flavours, which are also the names of the services.
const (
	MariaDB = "mariadb"
	Oracle  = "mysql"
	Percona = "percona"
)

// Describe is what holds for every version.
func (m MySQL) Describe() Description {
	d := Description{
		Name: m.Flavour, Protocol: MySQLFamily, VersionArgs: []string{"--no-defaults", "--version"},
		Programs: []Program{{Role: Server, Names: []string{"mysqld"}}},
		Settings: m.settings(),
	}
	switch m.Flavour {
	case MariaDB:
		d.Title, d.Package = "MariaDB 10.4 and later", "mariadb-server"
		d.Programs = []Program{
			{Role: Server, Names: []string{"mariadbd", "mysqld"}},
			{Role: Install, Names: []string{"mariadb-install-db", "mysql_install_db"}},
		}
	case Oracle:
		d.Title, d.Package = "MySQL 5.7 and later", "mysql-server"
	case Percona:
		d.Title, d.Package = "Percona Server for MySQL 5.7 and later", "percona-server-server"
	}
	return d
}

// Recipe says how to use a server of this version.
func (m MySQL) Recipe(v Version, c Config) (Recipe, error) {
	if !filepath.IsAbs(c.Dir) {
		return Recipe{}, fmt.Errorf("data directory %q: want an absolute path", c.Dir)
	}
	for _, p := range m.Describe().Programs {
		if c.Programs[p.Role] == "" && !p.Optional {
			return Recipe{}, fmt.Errorf("%s: no %s program", m.Flavour, p.Role)
		}
	}
	options, err := mysqlOptions(v, c)
	if err != nil {
		return Recipe{}, err
	}
	return Recipe{
		Install:   mysqlInstall(v, c),
		Server:    Command{Path: c.Programs[Server], Args: append(append(mysqlPlace(v, c), options...), c.Options...)},
		Loading:   mysqlLoading(v, c),
		Admin:     "root",
		Setup:     mysqlSetup(v),
		Finish:    mysqlFinish,
		Warm:      mysqlWarm,
		ReadBack:  mysqlReadBack(v, c),
		Stop:      time.Minute,
		Leftovers: []string{RunDir + "/*", DataDir + "/ibtmp1", DataDir + "/*.pid", DataDir + "/*.err", DataDir + "/#innodb_temp/*"},
	}, nil
}

// mysqlBase are the options that come first in every call: no option file of
// the host has a say.
func mysqlBase(v Version, c Config) []string {
	args := []string{"--no-defaults", "--datadir=" + filepath.Join(c.Dir, DataDir)}
	if base := mysqlBaseDir(c.Programs[Server]); base != "" {
		args = append(args, "--basedir="+base)
	}
	if c.Root {
		args = append(args, "--user=root")
	}
	if v.Flavour != MariaDB {
		// Else it wants a directory of the distribution's, which may be missing.
		args = append(args, "--secure-file-priv=NULL")
	}
	return args
}

// mysqlBaseDir is where the messages and plugins of a server lie that was
// unpacked somewhere; empty for one that a package installed, which knows.
func mysqlBaseDir(server string) string {
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

// mysqlPlace is where it lives and listens. The socket is named relative to
// the data directory: an absolute path may be longer than a socket's may be.
func mysqlPlace(v Version, c Config) []string {
	run := filepath.Join(c.Dir, RunDir)
	args := append(mysqlBase(v, c),
		"--socket=../"+SocketFile,
		"--pid-file="+filepath.Join(run, "pid"),
		"--tmpdir="+run,
	)
	if c.Port == 0 {
		return append(args, "--skip-networking")
	}
	return append(args, "--bind-address="+c.Host, "--port="+strconv.Itoa(c.Port))
}

// mysqlInstall makes the data directory with one user, root, who has no
// password; see mysqlSetup.
func mysqlInstall(v Version, c Config) []Command {
	command := Command{Path: c.Programs[Server], Args: append(mysqlBase(v, c), "--initialize-insecure")}
	if v.Flavour == MariaDB {
		command.Path = c.Programs[Install]
		command.Args = append(mysqlBase(v, c), "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")
	}
	command.Args = append(append(command.Args, mysqlLoadingLog(v, c)...), c.Options...)
	return []Command{command}
}

// mysqlLoadingLog keeps what every arm has to copy small; the server makes a
// redo log of the wanted size when it starts. A large data set is loaded
// several times faster with a large log, and hides it.
func mysqlLoadingLog(v Version, c Config) []string {
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

// mysqlLoading is added while the data set is being loaded. Everything is on
// the disk after an orderly end.
func mysqlLoading(v Version, c Config) []string {
	args := []string{"--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0"}
	if v.Flavour != MariaDB {
		args = append(args, "--skip-log-bin")
	}
	return append(args, mysqlLoadingLog(v, c)...)
}

// mysqlSetup leaves root to the socket alone, in a directory that is closed to
// others, and gives the load a user who may do anything in one database.
func mysqlSetup(v Version) []string {
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
		"CREATE DATABASE "+Database,
		fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED%s BY '{secret}'", User, plugin),
		fmt.Sprintf("GRANT ALL ON %s.* TO '%s'@'%%'", Database, User),
	)
}

const (
	mysqlFinish = "SELECT CONCAT('ANALYZE TABLE `', table_schema, '`.`', table_name, '`') AS stmt" +
		" FROM information_schema.tables WHERE table_schema = '" + Database + "' AND table_type = 'BASE TABLE' ORDER BY 1"
	mysqlWarm = "SELECT DISTINCT CONCAT('SELECT COUNT(*) FROM `', table_schema, '`.`', table_name, '` FORCE INDEX (`', index_name, '`)') AS stmt" +
		" FROM information_schema.statistics WHERE table_schema = '" + Database + "' ORDER BY 1"
)

// hostPort splits an address; both parts are empty for an empty one.
func hostPort(address string) (host string, port int, err error) {
	if address == "" {
		return "", 0, nil
	}
	host, text, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err != nil || port < 1 || port > 65535 || net.ParseIP(host) == nil {
		return "", 0, fmt.Errorf("address %q: want IP:port", address)
	}
	return host, port, nil
}

// Listen sets where the server listens for TCP: "IP:port", or nowhere when the
// address is empty.
func (c *Config) Listen(address string) (err error) {
	c.Host, c.Port, err = hostPort(address)
	return err
}
