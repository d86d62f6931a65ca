package serve

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/undo/trust"
)

// Server are the parameters of a server on a prepared data set.
type Server struct {
	// Dir is the data set's directory (a copy of its own), absolute.
	Dir string `json:"dir"`
	// Program is the server's; empty: in PATH. Never is it the one that the data set
	// names, for others may have written in a copy of one.
	Program string `json:"program,omitempty"`
	// Listen is where it listens for TCP, IP:port; empty: on its socket only.
	Listen string `json:"listen,omitempty"`
	// Settings by tare's words; what is missing has its default.
	Settings map[string]string `json:"settings,omitempty"`
	// Options are passed to the server as they are.
	Options []string `json:"options,omitempty"`
	// Connections is the least number of clients at the same time.
	Connections int `json:"connections,omitempty"`
}

// isOurs says whether tare prepared what is in a directory.
func isOurs(dir string) bool {
	_, err := dataset.Read(dir)
	return err == nil
}

// bannerNote is the note of a data set that holds its server's banner; the
// others are the programs.
const bannerNote = "banner"

// notes are what a data set remembers of its server.
func (f Found) notes() map[string]string {
	notes := maps.Clone(f.Programs)
	notes[bannerNote] = f.Banner
	return notes
}

// Recipe is how to run and ask the server that the data set was made with. It
// starts nothing: where the server is started, its version is asked for anew.
func (s Server) Recipe(ctx context.Context, kind string) (db.Recipe, error) {
	m, err := s.marker(kind)
	if err != nil {
		return db.Recipe{}, err
	}
	f := Found{Programs: m.Notes, Banner: m.Notes[bannerNote]}
	if f.Service, err = databases.Find(m.About.Kind); err != nil {
		return db.Recipe{}, err
	}
	if f.Version, err = f.Service.Identify(f.Banner); err != nil {
		return db.Recipe{}, err
	}
	return s.recipe(f)
}

func (s Server) marker(kind string) (dataset.Marker, error) {
	if err := CheckDir(s.Dir); err != nil {
		return dataset.Marker{}, err
	}
	m, err := dataset.Read(s.Dir)
	if err == nil && kind != Auto && kind != m.About.Kind {
		err = fmt.Errorf("the data set in %s is one of %s, not of %s", s.Dir, m.About.Kind, kind)
	}
	return m, err
}

// check looks whether the server is still the one that the data set was made
// with, and returns how to run it.
func (s Server) check(ctx context.Context, kind string) (db.Recipe, error) {
	m, err := s.marker(kind)
	if err != nil {
		return db.Recipe{}, err
	}
	f, err := Find(ctx, m.About.Kind, s.Program, s.Dir)
	if err != nil {
		return db.Recipe{}, err
	}
	if f.Version.Text != m.About.Version {
		return db.Recipe{}, fmt.Errorf("the data set was made by %s %s, but %s is %s now",
			m.About.Kind, m.About.Version, f.Programs[db.Server], f.Version.Text)
	}
	return s.recipe(f)
}

func (s Server) recipe(f Found) (db.Recipe, error) {
	settings, err := db.Complete(f.Service.Describe(), s.Settings)
	if err != nil {
		return db.Recipe{}, err
	}
	c := db.Config{
		Programs: f.Programs, Dir: s.Dir, Connections: s.Connections, Settings: settings, Options: s.Options,
	}
	if err := c.Listen(s.Listen); err != nil {
		return db.Recipe{}, err
	}
	return f.Service.Recipe(f.Version, c)
}

// become replaces this process by the server.
func (s Server) become(ctx context.Context, kind string) error {
	r, err := s.check(ctx, kind)
	if err != nil {
		return err
	}
	if err := s.ready(r); err != nil {
		return err
	}
	who, err := newRunAs(r, s.Dir, false, os.Stderr)
	if err != nil {
		return err
	}
	if r.Segment != "" {
		if err := who.markFromChild(filepath.Join(s.Dir, r.Segment)); err != nil {
			return err
		}
	}
	if who == nil {
		if r.Here {
			if err := os.Chdir(s.Dir); err != nil {
				return err
			}
		}
		return execute(r.Server.Path, rootArgs(r, r.Server.Args), os.Environ())
	}
	args, err := who.become(r.Server.Args)
	if err != nil {
		return err
	}
	return execute(r.Server.Path, args, cleanEnviron())
}

func execute(path string, args, environ []string) error {
	return fmt.Errorf("execute %s: %w", path, syscall.Exec(path, append([]string{path}, args...), environ))
}

// Start starts the server as a child that logs to log. It answers later.
func (s Server) Start(ctx context.Context, kind string, log io.Writer) (*Process, db.Recipe, error) {
	r, err := s.check(ctx, kind)
	if err != nil {
		return nil, r, err
	}
	p, err := s.start(r, nil, log)
	return p, r, err
}

func (s Server) start(r db.Recipe, more []string, log io.Writer) (*Process, error) {
	return s.startAs(r, more, false, log)
}

// startAs starts the server; private as in newRunAs.
func (s Server) startAs(r db.Recipe, more []string, private bool, log io.Writer) (*Process, error) {
	if err := s.ready(r); err != nil {
		return nil, err
	}
	who, err := newRunAs(r, s.Dir, private, log)
	if err != nil {
		return nil, err
	}
	defer who.Close()
	p, err := startAfter(who.before, who.command(r, r.Server.Path, s.Dir, append(slices.Clone(r.Server.Args), more...)), "the server", log)
	if err == nil && who != nil {
		p.As = &who.Account
	}
	if err == nil && r.Segment != "" {
		go p.markSegment(filepath.Join(s.Dir, r.Segment))
	}
	return p, err
}

// ready makes the directory for sockets, writes the configuration and looks
// whether the port is free: a server says so too, but only some, and much later.
func (s Server) ready(r db.Recipe) error {
	root, err := os.OpenRoot(s.Dir) // once it has run, the server's user can put links below
	if err != nil {
		return fmt.Errorf("open the data set: %w", err)
	}
	defer root.Close()
	if err := s.forget(root, r); err != nil {
		return err
	}
	// What a server left that was killed there.
	if err := root.RemoveAll(db.RunDir); err != nil {
		return fmt.Errorf("clear the directory for sockets: %w", err)
	}
	if err := root.Mkdir(db.RunDir, 0o700); err != nil {
		return fmt.Errorf("make the directory for sockets: %w", err)
	}
	// A server that needs no installation finds an empty data directory.
	if err := root.Mkdir(db.DataDir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make the data directory: %w", err)
	}
	if err := s.configure(root, r); err != nil {
		return err
	}
	return isFree(s.Listen)
}

// isFree says why a server cannot listen at an address; no address is free.
func isFree(address string) error {
	if address == "" {
		return nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		err = fmt.Errorf("the server cannot listen: %w", err)
		if errors.Is(err, unix.EADDRINUSE) {
			err = hint.New(err, "another process listens there (ss -ltnp shows which); tare takes another port at the next start")
		}
		return err
	}
	return l.Close()
}

// configure writes the configuration.
func (s Server) configure(root *os.Root, r db.Recipe) error {
	if len(r.Files) == 0 {
		return nil
	}
	secret, err := Secret(s.Dir)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(secret))
	fill := strings.NewReplacer("{secret}", secret, "{secret_sha256}", hex.EncodeToString(sum[:]))
	for _, f := range r.Files {
		if err := root.WriteFile(f.Path, []byte(fill.Replace(f.Text)), 0o600); err != nil {
			return fmt.Errorf("write the server's configuration: %w", err)
		}
	}
	return nil
}

// FreeLoopback is an address at which nobody listens now.
func FreeLoopback() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// mostSecret is how long a password may be, in bytes.
const mostSecret = 4096

// Secret reads the password that the data set was made with.
func Secret(dir string) (string, error) {
	b, err := trust.Read(filepath.Join(dir, db.SecretFile), mostSecret)
	if err != nil {
		return "", fmt.Errorf("read the password of the data set: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

func newSecret() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
