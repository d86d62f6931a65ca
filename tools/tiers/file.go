package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Tier is a set of tests with one command.
type Tier struct {
	Name string
	// Always is true for a step of every CI run: it has no folders and no hash.
	Always bool
	// Run is a shell command; what it prints shows which test failed.
	Run string
	// Takes is the usual duration in seconds on two CPUs, with warm caches.
	Takes int
	// Limit is the duration in seconds after which the tier is ended. Caches may be cold.
	Limit int
	// Packages is a shell command that prints the folders of the Go packages whose tests
	// the tier runs, one on a line.
	Packages string
	// Tags are the build tags of these tests.
	Tags string
	// On are folders, with all below them, files and names of groups, on which the tier depends.
	On []string
	// Except are folders and groups that the tests link but whose changes do not make the tier run,
	// each with the reason.
	Except map[string]string
}

// A File is .ci/tiers.
type File struct {
	// Groups are names for several folders.
	Groups map[string][]string
	Tiers  []Tier
}

// readFile reads .ci/tiers of the repository at root.
func readFile(root string) (File, error) {
	path := filepath.Join(root, ".ci", "tiers")
	data, err := os.ReadFile(path)
	if err != nil {
		return File{}, err
	}
	f, err := parse(data)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func parse(data []byte) (File, error) {
	var f File
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil {
		return File{}, err
	}
	seen := map[string]bool{}
	for _, t := range f.Tiers {
		if err := f.check(t); err != nil {
			return File{}, fmt.Errorf("tier %q: %w", t.Name, err)
		}
		if seen[t.Name] {
			return File{}, fmt.Errorf("tier %q is there twice", t.Name)
		}
		seen[t.Name] = true
	}
	return f, nil
}

func (f File) check(t Tier) error {
	switch {
	case t.Name == "" || strings.ContainsAny(t.Name, " \t\n"):
		return fmt.Errorf("a name is one word")
	case t.Run == "":
		return fmt.Errorf("run: is missing")
	case t.Takes <= 0 || t.Limit <= t.Takes:
		return fmt.Errorf("takes: must be positive, and limit: larger")
	case t.Always && (len(t.On) > 0 || len(t.Except) > 0 || t.Packages != ""):
		return fmt.Errorf("a step that always runs depends on no list of folders")
	case !t.Always && (len(t.On) == 0 || t.Packages == ""):
		return fmt.Errorf("on: and packages: are missing")
	}
	for what, reason := range t.Except {
		if strings.TrimSpace(reason) == "" {
			return fmt.Errorf("the exception %s has no reason", what)
		}
	}
	return nil
}

// folders replaces names of groups by their content, recursively.
func (f File) folders(names []string) []string {
	var all []string
	for _, name := range names {
		if group, ok := f.Groups[name]; ok {
			all = append(all, f.folders(group)...)
		} else {
			all = append(all, name)
		}
	}
	return all
}

// on returns the folders and files on which a tier depends.
func (f File) on(t Tier) []string { return f.folders(t.On) }

// except returns the folders of its exceptions, sorted.
func (f File) except(t Tier) []string {
	var names []string
	for name := range t.Except {
		names = append(names, name)
	}
	all := f.folders(names)
	slices.Sort(all)
	return all
}

// pick returns the tiers with these names, in the order of the file; none means all.
func (f File) pick(names []string) ([]Tier, error) {
	var chosen []Tier
	for _, t := range f.Tiers {
		if !t.Always && (len(names) == 0 || slices.Contains(names, t.Name)) {
			chosen = append(chosen, t)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(chosen, func(t Tier) bool { return t.Name == name }) {
			return nil, fmt.Errorf("no tier is called %q: go -C tools run ./tiers list shows them", name)
		}
	}
	return chosen, nil
}

// within reports whether path is one of the folders or below one.
func within(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		return path == folder || strings.HasPrefix(path, folder+"/")
	})
}
