package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/undo/trust"
)

// content is the content of a journal.
type content struct {
	header Header
	steps  []pending // not undone, oldest first
	whole  int       // bytes up to the end of the last whole line; the rest is torn
}

// pending is a step that was not undone.
type pending struct {
	token Token
	step  Step
}

// parse parses a journal with steps of some kinds. It skips a torn last line, whose change was
// not made. Any other line that cannot be parsed adds to the error; the lines that can are
// returned as well.
func parse(data []byte, kinds Kinds) (content, error) {
	c := content{whole: bytes.LastIndexByte(data, '\n') + 1}
	var errs []error
	number, end := 0, 0
	for raw := range bytes.Lines(data[:c.whole]) {
		number, end = number+1, end+len(raw)
		text := bytes.Trim(raw, "\x00\r\n\t ") // a crash can leave zeros
		if len(text) == 0 {
			continue
		}
		l, err := readLine(text)
		if err != nil && end == c.whole && bytes.IndexByte(raw, 0) >= 0 {
			c.whole = end - len(raw) // after a power cut: the line was not synced, so its change was not made
			continue
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("line %d of the journal: %w", number, err))
			continue
		}
		if err := c.add(l, kinds); err != nil {
			errs = append(errs, fmt.Errorf("line %d of the journal: %w", number, err))
		}
	}
	switch c.header.Schema {
	case Schema:
	case "":
		errs = append(errs, errors.New("the journal has no header"))
	default: // its steps may mean something else
		c.steps, errs = nil, []error{fmt.Errorf("the journal's format is %.40q, and this tare reads %s", c.header.Schema, Schema)}
	}
	return c, errors.Join(errs...)
}

// readLine parses a line. One with a member that this version does not know is an error: what it says would be lost.
func readLine(text []byte) (l line, err error) {
	var members map[string]json.RawMessage
	if err = json.Unmarshal(text, &members); err != nil {
		return l, err
	}
	for name := range members {
		if !slices.Contains([]string{"header", "step", "token", "done"}, name) {
			return l, fmt.Errorf("unknown member %.40q, of another version of tare", name)
		}
	}
	return l, json.Unmarshal(text, &l)
}

func (c *content) add(l line, kinds Kinds) error {
	switch {
	case l.Header != nil && c.header.Schema != "":
		return errors.New("a second header")
	case l.Header != nil:
		c.header = *l.Header
	case l.Step != nil && string(l.Step) != "null":
		s, err := kinds.Read(l.Step)
		if err != nil {
			return err
		}
		c.steps = append(c.steps, pending{l.Token, s})
	case l.Done != 0:
		c.steps = slices.DeleteFunc(c.steps, func(p pending) bool { return p.token == l.Done })
	default:
		return errors.New("neither header, nor step, nor note")
	}
	return nil
}

// Leftover is a journal that exists.
type Leftover struct {
	// Header identifies the run. Run is always set.
	Header Header
	// Live says that the run, its guard or a cleanup is still at work: do not touch its
	// changes. Undo waits for a guard or a cleanup.
	Live bool
	// Killed says that the process of the run has ended.
	Killed bool
	// Steps are not undone, oldest first. There are none if the run was killed after it had
	// undone its last step.
	Steps []Step
	// Err is about the parts of the journal that cannot be read.
	Err error
	// Foreign says that others could have written the journal: Undo refuses it.
	Foreign bool
}

// Leftovers are the journals below stateDir, also those of live runs, with their steps of some
// kinds.
func Leftovers(stateDir string, kinds Kinds) ([]Leftover, error) {
	files, err := os.ReadDir(journalDir(stateDir))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the undo journals: %w", err)
	}
	var all []Leftover
	for _, f := range files {
		run, ok := strings.CutSuffix(f.Name(), ".jsonl")
		if !ok || checkRun(run) != nil {
			continue
		}
		l := readLeftover(stateDir, run, kinds)
		if !errors.Is(l.Err, os.ErrNotExist) { // the run has ended meanwhile
			all = append(all, l)
		}
	}
	return all, nil
}

func readLeftover(stateDir, run string, kinds Kinds) Leftover {
	l := Leftover{Header: Header{Run: run}}
	f, err := trust.Open(journalFile(stateDir, run), os.O_RDONLY)
	if err != nil {
		l.Err = err
		return l
	}
	defer f.Close()
	c, err := load(f, kinds)
	if err != nil {
		l.Err = damaged(journalFile(stateDir, run), err)
	}
	if foreign := trust.File(f); foreign != nil {
		l.Foreign, l.Err = true, foreign
	}
	// A process in another pid namespace cannot be seen; the lock shows that it lives.
	l.Killed = !c.header.alive()
	l.Live = !l.Killed || errors.Is(lockWithin(f, unix.LOCK_SH, lockBound), ErrLive)
	c.header.Run = run
	l.Header = c.header
	for _, p := range c.steps {
		l.Steps = append(l.Steps, p.step)
	}
	return l
}

// largest is more than a run of any length writes.
const largest = 64 << 20 // bytes

func load(f *os.File, kinds Kinds) (content, error) {
	data, err := io.ReadAll(io.NewSectionReader(f, 0, largest+1))
	if err == nil && len(data) > largest {
		err = fmt.Errorf("%s has more than %d bytes, and is no journal", f.Name(), largest)
	}
	if err != nil {
		return content{}, fmt.Errorf("read the undo journal: %w", err)
	}
	return parse(data, kinds)
}
