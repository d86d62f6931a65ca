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
	"runtime"
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
	// Dir is the absolute path of the arm's copy of the data set.
	Dir string `json:"dir"`
	// Program is the path of the server program; empty: it is looked up in PATH. The path in the data
	// set is never executed: other users may have written to a copy.
	Program string `json:"program,omitempty"`
	// Listen is the TCP address, IP:port; empty: the server listens on its socket alone.
	Listen string `json:"listen,omitempty"`
	// Settings are values by tare's names of the settings. A setting that is missing has its default.
	Settings map[string]string `json:"settings,omitempty"`
	// Options are passed on to the server.
	Options []string `json:"options,omitempty"`
	// Connections is the number of concurrent clients that the server must allow.
	Connections int `json:"connections,omitempty"`
	// Walled is true if the server runs a user's SQL: it can write Dir and nothing else, see package wall.
	Walled bool `json:"walled,omitempty"`
	// OwnRoot is true if all files but those in Dir end with the arm.
	OwnRoot bool `json:"own_root,omitempty"`
}

// isOurs is true if tare made a directory: it has a data set's marker.
func isOurs(dir string) bool {
	_, err := dataset.Read(dir)
	return err == nil
}

// bannerNote is the key of the server's banner among the notes of a data set. The other notes are the
// paths of programs by role.
const bannerNote = "banner"

// notes are what the marker of a data set records about the server that made it.
func (f Found) notes() map[string]string {
	notes := maps.Clone(f.Programs)
	notes[bannerNote] = f.Banner
	return notes
}

// Recipe is the recipe of the server that made the data set, by the version in the marker. It starts no
// program. Start and become also ask the program for its version.
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

// marker reads the marker of the data set, whose kind must be kind unless that is Auto.
func (s Server) marker(kind string) (dataset.Marker, error) {
	if err := checkDir(s.Dir); err != nil {
		return dataset.Marker{}, err
	}
	m, err := dataset.Read(s.Dir)
	if err == nil && kind != Auto && kind != m.About.Kind {
		err = fmt.Errorf("the data set in %s is one of %s, not of %s", s.Dir, m.About.Kind, kind)
	}
	return m, err
}

// checkedRecipe returns the recipe of the server, or an error if the installed version is not the one
// that made the data set.
func (s Server) checkedRecipe(ctx context.Context, kind string) (db.Recipe, error) {
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

// become replaces this process by the server. It returns only on failure.
func (s Server) become(ctx context.Context, kind string) error {
	r, err := s.checkedRecipe(ctx, kind)
	if err != nil {
		return err
	}
	if err := s.makeReady(r); err != nil {
		return err
	}
	who, err := newRunAs(r, s.Dir, s.Walled, os.Stderr)
	if err != nil {
		return err
	}
	runtime.LockOSThread() // this thread executes the server
	if err := s.behindWall(r, who, false); err != nil {
		return err
	}
	if r.Segment != "" {
		if err := who.markFromChild(filepath.Join(s.Dir, r.Segment)); err != nil {
			return err
		}
	}
	if who == nil {
		if r.RunInDir {
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

// execute replaces this process by a program. It returns only on failure.
func execute(path string, args, environ []string) error {
	return fmt.Errorf("execute %s: %w", path, syscall.Exec(path, append([]string{path}, args...), environ))
}

// Start starts the server as a child. It does not wait until the server answers.
func (s Server) Start(ctx context.Context, kind string, log io.Writer) (*Process, db.Recipe, error) {
	r, err := s.checkedRecipe(ctx, kind)
	if err != nil {
		return nil, r, err
	}
	p, err := s.start(r, nil, log)
	return p, r, err
}

func (s Server) start(r db.Recipe, more []string, log io.Writer) (*Process, error) {
	return s.startAs(r, more, false, log)
}

// startAs starts the server with further arguments; private as in newRunAs.
func (s Server) startAs(r db.Recipe, more []string, private bool, log io.Writer) (*Process, error) {
	if err := s.makeReady(r); err != nil {
		return nil, err
	}
	who, err := newRunAs(r, s.Dir, private || s.Walled, log)
	if err != nil {
		return nil, err
	}
	defer func() { who.Close() }()
	cmd := who.command(r, r.Server.Path, s.Dir, append(slices.Clone(r.Server.Args), more...))
	p, err := startAfter(func() error {
		defer func() { who.inherit(cmd) }()
		return s.behindWall(r, who, private)
	}, cmd, "the server", log)
	if err == nil && who != nil {
		p.As = &who.Account
	}
	if err == nil && r.Segment != "" {
		go p.markSegment(filepath.Join(s.Dir, r.Segment))
	}
	return p, err
}

// makeReady makes the directory for sockets, writes the configuration and checks that the port is free.
// Some servers report a port in use only after a long time, or not at all.
func (s Server) makeReady(r db.Recipe) error {
	root, err := os.OpenRoot(s.Dir) // the account of an earlier server can have created links below it
	if err != nil {
		return fmt.Errorf("open the data set: %w", err)
	}
	defer root.Close()
	if err := s.removeStaleLock(root, r); err != nil {
		return err
	}
	// A killed server leaves files in RunDir.
	if err := root.RemoveAll(db.RunDir); err != nil {
		return fmt.Errorf("clear the directory for sockets: %w", err)
	}
	if err := root.Mkdir(db.RunDir, 0o700); err != nil {
		return fmt.Errorf("make the directory for sockets: %w", err)
	}
	// A server without install commands starts with an empty data directory.
	if err := root.Mkdir(db.DataDir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make the data directory: %w", err)
	}
	if err := s.configure(root, r); err != nil {
		return err
	}
	return checkFree(s.Listen)
}

// checkFree returns an error if a server cannot listen at an address; nil if the address is empty.
func checkFree(address string) error {
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

// configure writes the configuration files of the recipe below root.
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

// FreeLoopback returns a loopback address with a TCP port that is free at the moment.
func FreeLoopback() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// mostSecret bounds the length of a password in bytes.
const mostSecret = 4096

// Secret reads the password of a data set.
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
