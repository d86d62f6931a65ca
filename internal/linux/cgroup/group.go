package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// dirs are the group's directories, each once, sorted.
func (g Group) dirs() []string {
	var all []string
	for _, d := range g.Dirs {
		all = append(all, d)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Add moves a process with all its threads into the group, in all hierarchies.
func (g Group) Add(pid int) error {
	for _, dir := range g.dirs() {
		if err := g.Tree.write(filepath.Join(dir, "cgroup.procs"), strconv.Itoa(pid)); err != nil {
			return fmt.Errorf("move process %d into group %s: %w", pid, g.Path, err)
		}
	}
	return nil
}

// Pids are the processes in the group and the groups below it, in any hierarchy, sorted.
// Processes of a pid namespace that this process does not see are left out.
func (g Group) Pids() ([]int, error) {
	var all []int
	for _, dir := range g.dirs() {
		pids, err := pidsBelow(dir)
		if err != nil {
			return nil, fmt.Errorf("list the processes of group %s: %w", g.Path, err)
		}
		all = append(all, pids...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// pidsBelow are the processes in dir and the directories below. A directory that disappears has
// none.
func pidsBelow(dir string) ([]int, error) {
	var all []int
	err := walk(dir, func(dir string) error {
		pids, err := readPids(filepath.Join(dir, "cgroup.procs"))
		all = append(all, pids...)
		return err
	})
	return all, err
}

// walk calls do for dir and each directory below, parents first.
func walk(dir string, do func(string) error) error {
	err := do(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := walk(filepath.Join(dir, e.Name()), do); err != nil {
				return err
			}
		}
	}
	return nil
}

// readPids parses a cgroup.procs file. The kernel writes 0 for processes of other pid
// namespaces.
func readPids(file string) ([]int, error) {
	words, err := readFields(file)
	if err != nil {
		return nil, ignoreGone(err)
	}
	pids := make([]int, 0, len(words))
	for _, w := range words {
		pid, err := strconv.Atoi(w)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// Threads are the threads of the processes in the group and below it, sorted. While the group
// is frozen none starts or ends.
func (g Group) Threads() ([]int, error) {
	var all []int
	for _, dir := range g.threadDirs() {
		err := walk(dir, func(dir string) error {
			file := filepath.Join(dir, "cgroup.threads")
			if !exists(file) {
				file = filepath.Join(dir, "tasks")
			}
			tids, err := readPids(file)
			all = append(all, tids...)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("list the threads of group %s: %w", g.Path, err)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// threadDirs are the directories whose lists are read: that of version 2 has all threads.
func (g Group) threadDirs() []string {
	if dir := g.Dirs[Unified]; dir != "" {
		return []string{dir}
	}
	return g.dirs()
}

// ignoreGone returns nil for the errors of reading a file of a group that is removed meanwhile
// (ENODEV from an open descriptor).
func ignoreGone(err error) error {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, errGone) {
		return nil
	}
	return err
}

// Set writes a control file and reads it back. A value that the kernel did not accept as
// written is an error.
func (g Group) Set(controller, file, value string) error {
	dir, err := g.Dir(controller)
	if err != nil {
		return fmt.Errorf("set %s of %s: %w", file, g.Path, err)
	}
	return g.Tree.set(filepath.Join(dir, file), value)
}

func (t *Tree) set(file, value string) error {
	if err := t.write(file, value); err != nil {
		return fmt.Errorf("set %s to %q: %w", filepath.Base(file), value, err)
	}
	got, err := readFile(file)
	if err != nil {
		return fmt.Errorf("read back %s: %w", filepath.Base(file), err)
	}
	if !Same(got, value) {
		return fmt.Errorf("setting did not take: wrote %q to %s, which reads %q", value, file, got)
	}
	return nil
}

// Write writes a control file and does not read it back.
func (g Group) Write(controller, file, value string) error {
	dir, err := g.Dir(controller)
	if err != nil {
		return fmt.Errorf("write %s of %s: %w", file, g.Path, err)
	}
	return g.Tree.write(filepath.Join(dir, file), value)
}

// Same compares two texts of a control file word by word.
func Same(a, b string) bool { return slices.Equal(strings.Fields(a), strings.Fields(b)) }

// Read reads a control file and trims the text.
func (g Group) Read(controller, file string) (string, error) {
	dir, err := g.Dir(controller)
	if err != nil {
		return "", fmt.Errorf("read %s of %s: %w", file, g.Path, err)
	}
	return readFile(filepath.Join(dir, file))
}

// OOMKills is the number of the group's processes that the out-of-memory killer has killed.
func (g Group) OOMKills() (uint64, error) {
	dir, err := g.Dir("memory")
	if err != nil {
		return 0, err
	}
	file := "memory.events" // version 2 includes the groups below
	if !exists(filepath.Join(dir, file)) {
		file = "memory.oom_control"
	}
	var kills uint64
	err = walk(dir, func(d string) error {
		if file == "memory.events" && d != dir {
			return nil
		}
		n, err := readKey(filepath.Join(d, file), "oom_kill")
		kills += n
		return err
	})
	return kills, err
}

// readKey reads one number of a file with lines "key number".
func readKey(file, key string) (uint64, error) {
	s, err := readFile(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(s) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == key {
			return strconv.ParseUint(f[1], 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s: the kernel is too old (version 1 counts since 4.13)", file, key)
}
