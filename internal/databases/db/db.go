// Package db is what a database server is to tare: which programs it consists of,
// how its version is read, for a version and a configuration how to install, run,
// ask and stop it, and how it is asked. The databases are one folder each below
// it. A description is data and text: it starts no process and opens no file; only
// a Protocol makes connections.
//
// Where a server lives: the directory of a data set holds DataDir (the
// server's own data directory), RunDir (sockets, temporary files) and
// SecretFile.
package db

import (
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
	// SecretFile holds the password of User, for its owner alone (0600).
	SecretFile = "secret"
)

// User and Database are what the load uses. User may do anything in Database
// and nothing elsewhere: a server of a measurement may run as root, and must
// not become a way to become root.
const (
	User     = "sbtest"
	Database = "sbtest"
)

// Service describes one kind of server.
type Service interface {
	// Describe is what holds for every version.
	Describe() Description
	// Identify reads what the server program prints when asked for its version.
	// A program of another make, or a version that is too old, is an error.
	Identify(banner string) (Version, error)
	// Recipe says how to use a server of this version; the settings are
	// complete and checked (see Complete).
	Recipe(Version, Config) (Recipe, error)
	// Protocol says how a server is asked.
	Protocol() Protocol
	// Promises are the settings that decide what a commit survives.
	Promises() []Promise
}

// Description is what holds for every version.
type Description struct {
	Name string // the word on the command line
	// Programs it consists of, the server first.
	Programs []Program
	// VersionArgs make the server program print its version, and VersionTrial one
	// that knows no such option; nil: all do.
	VersionArgs  []string
	VersionTrial *Trial
	Settings     []Setting
	// Users are the accounts that run the programs where tare is root: the first that
	// exists.
	Users []string
	// Options are those of the server's program that may be passed on to it.
	Options allow.List
	// Protocol is what the server speaks: "mysql", "postgres", "clickhouse", "redis".
	Protocol string
	// TCPOnly says that it has no socket.
	TCPOnly bool
	// Package is what to install where the programs are missing, in Debian's
	// words.
	Package string
}

// Program is one program of a server.
type Program struct {
	Role  string   // "server", "install"
	Names []string // the first one found is taken
	// Dirs are patterns of directories that are searched first, those with the
	// highest number in front.
	Dirs []string
	// Optional says that some versions do without it.
	Optional bool
}

// Trial starts the server program in an empty directory, with files in it with
// which it gives up and says its version on the way.
type Trial struct {
	Args  []string
	Files []File // paths below the empty directory
}

// The roles of programs.
const (
	Server  = "server"
	Install = "install"
)

// Setting is one setting in tare's words, the same for all versions.
type Setting struct {
	Name    string
	Default string
	Help    string
	// Words are the allowed values where there are only a few.
	Words []string
	// Check returns what is wrong with a value; nil: only Words decide.
	Check func(string) error
}

// Settings are values by name, complete.
type Settings map[string]string

// Version is the version of a server.
type Version struct {
	Flavour string // "mariadb", "mysql", "percona", "postgres", "clickhouse", "redis", "valkey"
	Number  [3]int
	// Text is the version as the server writes it, with its suffixes.
	Text string
}

func (v Version) String() string { return v.Flavour + " " + v.Text }

// AtLeast compares the numbers.
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
	// Host and Port are where it listens for TCP; no port: on its socket only.
	Host string
	Port int
	// Connections is the least number of clients at the same time.
	Connections int
	Settings    Settings
	// Options are passed to the server as they are, after all others; to the
	// installation too, for some decide how files look.
	Options []string
	// Expect is about how large the data set will be, in bytes.
	Expect int64
}

// Recipe is what to do, in words of the operating system and of the server.
type Recipe struct {
	// Users are the accounts that may run the programs where tare is root: the first
	// that exists. With RootToo the server accepts root, and runs as root, with the
	// arguments AsRoot, where tare can give it no other account.
	Users   []string
	RootToo bool
	AsRoot  []string
	// Resolves says that the programs resolve paths: a descriptor of a directory is of
	// no use to them, and the account has to pass all directories above Dir.
	Resolves bool
	// Here says that the programs run in Dir, and that neither arguments nor
	// files name it.
	Here bool
	// Files are written before the server starts; {secret} and {secret_sha256}
	// stand for the password of User and its digest in hexadecimal.
	Files []File
	// Segment is the lock file below Dir in which a running server names a
	// shared memory segment that it leaves when it is killed; empty: none.
	Segment string
	// Install makes an empty data directory, one command after the other.
	Install []Command
	// Server runs the server in the foreground, logging to standard error.
	Server Command
	// Loading is added to Server while the data set is being loaded: what a
	// crash would cost is then only the time, so nothing is made durable before
	// the end.
	Loading []string
	// Admin may do anything, over the socket only and without a password.
	Admin string
	// Setup are statements for Admin on an empty server. {secret} stands for
	// the password of User.
	Setup []string
	// Finish and Warm are queries whose rows are statements: to run after
	// loading, and to read the whole data set once.
	Finish, Warm string
	// ReadBack are the settings as the server has them.
	ReadBack []Query
	// Stop is how long an orderly end, asked for by SIGTERM, may take.
	Stop time.Duration
	// Leftovers are patterns below Dir of what a stopped server leaves that is
	// of no use to its copies.
	Leftovers []string
}

// Command is a program with its arguments. There is no shell anywhere.
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
	Name string // of the server's own variable
	Ask  string // in the server's words; the last column of the first row is the value
	// Wanted is what was asked for, in the server's words; empty when nothing
	// was.
	Wanted string
	// Took says whether the answer is what was asked for.
	Took func(got string) bool
}

// Complete fills in the defaults and checks every value. Names that no setting
// has are an error.
func Complete(d Description, given map[string]string) (Settings, error) {
	out := Settings{}
	for _, s := range d.Settings {
		value, ok := given[s.Name]
		if !ok {
			value = s.Default
		}
		if err := s.check(value); err != nil {
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

func (s Setting) check(value string) error {
	if s.Check != nil {
		return s.Check(value)
	}
	for _, w := range s.Words {
		if w == value {
			return nil
		}
	}
	return fmt.Errorf("%q: want one of %s", value, strings.Join(s.Words, ", "))
}
