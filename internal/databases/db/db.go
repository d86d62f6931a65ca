// Package db is the contract of a database server: its programs, how tare reads its version, and the
// recipe to install, run, query and stop it, for a version and a configuration. All of this is data: it
// starts no process and opens no file. Only a Protocol makes connections.
//
// The directory of a data set holds DataDir (the server's data directory), RunDir (sockets and
// temporary files) and SecretFile.
package db

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/allow"
)

// Names in the directory of a data set.
const (
	DataDir    = "db"
	RunDir     = "run"
	SocketFile = RunDir + "/sock"
	// SecretFile holds the password of User; its mode is 0600.
	SecretFile = "secret"
)

// User and Database are the load's user and database. User has all rights in Database and none
// elsewhere: the server may run as root, and its clients must not become root through it.
const (
	User     = "sbtest"
	Database = "sbtest"
)

// Service describes one database server.
type Service interface {
	// Describe returns what is the same for all versions of the server.
	Describe() Description
	// Identify reads the version from the output of the server program. Another program, or a version
	// that is too old, is an error.
	Identify(banner string) (Version, error)
	// Recipe returns how to use a server of this version. Config.Settings must come from Complete.
	Recipe(Version, Config) (Recipe, error)
	// Protocol is the client for this server.
	Protocol() Protocol
	// Promises are the settings that decide what a commit survives.
	Promises() []Promise
}

// Description describes what is the same for all versions of a server.
type Description struct {
	Name string // as in experiment files
	// Programs are the server's programs, the server itself first.
	Programs []Program
	// VersionArgs make the server program print its version. VersionTrial is for versions that have no
	// such option; nil: all versions have it.
	VersionArgs  []string
	VersionTrial *Trial
	Settings     []Setting
	// Users are names of accounts. If tare is root, the first one that exists runs the programs.
	Users []string
	// Options are the options of the server program that an experiment may pass on.
	Options allow.List
	// Protocol is the name of the protocol: "mysql", "postgres", "clickhouse", "redis".
	Protocol string
	// TCPOnly is true if the server has no Unix socket.
	TCPOnly bool
	// Package is the Debian package to install.
	Package string
	// Conf is how the server's own option files are read.
	Conf Conf
	// Own is how the server program is asked for the values that nobody has set.
	Own Own
}

// Program is one program of a server.
type Program struct {
	Role  string   // "server", "install"
	Names []string // the first one found is taken
	// Dirs are patterns of directories that are searched before PATH, the highest number first.
	Dirs []string
	// Optional is true if some versions have no such program.
	Optional bool
}

// Trial starts the server program in a directory with files that make it fail after it has logged
// its version.
type Trial struct {
	Args  []string
	Files []File // paths below the directory
}

// The roles of programs.
const (
	Server  = "server"
	Install = "install"
)

// Setting is a setting of a server that tare knows. Name is tare's, the same for all versions.
type Setting struct {
	Name    string
	Default string
	Help    string
	// Words are the allowed values if they can be listed.
	Words []string
	// Check returns an error for a value that is not allowed. If it is nil, only Words are allowed.
	Check func(string) error
	// Open is true if newer servers have other words than Words: the program says which it takes.
	Open bool
}

// Settings are the values of all settings by name.
type Settings map[string]string

// Version is the version of a server.
type Version struct {
	Flavour string // "mariadb", "mysql", "percona", "postgres", "clickhouse", "redis", "valkey"
	Number  [3]int
	// Text is the version as the server writes it, with its suffixes.
	Text string
}

func (v Version) String() string { return v.Flavour + " " + v.Text }

// products are the names of the products by flavour.
var products = map[string]string{
	"mariadb": "MariaDB", "mysql": "MySQL", "percona": "Percona Server", "postgres": "PostgreSQL",
	"clickhouse": "ClickHouse", "redis": "Redis", "valkey": "Valkey",
}

// Product is the name of the product with the number of its version: "MySQL 8.0.15".
func (v Version) Product() string { return strings.TrimSpace(ProductName(v.Flavour) + " " + v.Short()) }

// ProductName is the name of a product by its flavour.
func ProductName(flavour string) string { return cmp.Or(products[flavour], flavour) }

// Short is the version without the suffixes of a distribution: 10.11.6 of 10.11.6-MariaDB-0+deb12u1.
func (v Version) Short() string {
	text, _, _ := strings.Cut(v.Text, " ")
	if v.Flavour == "percona" {
		return text
	}
	text, _, _ = strings.Cut(text, "-")
	return text
}

// AtLeast is true if the version is number or later.
func (v Version) AtLeast(number ...int) bool {
	for i, want := range number {
		if v.Number[i] != want {
			return v.Number[i] > want
		}
	}
	return true
}

// Config is how a server is to be run.
type Config struct {
	// Programs are absolute paths by role.
	Programs map[string]string
	// Dir is the directory of the data set, absolute.
	Dir string
	// Host and Port are the TCP address; port 0: the server listens on its socket alone.
	Host string
	Port int
	// Connections is the number of concurrent clients that the server must allow.
	Connections int
	Settings    Settings
	// Options are passed on to the server after all others, and to the installation, because some
	// decide the format of files.
	Options []string
	// Expect is the approximate size of the data set in bytes.
	Expect int64
}

// Recipe is how to install, run, query and stop a server: commands, files and statements.
type Recipe struct {
	// Users are names of accounts. If tare is root, the first one that exists runs the programs.
	// RootToo is true if the server accepts root: if tare is root and cannot give it another account,
	// it runs as root with the additional arguments AsRoot.
	Users   []string
	RootToo bool
	AsRoot  []string
	// RealPaths is true if the programs resolve paths, so that a path below /proc/self/fd does not
	// work for them: the account must be able to search all directories above Dir.
	RealPaths bool
	// RunInDir is true if the programs run with Dir as their working directory. Arguments and files
	// have only paths relative to it, so that the account needs no access to the directories above.
	RunInDir bool
	// Files are written before the server starts. {secret} and {secret_sha256} stand for the
	// password of User and its digest in hexadecimal.
	Files []File
	// Segment is the lock file below Dir in which the running server names the shared memory segment
	// that it leaves when it is killed; empty: none.
	Segment string
	// Install are the commands that make an empty data directory, in order.
	Install []Command
	// Server runs the server in the foreground, logging to standard error.
	Server Command
	// Loading are arguments added to Server while the data set is loaded. They may turn durability
	// off, because after a crash the data set is built again.
	Loading []string
	// Admin is the superuser, who needs no password and can connect only over the socket. It connects to an
	// empty server alone, to no data that a user's SQL has made.
	Admin string
	// Setup are statements that Admin runs on an empty server. {secret} stands for the password of
	// User.
	Setup []string
	// Finish and Warm are queries; each row of their result is a statement to run, as the load's user. The
	// statements of Finish run after loading, those of Warm read the whole data set into memory.
	Finish, Warm string
	// ReadBack are the queries that read the settings back from the server.
	ReadBack []Query
	// Stop is how long the server may take to end after SIGTERM.
	Stop time.Duration
	// Leftovers are patterns, relative to Dir, of files that a stopped server leaves and copies of the
	// data set do not need.
	Leftovers []string
}

// Command is a program with its arguments. No shell runs it.
type Command struct {
	Path string
	Args []string // without the program's name
}

// File is a file of a server's configuration.
type File struct {
	Path string // below Config.Dir
	Text string
}

// Query reads one setting back.
type Query struct {
	Name string // of the server's variable
	Ask  string // the query; the last column of the first row is the value
	// Wanted is the value that tare has set, in the server's words; empty if it has set none.
	Wanted string
	// Accepts is true if the value that was read back is the wanted one; nil: every value is right.
	Accepts func(got string) bool
}

// Complete fills in the defaults and checks every value. An unknown name is an error.
func Complete(d Description, given map[string]string) (Settings, error) {
	out := Settings{}
	for _, s := range d.Settings {
		value, ok := given[s.Name]
		if !ok {
			value = s.Default
		}
		if err := s.Allows(value); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", d.Name, s.Name, err)
		}
		out[s.Name] = value
	}
	for name := range given {
		if _, ok := out[name]; !ok {
			return nil, fmt.Errorf("%s: no setting is called %q", d.Name, name)
		}
	}
	return out, nil
}

// Allows returns why a value is not allowed, or nil.
func (s Setting) Allows(value string) error {
	if s.Check != nil {
		return s.Check(value)
	}
	for _, w := range s.Words {
		if w == value {
			return nil
		}
	}
	return Want(value, "one of %s", strings.Join(s.Words, ", "))
}

// ValueError is the error of a value that a setting does not have. The value may be a secret in the wrong line: a text about a
// user's own file has Wanted alone.
type ValueError struct{ Value, Wanted string }

func (e *ValueError) Error() string { return fmt.Sprintf("%q: want %s", e.Value, e.Wanted) }

// Want is a ValueError.
func Want(value, format string, args ...any) error {
	return &ValueError{value, fmt.Sprintf(format, args...)}
}

// OtherServerError is the error about a program that is a server of the same protocol, but another product.
type OtherServerError struct{ Is, Want string }

func (e *OtherServerError) Error() string {
	return fmt.Sprintf("the server is %s, not %s", e.Is, e.Want)
}
