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

// content is what a journal says.
type content struct {
	header Header
	steps  []pending // not undone, oldest first
	whole  int       // bytes up to the end of the last whole line; what follows is cut off
}

// pending is a step that was not undone.
type pending struct {
	token Token
	step  Step
}

// parse reads a journal with steps of some kinds. What follows the last whole line is torn and left
// out: its change was not made. Another line that cannot be read is an error
// beside what can be.
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
		var l line
		err := json.Unmarshal(text, &l)
		if err != nil && end == c.whole && bytes.IndexByte(raw, 0) >= 0 {
			c.whole = end - len(raw) // a power cut kept its end: it was not synced, so nothing was done on it
			continue
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("line %d of the journal: %w", number, err))
			continue
		}
		if err := c.take(l, kinds); err != nil {
			errs = append(errs, fmt.Errorf("line %d of the journal: %w", number, err))
		}
	}
	if c.header.Schema == "" {
		errs = append(errs, errors.New("the journal has no header"))
	}
	return c, errors.Join(errs...)
}

func (c *content) take(l line, kinds Kinds) error {
	switch {
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
	}
	return nil
}

// Leftover is the journal of a run.
type Leftover struct {
	// Header says whose it is; Run is always set.
	Header Header
	// Live says that the run, or a cleanup of it, goes on: leave it alone. Of a run that
	// was killed its guard is undoing it, which Undo waits for.
	Live bool
	// Killed says that the process of the run is not there.
	Killed bool
	// Steps not undone, oldest first. There may be none: the run was killed
	// after its last step was undone, and only the journal is left.
	Steps []Step
	// Err is what could not be read of the journal.
	Err error
	// Foreign says that others could have written the journal: nothing of it is undone.
	Foreign bool
}

// Leftovers lists the journals below stateDir, those of live runs too, with their steps of
// some kinds.
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
		l := look(stateDir, run, kinds)
		if !errors.Is(l.Err, os.ErrNotExist) { // it ended meanwhile
			all = append(all, l)
		}
	}
	return all, nil
}

func look(stateDir, run string, kinds Kinds) Leftover {
	l := Leftover{Header: Header{Run: run}}
	f, err := trust.Open(journalFile(stateDir, run), os.O_RDONLY)
	if err != nil {
		l.Err = err
		return l
	}
	defer f.Close()
	c, err := load(f, kinds)
	l.Err = err
	if foreign := trust.File(f); foreign != nil {
		l.Foreign, l.Err = true, foreign
	}
	// The lock tells where the process cannot be seen (another pid namespace).
	l.Killed = !c.header.alive()
	l.Live = !l.Killed || errors.Is(own(f, unix.LOCK_SH, lockBound), ErrLive)
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
