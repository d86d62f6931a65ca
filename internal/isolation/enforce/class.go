package enforce

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/isolation"
	"github.com/tarelab/tare/internal/journal"
	"github.com/tarelab/tare/record"
)

// directories is what makes and removes groups of resctrl: the kernel, or a
// test that plays it.
type directories interface {
	mkdir(dir string) error
	rmdir(dir string) error
}

type realDirectories struct{}

func (realDirectories) mkdir(dir string) error { return unix.Mkdir(dir, 0o755) }
func (realDirectories) rmdir(dir string) error { return unix.Rmdir(dir) }

// class makes a group of resctrl and puts the neighbour's threads into it; what
// they start comes into it too.
func (e *Enforced) class(at Sides, c isolation.Class) error {
	if at.dirs == nil {
		at.dirs = realDirectories{}
	}
	dir := filepath.Join(c.Dir, at.Class)
	if !strings.HasPrefix(at.Class, journal.Prefix) || filepath.Dir(dir) != filepath.Clean(c.Dir) {
		return fmt.Errorf("make a class of resctrl: %q is no name of tare's", at.Class)
	}
	token, err := at.Journal.Add(journal.Class(dir))
	if err != nil {
		return err
	}
	if err := at.dirs.mkdir(dir); err != nil {
		err = fmt.Errorf("make a class of resctrl: %w", err)
		if errors.Is(err, unix.ENOSPC) {
			err = fmt.Errorf("%w: the CPU has no class left", err)
		}
		return errors.Join(err, at.Journal.Done(token))
	}
	e.steps = append(e.steps, step{
		check: func() (record.Setting, error) { return checkClass(at, dir, c) },
		undo: func() error {
			if err := at.dirs.rmdir(dir); err != nil {
				return fmt.Errorf("remove the class of resctrl: %w", err)
			}
			return at.Journal.Done(token)
		},
	})
	for _, line := range c.Schemata {
		if err := write(filepath.Join(dir, "schemata"), line+"\n"); err != nil {
			return fmt.Errorf("set %s: %w", line, err)
		}
	}
	tids, err := at.Neighbour.Threads()
	if err != nil {
		return err
	}
	for _, tid := range tids {
		err := write(filepath.Join(dir, "tasks"), strconv.Itoa(tid)+"\n")
		if err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("move thread %d into the class of resctrl: %w", tid, err)
		}
	}
	return nil
}

func write(file, text string) error {
	fd, err := unix.Open(file, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: file, Err: err}
	}
	defer unix.Close(fd)
	if _, err := unix.Write(fd, []byte(text)); err != nil {
		return &os.PathError{Op: "write", Path: file, Err: err}
	}
	return nil
}

// checkClass reads the schemata and the members back.
func checkClass(at Sides, dir string, c isolation.Class) (record.Setting, error) {
	s := record.Setting{Name: "neighbour.resctrl", Wanted: strings.Join(c.Schemata, ", ")}
	b, err := os.ReadFile(filepath.Join(dir, "schemata"))
	if err != nil {
		return s, fmt.Errorf("read the class of resctrl back: %w", err)
	}
	var got []string
	for line := range strings.Lines(string(b)) {
		got = append(got, strings.TrimSpace(line))
	}
	s.Got = strings.Join(got, ", ")
	for _, want := range c.Schemata {
		if !hasSchema(got, want) {
			return s, fmt.Errorf("the class of resctrl did not take: wanted %s, it reads %s", want, s.Got)
		}
	}
	return s, checkMembers(at, dir)
}

// hasSchema compares apart from zeros in front: the kernel writes masks and
// percents at a fixed width.
func hasSchema(lines []string, want string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { return bare(l) == bare(want) })
}

func bare(schema string) string {
	resource, domains, _ := strings.Cut(schema, ":")
	var parts []string
	for _, d := range strings.Split(domains, ";") {
		id, value, _ := strings.Cut(strings.TrimSpace(d), "=")
		parts = append(parts, strings.TrimLeft(id, "0 ")+"="+strings.TrimLeft(value, "0 "))
	}
	return strings.TrimSpace(resource) + ":" + strings.Join(parts, ";")
}

func checkMembers(at Sides, dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, "tasks"))
	if err != nil {
		return fmt.Errorf("read the class of resctrl back: %w", err)
	}
	in := map[string]bool{}
	for _, tid := range strings.Fields(string(b)) {
		in[tid] = true
	}
	tids, err := at.Neighbour.Threads()
	if err != nil {
		return err
	}
	for _, tid := range tids {
		if !in[strconv.Itoa(tid)] {
			return fmt.Errorf("thread %d of the neighbour is not in its class of resctrl", tid)
		}
	}
	return nil
}
