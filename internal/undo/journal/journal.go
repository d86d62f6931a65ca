// Package journal is the undo journal. Before tare changes anything on the host it writes the
// step that undoes the change to the run's file and syncs it. The file alone is enough to undo
// a run, from any later shell. The package knows the file and the order of undoing. It knows no
// kind of step: callers of Undo pass a list of kinds.
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
	size int64 // bytes up to the end of the last whole line
	next Token
	open map[Token]Step // steps that are not undone

	syncing sync.Mutex // held during a sync of steps
	synced  Token      // all steps up to this one are on the disk; guarded by syncing
}

// Token identifies a step in a journal.
type Token uint64

// line is one line of the file. It has either Header, or Step and Token, or Done.
type line struct {
	Header *Header         `json:"header,omitempty"`
	Step   json.RawMessage `json:"step,omitempty"` // result of Text
	Done   Token           `json:"done,omitempty"`
	// Token identifies Step.
	Token Token `json:"token,omitempty"`
}

// Header identifies the run and the process that write a journal.
type Header struct {
	Schema  string    `json:"schema"`
	Run     string    `json:"run"`
	Pid     int       `json:"pid"`
	Start   uint64    `json:"start_ticks"` // field 22 of /proc/PID/stat
	Boot    string    `json:"boot"`        // bootID
	Command []string  `json:"command"`
	Time    time.Time `json:"time"`
}

// Schema is the format of the file.
const Schema = "tare/journal/v1"

// rootState is the directory of root's journals. It does not depend on HOME, which sudo and su
// set differently, so that any cleanup of root finds the journals.
const rootState = "/var/lib/tare"

// StateDir is the default directory above the journals: $XDG_STATE_HOME/tare if that is set,
// /var/lib/tare for root, else ~/.local/state/tare.
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

// Placed returns an error if this user has no directory for journals: HOME is not set, and the
// user is not root.
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

// checkRun returns an error unless the id of a run can be a file name.
func checkRun(run string) error {
	if run == "" || strings.Trim(run, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return fmt.Errorf("run id %q: want letters a-z and digits", run)
	}
	return nil
}

// Open makes the journal of a run below stateDir and locks it. It returns an error if the journal
// cannot be written, or if Undo would refuse it: the run then ends before it changes anything.
func Open(stateDir, run string) (*Journal, error) {
	if err := checkRun(run); err != nil {
		return nil, err
	}
	if err := Trusted(stateDir); err != nil {
		return nil, err
	}
	j, err := create(stateDir, run)
	if err != nil {
		return nil, openError(err)
	}
	return j, nil
}

// Trusted returns an error if Undo would refuse a journal below stateDir because others could
// have written it.
func Trusted(stateDir string) error {
	if err := trust.Dir(journalDir(stateDir)); err != nil {
		return openError(err)
	}
	return nil
}

// openError is the error of Open and Trusted, with a remedy.
func openError(err error) error {
	remedy := "let XDG_STATE_HOME name a directory that you can write, and nobody else, or unset it"
	return hint.New(fmt.Errorf("open the undo journal: %w", err), cmp.Or(hint.Of(err), remedy))
}

// create makes the file under a temporary name. It links the file to its final name only when the
// file is locked and has its header, so that a cleanup never finds a journal without them.
func create(stateDir, run string) (*Journal, error) {
	dir := journalDir(stateDir)
	// A killed run may have made stateDir without syncing the directory above it.
	toSync := append(parents(dir), filepath.Dir(stateDir))
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
	for _, up := range toSync {
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

// parents returns the directories that must be synced after os.MkdirAll(dir): the parent of dir, and
// the parent of each directory above dir that is missing now.
func parents(dir string) (all []string) {
	for up, there := dir, false; !there; {
		up = filepath.Dir(up)
		_, err := os.Lstat(up)
		all, there = append(all, up), err == nil || up == filepath.Dir(up)
	}
	return all
}

const newPrefix = "new-"

// newName is the pattern of the names of this process's files before they become journals.
func newName() string { return fmt.Sprintf("%s%d-*", newPrefix, os.Getpid()) }

// collectNew removes files that did not become journals because their process ended before. Such a
// process made no change. collectNew keeps a young file without a lock: its process may be about
// to lock it, and may be in a pid namespace that this process does not see.
func collectNew(dir string) {
	const young = time.Minute
	files, _ := filepath.Glob(filepath.Join(dir, newPrefix+"*")) // the pattern is valid
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

// makerGone says whether the process whose pid is in the file's name (newName) has ended.
func makerGone(file string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(file), newPrefix), "-")
	pid, err := strconv.Atoi(name)
	return err == nil && errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}

// Collect removes leftovers of files that never became journals.
func Collect(stateDir string) { collectNew(journalDir(stateDir)) }

// Run is the id of the run.
func (j *Journal) Run() string { return j.run }

// Add writes a step and syncs it. Make the change after Add has returned without an error, not
// before. Steps that are added while another one is being synced share the next sync: the arms of a
// launch start at the same time.
func (j *Journal) Add(s Step) (Token, error) {
	t, err := j.write(s)
	if err != nil {
		return 0, err
	}
	if err := j.syncUpTo(t); err != nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		delete(j.open, t) // its change is not made; the line may stay: undoing nothing does no harm
		return 0, fmt.Errorf("write the undo journal %s: %w", j.path, err)
	}
	return t, nil
}

// syncUpTo returns when a step is on the disk, with all steps before it.
func (j *Journal) syncUpTo(t Token) error {
	j.syncing.Lock()
	defer j.syncing.Unlock()
	if j.synced >= t {
		return nil
	}
	j.mu.Lock()
	file, written := j.file, j.next-1
	j.mu.Unlock()
	if file == nil {
		return errClosed
	}
	if err := file.Sync(); err != nil {
		return err
	}
	j.synced = written
	return nil
}

// write writes a step without a sync.
func (j *Journal) write(s Step) (Token, error) {
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
	if err := j.append(line{Step: text, Token: t}, false); err != nil {
		return 0, fmt.Errorf("write the undo journal %s: %w", j.path, err)
	}
	j.next++
	j.open[t] = s
	return t, nil
}

// Done notes that a step is undone. It may be called twice for a step. The note is not synced:
// to undo a step twice does no harm.
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

// Left is the number of steps that are not undone.
func (j *Journal) Left() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.open)
}

// Close closes the journal. It removes the file if every step is undone, and keeps it for a
// later cleanup otherwise.
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

var errClosed = errors.New("the journal is closed")

// append writes one whole line. After a failed write it truncates the file to its last whole line,
// so that the next line does not begin in the middle of one.
func (j *Journal) append(l line, sync bool) error {
	if j.file == nil {
		return errClosed
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

// reserve allocates disk space for the steps of a run, so that a full disk is found before the
// first change and not after it.
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
