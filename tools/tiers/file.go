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
	// Always is true for a step of every CI run.
	Always bool
	// Run is a shell command; what it prints shows which test failed.
	Run string
	// Takes is the usual duration in seconds on two CPUs.
	Takes int
	// Limit is the duration in seconds after which the tier is ended. Caches may be cold.
	Limit int
}

// A File is .ci/tiers.
type File struct {
	Tiers []Tier
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
		if err := t.check(); err != nil {
			return File{}, fmt.Errorf("tier %q: %w", t.Name, err)
		}
		if seen[t.Name] {
			return File{}, fmt.Errorf("tier %q is there twice", t.Name)
		}
		seen[t.Name] = true
	}
	return f, nil
}

func (t Tier) check() error {
	switch {
	case t.Name == "" || strings.ContainsAny(t.Name, " \t\n"):
		return fmt.Errorf("a name is one word")
	case t.Run == "":
		return fmt.Errorf("run: is missing")
	case t.Takes <= 0 || t.Limit <= t.Takes:
		return fmt.Errorf("takes: must be positive, and limit: larger")
	}
	return nil
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
