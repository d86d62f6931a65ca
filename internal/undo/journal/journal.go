// Package journal is the way back. Before anything on the host is changed, the
// step that undoes it is written to a file of the run and synced. Undoing
// works from the file alone, from any later shell. The package knows the file and the
// order of undoing. It knows no kind of step: whoever undoes hands it a list of kinds.
package journal

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/again"
	"github.com/tarelab/tare/internal/undo/trust"
)

// Journal is the open journal of a live run. It is safe for concurrent use.
type Journal struct {
	run  string
	path string

	mu   sync.Mutex
	file *os.File
	size int64 // up to the end of the last whole line
	next Token
	open map[Token]Step // not yet undone
}

// Token names a step of a journal.
type Token uint64

// line is one line of the file: exactly one of the fields is set.
type line struct {
	Header *Header         `json:"header,omitempty"`
	Step   json.RawMessage `json:"step,omitempty"` // as Text makes it
	Done   Token           `json:"done,omitempty"`
	// Token of the step.
	Token Token `json:"token,omitempty"`
}

// Header says whose journal it is.
type Header struct {
	Schema  string    `json:"schema"`
	Run     string    `json:"run"`
	Pid     int       `json:"pid"`
	Start   uint64    `json:"start_ticks"` // field 22 of /proc/PID/stat
	Boot    string    `json:"boot"`        // of this start of the machine
	Command []string  `json:"command"`
	Time    time.Time `json:"time"`
}

// Schema is the format of the file.
const Schema = "tare/journal/v1"

// rootState is where root's journals are: sudo and su differ in what they make
// of HOME, and a cleanup must find the journals of either.
const rootState = "/var/lib/tare"

// StateDir is where journals are kept by default: $XDG_STATE_HOME/tare where
// that is set, /var/lib/tare for root, else ~/.local/state/tare.
func StateDir() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "tare")
	}
	home, err := os.UserHomeDir()
	if os.Geteuid() == 0 || err != nil || !filepath.IsAbs(home) {
		return rootState
	}
	return filepath.Join(home, ".local", "state", "tare")
}

// Placed says that there is a place for the journals of this user: without HOME a user other
// than root has none.
func Placed() error {
	if os.Geteuid() != 0 && StateDir() == rootState {
		return hint.New(errors.New("no place for the journal: HOME is not set"), "export HOME=DIR, a directory of yours, or XDG_STATE_HOME=DIR")
	}
	return nil
}

func journalDir(stateDir string) string { return filepath.Join(stateDir, "journal") }

func journalFile(stateDir, run string) string {
	return filepath.Join(journalDir(stateDir), run+".jsonl")
}

// checkRun accepts the id of a run: it becomes a file name.
func checkRun(run string) error {
	if run == "" || strings.Trim(run, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return fmt.Errorf("run id %q: want letters a-z and digits", run)
	}
	return nil
}

// Open makes the journal of a run below stateDir and keeps it locked. It fails
// before anything is changed where the journal cannot be written, or where Undo would
// not act on it.
func Open(stateDir, run string) (*Journal, error) {
	if err := checkRun(run); err != nil {
		return nil, err
	}
	if err := Trusted(stateDir); err != nil {
		return nil, err
	}
	j, err := create(stateDir, run)
	if err != nil {
		return nil, notHere(err)
	}
	return j, nil
}

// Trusted says why Undo would not act on a journal below stateDir: others could have
// written it.
func Trusted(stateDir string) error {
	if err := trust.Dir(journalDir(stateDir)); err != nil {
		return notHere(err)
	}
	return nil
}

func notHere(err error) error {
	remedy := "let XDG_STATE_HOME name a directory that you can write, and nobody else, or unset it"
	return hint.New(fmt.Errorf("open the undo journal: %w", err), cmp.Or(hint.Of(err), remedy))
}

// create makes the file under another name and links it when it is locked and
// has its header, so that no cleanup finds it without.
func create(stateDir, run string) (*Journal, error) {
	dir := journalDir(stateDir)
	above := append(holding(dir), filepath.Dir(stateDir)) // a kill may have left that one new
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	collectNew(dir)
	header, err := self(run)
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, newName())
	if err != nil {
		return nil, err
	}
	j := &Journal{run: run, path: journalFile(stateDir, run), file: f, next: 1, open: map[Token]Step{}}
	if err = lock(f); err == nil {
		err = reserve(f)
	}
	if err == nil {
		err = j.append(line{Header: &header}, true)
	}
	if err == nil {
		err = os.Link(f.Name(), j.path)
	}
	err = errors.Join(err, os.Remove(f.Name()))
	if err == nil {
		err = syncDir(dir)
	}
	for _, up := range above {
		if serr := syncDir(up); err == nil && !errors.Is(serr, os.ErrPermission) {
			err = serr
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return j, nil
}

// holding are the directories that name this one or one above it that is not there yet.
func holding(dir string) (all []string) {
	for up, there := dir, false; !there; {
		up = filepath.Dir(up)
		_, err := os.Lstat(up)
		all, there = append(all, up), err == nil || up == filepath.Dir(up)
	}
	return all
}

const newPrefix = "new-"

// newName is the pattern of the names that this process's files have until they are
// journals.
func newName() string { return fmt.Sprintf("%s%d-*", newPrefix, os.Getpid()) }

// collectNew removes files that were to become journals when their process ended: no
// change was made by them. One that is not locked may be about to be, by a process that is
// there, or that cannot be seen from here.
func collectNew(dir string) {
	const young = time.Minute
	files, _ := filepath.Glob(filepath.Join(dir, newPrefix+"*")) // the pattern is good
	for _, file := range files {
		f, err := trust.Open(file, os.O_RDONLY)
		if err != nil {
			continue
		}
		st, err := f.Stat()
		if err == nil && (time.Since(st.ModTime()) > young || makerGone(file)) && lock(f) == nil {
			_ = os.Remove(file)
		}
		f.Close()
	}
}

// makerGone says that the process in the name of such a file has ended.
func makerGone(file string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(file), newPrefix), "-")
	pid, err := strconv.Atoi(name)
	return err == nil && errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}

// Collect removes what is left of journals that never were any.
func Collect(stateDir string) { collectNew(journalDir(stateDir)) }

// Run is the id of the run.
func (j *Journal) Run() string { return j.run }

// Add writes a step and syncs it. Make the change after it returned without an
// error, not before.
func (j *Journal) Add(s Step) (Token, error) {
	text, err := Text(s)
	if err == nil {
		err = check(s, j.run)
	}
	if err != nil {
		return 0, fmt.Errorf("journal: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	t := j.next
	if err := j.append(line{Step: text, Token: t}, true); err != nil {
		return 0, fmt.Errorf("write the undo journal %s: %w", j.path, err)
	}
	j.next++
	j.open[t] = s
	return t, nil
}

// Done notes that a step has been taken back. Noting it twice is fine. It is
// not synced: a step that is taken back once more does no harm.
func (j *Journal) Done(t Token) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, ok := j.open[t]; !ok {
		return nil
	}
	if err := j.append(line{Done: t}, false); err != nil {
		return fmt.Errorf("write the undo journal %s: %w", j.path, err)
	}
	delete(j.open, t)
	return nil
}

// Left is how many steps have not been taken back.
func (j *Journal) Left() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.open)
}

// Close ends the journal: its file is removed when every step is undone and
// kept for a later cleanup when not.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	var err error
	if len(j.open) == 0 {
		err = os.Remove(j.path)
	}
	err = errors.Join(err, j.file.Close())
	j.file = nil
	return err
}

// append writes one whole line. What a failed write left of it is cut off, so
// that the next line starts on its own.
func (j *Journal) append(l line, sync bool) error {
	if j.file == nil {
		return errors.New("the journal is closed")
	}
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	n, err := j.file.WriteAt(append(b, '\n'), j.size)
	if err == nil && sync {
		err = j.file.Sync()
	}
	if err != nil {
		return errors.Join(err, j.file.Truncate(j.size))
	}
	j.size += int64(n)
	return nil
}

// reserve takes disk space for a run's steps at once: a disk that is full is
// better found out before the first change than after it.
func reserve(f *os.File) error {
	const enough = 64 << 10 // bytes; a run needs a few
	err := again.Do(func() error { return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, enough) })
	if err == nil || errors.Is(err, unix.EOPNOTSUPP) {
		return nil
	}
	return &os.PathError{Op: "reserve", Path: f.Name(), Err: err}
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
